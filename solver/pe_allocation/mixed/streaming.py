"""Mixed mode by the streaming model: all layers in one run, or the best sequence of runs, whichever is better."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from mapper.formulations.objective import THROUGHPUT
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.referee.verify import verify
from mapper.models.pe_allocation.mapping import Allocation
from mapper.solver.certificate import Stop
from mapper.solver.method import Effort
from mapper.solver.outcome import Outcome
from mapper.solver.pe_allocation.mixed.exact import SHARING, bound_of, with_kept_maps
from mapper.solver.pe_allocation.mixed.streamed_runs import StreamedRuns, sequence
from mapper.solver.pe_allocation.pace.search import pace_tree
from mapper.solver.pe_allocation.parallel.outcome import in_unit

BUFFERS = "runs whose line buffers are too large at their fastest are not tried at other paces"


@dataclass(frozen=True)
class Way:
    """An allocation (None: none was found) and a bound of the goal (inf: there is none)."""

    allocation: Allocation | None
    bound: float
    left_out: bool = False


def search_streamed(problem: AllocationProblem, effort: Effort) -> Outcome[Allocation]:
    """The best allocation of mixed mode, proven unless the effort ended first, layers may share PEs, or line buffers
    are limited and a run that exceeds them might keep them at other paces."""
    ways = [_fused(problem, effort)] if problem.segments in (None, (0,)) else []
    if problem.segments != (0,) and len(problem.network.layers) > 1:
        ways.append(_sequences(problem, effort, ways))
    ranked = []
    for way in ways:
        if way.allocation is None:
            continue
        made = with_kept_maps(problem, way.allocation, problem.most_bytes)
        verdict = verify(problem, made)
        if verdict.valid and verdict.cost is not None:
            ranked.append((problem.rank(verdict.cost), problem.value(verdict.cost), made))
    bound = min((way.bound for way in ways), default=math.inf)
    restrictions = ((SHARING,) if problem.sharing else ()) + (
        (BUFFERS,) if any(way.left_out for way in ways) else ()
    )
    stop: Stop = effort.stopped() or ("heuristic" if restrictions else "complete")
    if not ranked:
        proven = bound == math.inf and not restrictions
        shown = bound_of(problem) if bound == math.inf else in_unit(problem, math.ceil(bound))
        return Outcome.ended(None, None, shown, stop, proven=proven, restrictions=restrictions)
    rank, value, best = min(ranked, key=lambda one: one[0])
    if not problem.sharing and rank[0] <= bound:
        return Outcome.optimal(best, value)
    least = bound_of(problem) if bound == math.inf or problem.sharing else in_unit(problem, math.ceil(bound))
    return Outcome.bounded(best, value, least, stop, restrictions=restrictions)


def _goal(problem: AllocationProblem, value: float) -> float:
    """A value of the objective as the goal that is least: cycles between frames for frames per second."""
    return round(problem.machine.clock_hz / value) if problem.goal == THROUGHPUT else value


def _fused(problem: AllocationProblem, effort: Effort) -> Way:
    """All layers in one run, as in layer-parallel mode."""
    alone = replace(problem, mode="layer-parallel", sharing=False, segments=None)
    found = pace_tree(alone, effort)
    left_out = bool(found.restrictions)
    if found.mapping is None:
        if found.proven:
            return Way(None, math.inf)
        return Way(None, 0 if found.bound is None else _goal(problem, found.bound), left_out)
    bound = 0 if found.bound is None else _goal(problem, found.bound)
    return Way(replace(found.mapping, mode="mixed"), bound, left_out)


def _sequences(problem: AllocationProblem, effort: Effort, known: list[Way]) -> Way:
    """Two runs or more, whose frames do not overlap: the interval is the latency."""
    longest = problem.interval_limit(1 << 62)
    if problem.objective == "pes":
        return _fewest(problem, effort, longest, known)
    runs = StreamedRuns(problem, problem.most_pes)
    runs.search(effort)
    found, bound = runs.cycles(), runs.bound()
    if bound > longest:
        return Way(None, math.inf, runs.left_out)
    return Way(sequence(problem, runs.runs()) if found <= longest else None, bound, runs.left_out)


def _fewest(problem: AllocationProblem, effort: Effort, longest: int, known: list[Way]) -> Way:
    """The fewest PEs on which runs keep the pace, by bisection: more PEs are never slower."""
    pinned = [pin.pes for pin in problem.pins.values() if pin.pes is not None]
    low, high = max([1, *pinned]), problem.most_pes + 1
    for way in known:
        if way.allocation is not None:
            high = min(high, sum(way.allocation.pes))
    best: Allocation | None = None
    sure, left_out = low, False
    while low < high:
        middle = (low + high) // 2
        runs = StreamedRuns(problem, middle)
        runs.search(effort, longest)
        left_out = left_out or runs.left_out
        if runs.cycles() <= longest:
            best, high = sequence(problem, runs.runs()), middle
        elif runs.bound() > longest:
            low = sure = middle + 1
        else:
            # Not known: more PEs are tried, and what is proven ends here.
            low = middle + 1
    return Way(best, math.inf if best is None and sure > problem.most_pes else sure, left_out)
