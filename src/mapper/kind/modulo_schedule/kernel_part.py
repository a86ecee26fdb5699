"""Kernels as parts of the kind ``modulo_schedule``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mapper.arch.cgra import CgraMachine
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.referee.verify import verify
from mapper.kind.kind import Part, ProblemPart, ShownVerdict
from mapper.models.modulo_schedule.bound import rec_mii, res_mii
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.workloads.document import InputError
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.text.number_text import whole_number

LEAST_LIMIT, MOST_INTERVAL = 1 << 10, 1 << 16
"""Intervals up to the first can always be pinned, beyond the second never."""
WIDEST_GRID = 16
"""Columns of a schedule grid that still fit a terminal."""


@dataclass(frozen=True)
class NamedSchedule:
    """A schedule that knows its kernel's names, as documents need them."""

    kernel: Kernel
    schedule: ModuloSchedule

    def to_json(self) -> dict[str, Any]:
        graph = self.kernel.graph
        names = tuple(operation.name for operation in graph.operations)
        edges = tuple((edge.source, edge.destination, edge.distance) for edge in graph.edges)
        return self.schedule.to_json(names, edges)


def pose_kernel(
    value: Kernel, machine: CgraMachine, objective: str, fix: Mapping[str, str]
) -> tuple[ProblemPart, ...]:
    """The one part of a kernel.

    Raises: InputError for an unknown decision, or an operation that no PE can execute.
    """
    unknown = sorted(set(fix) - {"ii"})
    if unknown:
        raise InputError("--fix", unknown[0], "unknown decision; a kernel has ii")
    pinned = fix.get("ii")
    most = _most_interval(value, machine)
    fixed = None if pinned is None else whole_number(pinned, 1, most)
    if pinned is not None and fixed is None:
        raise InputError("--fix", "ii", f"{pinned[:40]!r} is no whole number from 1 to {most}")
    for operation in value.graph.operations:
        if not any(machine.can_execute(pe, operation.opcode) for pe in machine.all_pes):
            remedy = f"no PE of {machine.name} executes {operation.opcode}; take another machine"
            raise InputError(value.name, operation.name, remedy)
    problem = ModuloProblem(value, machine, fixed)
    return (ProblemPart(value.name, value.name, problem, (value, problem.fixed_ii)),)


def _most_interval(kernel: Kernel, machine: CgraMachine) -> int:
    """The largest interval that is worth to pin: in more cycles than all operations take one after another nothing
    changes but the size of the tables."""
    graph = kernel.graph
    serial = sum(machine.latency(operation.opcode) for operation in graph.operations)
    serial += sum(edge.latency or 0 for edge in graph.edges)
    return min(max(LEAST_LIMIT, serial), MOST_INTERVAL)


def verify_kernel(problem: ModuloProblem, mapping: ModuloSchedule) -> ShownVerdict:
    """The referee's verdict and the model's cost."""
    verdict = verify(problem, mapping)
    if verdict.cost is None:
        return ShownVerdict(verdict.broken, None, None, None)
    return ShownVerdict(verdict.broken, verdict.cost.cost_json(), verdict.cost.breakdown_json(), mapping.ii)


def describe_kernel(problem: ModuloProblem, part: Part) -> list[str]:
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
    lines += _reasons(problem) + [f"  note     {note}" for note in kernel.notes]
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
