"""Brute force for the mixed mode: every way to cut, to keep maps, and to give PEs, checked by the referee.

It is the oracle for small networks and knows of no useful PE counts, runs or bounds. Idle cycles are the fewest that
rates require, since they never help in the calculus [Heidorn2019, Fig. 7]; layers do not share PEs.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.referee.verify import verify
from mapper.models.pe_allocation.calculus import position_cycles
from mapper.models.pe_allocation.mapping import Allocation
from mapper.solver.method import Effort
from mapper.solver.outcome import Outcome

MOST = 200_000
REFUSED = f"more than {MOST} allocations are not tried"


def mixed_brute_force(problem: AllocationProblem, effort: Effort) -> Outcome[Allocation]:
    """The best of all allocations without shared PEs, of equal ones that of least traffic; unproven where there are
    too many to try."""
    best: tuple[tuple[int, ...], Allocation, int | float] | None = None
    tried = 0
    for allocation in every_mixed(problem):
        if tried >= MOST or (tried % 64 == 0 and effort.stopped() is not None):
            found, value = (None, None) if best is None else best[1:]
            stop = effort.stopped()
            left_out = () if stop else (REFUSED,)
            return Outcome.bounded(
                found, value, None, stop or "heuristic", restrictions=left_out, evaluations=tried
            )
        tried += 1
        verdict = verify(problem, allocation)
        if verdict.valid and verdict.cost is not None:
            rank = (*problem.rank(verdict.cost), verdict.cost.traffic_words)
            if best is None or rank < best[0]:
                best = rank, allocation, problem.value(verdict.cost)
    restrictions = ("layers that share PEs are left out",) if problem.sharing else ()
    proven = not problem.sharing
    stop = "complete" if proven else "heuristic"
    if best is None:
        return Outcome.ended(
            None, None, None, stop, proven=proven, restrictions=restrictions, evaluations=tried
        )
    return Outcome.ended(
        best[1], best[2], None, stop, proven=proven, restrictions=restrictions, evaluations=tried
    )


def every_mixed(problem: AllocationProblem) -> Iterator[Allocation]:
    """Every allocation to runs of layers without shared PEs, with the least idle cycles or those that are pinned."""
    layers = problem.network.layers
    counts, units = [], []
    for layer in layers:
        pin, most = problem.pin(layer), problem.units(layer)
        counts.append(range(1, min(problem.most_pes, layer.filters) + 1) if pin.pes is None else (pin.pes,))
        free = range(1, most + 1) if problem.free_delta else (most,)
        units.append(free if pin.delta is None else (pin.delta,))
    for starts in cuts(problem):
        for pes in product(*counts):
            for delta in product(*units):
                idle = _idle(problem, starts, pes, delta)
                for on_chip in product((False, True), repeat=len(starts) - 1):
                    yield Allocation("mixed", pes, idle, delta, segments=starts, on_chip=on_chip)


def cuts(problem: AllocationProblem) -> Iterator[tuple[int, ...]]:
    """Every way to cut the layers into runs: their first layers."""
    if problem.segments is not None:
        yield problem.segments
        return
    inner = range(1, len(problem.network.layers))
    for cuts in range(len(inner) + 1):
        for chosen in combinations(inner, cuts):
            yield (0, *chosen)


def _idle(
    problem: AllocationProblem, starts: tuple[int, ...], pes: tuple[int, ...], delta: tuple[int, ...]
) -> tuple[int, ...]:
    idle: list[int] = []
    paces: list[int] = []
    first = 0
    for at, layer in enumerate(problem.network.layers):
        first = at if at in starts else first
        work = position_cycles(layer, pes[at], delta[at])
        pinned = problem.pin(layer).throttle
        fed = max((paces[feed] for feed in layer.feeds if feed >= first), default=0)
        idle.append(max(0, layer.new_pixels * fed - work) if pinned is None else pinned)
        paces.append(work + idle[-1])
    return tuple(idle)
