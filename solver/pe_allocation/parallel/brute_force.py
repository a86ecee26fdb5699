"""Brute force: every allocation, each costed by the model and checked by the referee.

It is the oracle for the programs on small networks: it knows of no useful PE counts, no bounds and no presolve. Idle
cycles are tried where they can help (streaming), up to the number that alone would spoil the best rank.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from mapper.formulations.pe_allocation.infeasible import why_infeasible
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.referee.verify import verify
from mapper.models.pe_allocation.calculus import position_cycles
from mapper.models.pe_allocation.mapping import Allocation
from mapper.solver.certificate import Stop
from mapper.solver.method import Effort, Method, Progress
from mapper.solver.outcome import Outcome
from mapper.solver.pe_allocation.parallel.outcome import in_unit, quantity

MOST = 200_000
BUFFERS = "idle cycles beyond those that the best allocation has time for are not tried"
REFUSED = f"more than {MOST} allocations are not tried"

Groups = tuple[tuple[int, ...], ...]
Rank = tuple[int, ...]


@dataclass
class _Best:
    allocation: Allocation | None = None
    rank: Rank = ()
    tried: int = 0


def brute_force(problem: AllocationProblem, effort: Effort) -> Outcome[Allocation]:
    """The best allocation of all, proven, or a proof that there is none; None where there are too many to try."""
    best = _Best()
    if _size_count(problem) > MOST:
        return Outcome.refused(REFUSED, evaluations=0)
    stop = _search(problem, effort, best, _unthrottled(problem))
    if stop is None and best.allocation is not None and problem.model == "streaming":
        stop = _search(problem, effort, best, _throttled(problem, best.allocation))
    if stop is not None:
        left_out = (REFUSED,) if stop == "heuristic" else ()
        value = None if best.allocation is None else _value(problem, best)
        return Outcome.bounded(
            best.allocation, value, None, stop, restrictions=left_out, evaluations=best.tried
        )
    paced = problem.most_bytes is not None and problem.mode == "layer-parallel"
    if paced and why_infeasible(problem) is None:
        # Longer idle times than were tried might need fewer words in buffers.
        value = None if best.allocation is None else _value(problem, best)
        return Outcome.bounded(
            best.allocation, value, None, "heuristic", restrictions=(BUFFERS,), evaluations=best.tried
        )
    if best.allocation is None:
        return Outcome.infeasible(evaluations=best.tried)
    value = _value(problem, best)
    return Outcome.optimal(best.allocation, value, evaluations=best.tried)


def _value(problem: AllocationProblem, best: _Best) -> int | float:
    return in_unit(problem, best.rank[0])


def _search(
    problem: AllocationProblem, effort: Effort, best: _Best, candidates: Iterator[Allocation]
) -> Stop | None:
    """Try candidates; why it ended early, if it did."""
    for allocation in candidates:
        if best.tried >= MOST:
            return "heuristic"
        best.tried += 1
        if best.tried % 64 == 0:
            stop = effort.stopped()
            if stop is not None:
                return stop
        verdict = verify(problem, allocation)
        if verdict.cost is None or not verdict.valid:
            continue
        rank: Rank = (*problem.rank(verdict.cost), quantity(problem, allocation, "units"))
        if best.allocation is None or (rank, allocation.pes) < (best.rank, best.allocation.pes):
            best.allocation, best.rank = allocation, rank
            effort.report(Progress(_value(problem, best), None, best.tried))
    return None


def _unthrottled(problem: AllocationProblem) -> Iterator[Allocation]:
    """Every number of PEs and units, every grouping, and the least idle cycles that each needs."""
    for pes, delta in _sizes(problem):
        for groups in _groupings(problem, pes):
            yield _allocation(problem, pes, delta, groups, _least(problem, pes, delta, groups))


def _throttled(problem: AllocationProblem, found: Allocation) -> Iterator[Allocation]:
    """Every pace beyond the least that leaves the interval (or the latency) no worse than ``found``."""
    goal = "cycles" if problem.objective == "latency" else "interval"
    longest = quantity(problem, found, "cycles" if goal == "cycles" else "interval")
    pes_limit = quantity(problem, found, "pes") if problem.objective == "pes" else problem.most_pes
    layers = problem.network.layers
    for pes, delta in _sizes(problem):
        if not problem.sharing and sum(pes) > pes_limit:
            continue
        for groups in _groupings(problem, pes):
            least = _least(problem, pes, delta, groups)
            ranges = [
                range(z, z + 1)
                if problem.pin(layer).throttle is not None
                else range(z, longest // layer.positions + 1)
                for z, layer in zip(least, layers, strict=True)
            ]
            for z_out in product(*ranges):
                yield _allocation(problem, pes, delta, groups, z_out)


def _ranges(problem: AllocationProblem) -> tuple[list[Sequence[int]], list[Sequence[int]]]:
    """PE counts and units of every layer."""
    counts: list[Sequence[int]] = []
    units: list[Sequence[int]] = []
    for layer in problem.network.layers:
        pin, most = problem.pin(layer), problem.units(layer)
        counts.append(range(1, min(problem.most_pes, layer.filters) + 1) if pin.pes is None else (pin.pes,))
        free = range(1, most + 1) if problem.free_delta else (most,)
        units.append(free if pin.delta is None else (pin.delta,))
    return counts, units


def _size_count(problem: AllocationProblem) -> int:
    """How many PE counts and units there are within the array; more than ``MOST`` are not counted to the end."""
    counts, units = _ranges(problem)

    def price(count: int) -> int:
        return 0 if problem.sharing and count == 1 else count

    kept_free = sum(min(map(price, options)) for options in counts)
    by_sum = {0: 1}
    for options in counts:
        kept_free -= min(map(price, options))
        after: dict[int, int] = {}
        for used, ways in by_sum.items():
            for count in options:
                now = used + price(count)
                if now + kept_free <= problem.most_pes:
                    after[now] = after.get(now, 0) + ways
        by_sum = after
        if sum(by_sum.values()) > MOST:
            # Each of these leaves enough for the layers to come.
            break
    return sum(by_sum.values()) * math.prod(map(len, units))


def _sizes(problem: AllocationProblem) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    counts, units = _ranges(problem)
    for pes in _within(counts, problem.most_pes, problem.sharing):
        for delta in product(*units):
            yield pes, delta


def _within(
    counts: Sequence[Sequence[int]], most: int, sharing: bool, used: int = 0
) -> Iterator[tuple[int, ...]]:
    """Every choice of counts whose sum is within ``most``; ones may be shared."""
    if not counts:
        yield ()
        return
    for count in counts[0]:
        now = used + (0 if sharing and count == 1 else count)
        if now <= most:
            for rest in _within(counts[1:], most, sharing, now):
                yield (count, *rest)


def _groupings(problem: AllocationProblem, pes: tuple[int, ...]) -> Iterator[Groups]:
    """Every way to put layers of one PE together."""
    single = [at for at, count in enumerate(pes) if count == 1] if problem.sharing else []
    for parts in _partitions(single):
        yield tuple(tuple(part) for part in parts if len(part) > 1)


def _partitions(members: list[int]) -> Iterator[list[list[int]]]:
    if not members:
        yield []
        return
    for parts in _partitions(members[:-1]):
        for at in range(len(parts)):
            yield [*parts[:at], [*parts[at], members[-1]], *parts[at + 1 :]]
        yield [*parts, [members[-1]]]


def _least(
    problem: AllocationProblem, pes: tuple[int, ...], delta: tuple[int, ...], groups: Groups
) -> tuple[int, ...]:
    layers = problem.network.layers
    z_out: list[int] = []
    for at, layer in enumerate(layers):
        work = position_cycles(layer, pes[at], delta[at])
        idle = problem.pin(layer).throttle
        needs = [work]
        if problem.model != "streaming":
            needs += [layer.new_pixels * z_out[feed] for feed in layer.feeds]
        for group in groups:
            if at in group:
                busy = sum(position_cycles(layers[k], 1, delta[k]) * layers[k].positions for k in group)
                needs.append(-(-busy // layer.positions))
        z_out.append(max(needs) if idle is None else work + idle)
    return tuple(z_out)


def _allocation(
    problem: AllocationProblem,
    pes: tuple[int, ...],
    delta: tuple[int, ...],
    groups: Groups,
    z_out: tuple[int, ...],
) -> Allocation:
    idle = tuple(
        z - position_cycles(layer, count, units)
        for z, layer, count, units in zip(z_out, problem.network.layers, pes, delta, strict=True)
    )
    return Allocation(problem.mode, pes, idle, delta, shared=groups)


BRUTE_FORCE: Method[AllocationProblem, Allocation] = Method(
    "brute-force", True, f"every allocation of small networks, up to {MOST} of them", brute_force
)
