"""Schedules for people: a kernel's grid of PEs and cycles, a layer's loops."""

from __future__ import annotations

from mapper.formulations.modulo_schedule.network.limit import limit, limits
from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.kind.modulo_schedule.kernel_part import NamedSchedule
from mapper.kind.modulo_schedule.layer_part import NamedLayer
from mapper.kind.part import Part
from mapper.kind.text_table import text_table
from mapper.models.modulo_schedule.bound import rec_mii, res_mii
from mapper.models.modulo_schedule.network.algorithm import Algorithm

WIDEST_GRID = 16
"""Columns of a schedule grid that still fit a terminal."""


def kernel_lines(problem: ModuloProblem, part: Part) -> list[str]:
    """The schedule as a grid, PE by cycle, and why its interval cannot be smaller."""
    assert isinstance(part.mapping, NamedSchedule)
    kernel, schedule = part.mapping.kernel, part.mapping.schedule
    slots: dict[tuple[tuple[int, int], int], str] = {}
    for operation, placement in zip(kernel.graph.operations, schedule.placements, strict=True):
        slots[placement.pe, placement.time % schedule.ii] = operation.name
    for pe, time in schedule.moves:
        slots[pe, time % schedule.ii] = "(move)"
    used = sorted({pe for pe, _ in slots})
    shown = used[:WIDEST_GRID]
    width = max(5, *(len(text) for text in slots.values()))
    lines = ["  cycle  " + " ".join(f"{f'PE{r},{c}':{width}}" for r, c in shown)]
    for cycle in range(schedule.ii):
        lines.append(f"  {cycle:5}  " + " ".join(f"{slots.get((pe, cycle), '·'):{width}}" for pe in shown))
    if len(used) > len(shown):
        lines.append(f"  {len(used) - len(shown)} more PEs are in use")
    lines += _reasons(problem) + _energy_lines(part) + [f"  note     {note}" for note in kernel.notes]
    return [line.rstrip() for line in lines]


def _reasons(problem: ModuloProblem) -> list[str]:
    """Why the initiation interval cannot be smaller: the resource and the recurrence that bind."""
    graph, machine = problem.kernel.graph, problem.machine
    lines = []
    for name, interval in (("ResMII", res_mii(graph, machine)), ("RecMII", rec_mii(graph, machine))):
        members = [graph.operations[position].name for position in interval.operations[:8]]
        named = f" ({', '.join(members)}{', …' if len(interval.operations) > 8 else ''})" if members else ""
        lines.append(f"  {name} {interval.value}: {interval.cause}{named}")
    return lines


def _energy_lines(part: Part) -> list[str]:
    """Energy by cause, most first, beside the machine's power times the time; nothing without energies of actions."""
    if part.breakdown is None or not part.breakdown["energy_pj"]:
        return []
    causes = sorted(part.breakdown["energy_pj"].items(), key=lambda one: -one[1])
    split = ", ".join(f"{cause} {energy:,.0f}" for cause, energy in causes if energy)
    flat = part.breakdown["power_times_time_pj"]
    beside = "" if flat is None else f"; the machine's power times the time: {flat:,.0f} pJ"
    return [f"  energy by activity, pJ: {split}{beside}"]


def _limit_lines(problem: LayerProblem, algorithm: Algorithm, cycles: int) -> list[str]:
    """What PEs and memory allow at most, by algorithm, beside what is reached; nothing for layers without MACs."""
    own, known = limit(problem, algorithm), limits(problem)
    if own is None or not known:
        return []
    allowed = "; ".join(
        f"{one.algorithm} {float(one.macs / one.cycles):.2f} (PEs {one.by_pes:.2f}, memory {one.by_ports:.2f})"
        for one in known
    )
    return [
        f"  MACs a cycle, at most: {allowed}",
        f"  MACs a cycle, reached: {own.macs / cycles:.2f}, {own.share(cycles):.0%} of what {own.algorithm} allows "
        f"and {known[0].share(cycles):.0%} of the most",
    ]


def one_line(problem: LayerProblem, part: Part) -> str:
    """The algorithm, and of each loop what it unrolls and its II."""
    assert isinstance(part.mapping, NamedLayer)
    mapping = part.mapping.mapping
    algorithm = problem.choice(mapping.algorithm)
    loops = []
    for loop in mapping.loops:
        names = algorithm.nests[loop.nest].names
        unrolled = [f"{name}{count}" for name, count in zip(names, loop.box.unroll, strict=True) if count > 1]
        loops.append(" ".join((*unrolled, f"II {loop.schedule.ii}")))
    return f"{algorithm.name}: {' | '.join(loops)}" if loops else algorithm.name


def layer_lines(problem: LayerProblem, part: Part) -> list[str]:
    """Algorithm, where the cycles go, and a table of the loops, each with its nest."""
    assert isinstance(part.mapping, NamedLayer) and part.breakdown is not None
    mapping = part.mapping.mapping
    algorithm = problem.choice(mapping.algorithm)
    cycles = part.breakdown["cycles"]
    spent = ", ".join(f"{cause} {count:,}" for cause, count in cycles.items() if count)
    lines = [f"  {algorithm.name}: {spent or 'no'} cycles"]
    lines += _energy_lines(part)
    if part.breakdown["exceeds_sram"]:
        used = sum(part.breakdown["bytes"].values())
        lines.append(f"  {used:,} bytes exceed the SRAM; the cost assumes that they are on the chip")
    if not mapping.loops:
        return lines
    lines += _limit_lines(problem, algorithm, sum(cycles.values()))
    rows: list[tuple[str | int, ...]] = []
    for loop in mapping.loops:
        nest = algorithm.nests[loop.nest]
        factors = " ".join(
            f"{name}={unroll}" for name, unroll in zip(nest.names, loop.box.unroll, strict=True)
        )
        runs, trips = loop.box.runs(nest), loop.box.trip_count(nest)
        schedule = loop.schedule
        rows.append((nest.name, loop.box.innermost, factors, runs, trips, schedule.ii, schedule.stages))
    heading = ("nest", "innermost", "unrolled", "runs", "iterations", "II", "stages")
    table = text_table(heading, rows, words={"innermost", "unrolled"})
    return [*lines, "", *(f"  {line}" for line in table)]
