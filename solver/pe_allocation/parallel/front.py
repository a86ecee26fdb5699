"""Pareto fronts of PE allocation: PEs, frames per second, latency; in mixed mode the buffers too.

Points carry no placement: it is a second step, for the one that is chosen. Each point is the best in every criterion
among those that are no worse in the others; of several allocations with the same criteria one is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mapper.formulations.pareto import pareto
from mapper.formulations.pe_allocation.bound import interval_weights
from mapper.formulations.pe_allocation.infeasible import why_unfit
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.choice import allocation_of, paces
from mapper.formulations.pe_allocation.program.mixed.fused_run import (
    fused_front,
    refuse_streaming,
    useful_choices,
)
from mapper.formulations.pe_allocation.program.mixed.run_table import NEVER, Partitions, run_table
from mapper.formulations.pe_allocation.program.sequential.closed_form import (
    least_array,
    sequential_allocation,
)
from mapper.formulations.pe_allocation.reach import why_unreachable
from mapper.formulations.pe_allocation.referee.verify import verify
from mapper.models.pe_allocation.cost import evaluate
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.storage import fused_words
from mapper.solver.certificate import Stop
from mapper.solver.front import Front
from mapper.solver.method import Effort
from mapper.solver.outcome import Outcome
from mapper.solver.pe_allocation.mixed.exact import (
    SHARING,
    Candidate,
    allocation_of_candidate,
    fused_candidates,
)
from mapper.solver.pe_allocation.parallel.constraint_program import decide
from mapper.solver.pe_allocation.parallel.epsilon import epsilon_front
from mapper.solver.pe_allocation.parallel.outcome import roomy

PROGRAMME, SOLVED = "dynamic programme", "cp-sat"


@dataclass(frozen=True)
class _Found:
    """Allocations that none of the others is better than, how they were found, whether it is proven that no other is
    either, whether there are no more, and what was left out."""

    allocations: Sequence[Allocation]
    method: str
    proven: bool = True
    complete: bool = True
    restrictions: tuple[str, ...] = ()


def front(problem: AllocationProblem, effort: Effort) -> Front[Allocation]:
    """All points that no other is better than in something and as good as in the rest, ascending by PEs, then by the
    interval between frames, by latency and by buffers. Limits and pins of the problem hold for every point.

    If the effort ends first, the points are the best of what was tried, unproven, and if that is nothing those of a
    greedy path. In mixed mode layers that share PEs
    are left out; where they may, no point is proven. Points are not placed: what links carry is left out.

    Raises: InputError for the mixed mode by another model than the calculus.
    """
    if why_unreachable(problem) is not None or why_unfit(problem) is not None:
        return Front((), True)
    if problem.mode == "mixed":
        alone = not problem.sharing
        restrictions = () if alone else (SHARING,)
        found = _Found(_mixed(problem, effort), PROGRAMME, alone, alone, restrictions)
    elif problem.mode == "layer-by-layer":
        found = _Found(_sequential(problem), "closed form")
    elif problem.model == "streaming" or problem.sharing:
        found = _solved(problem, effort)
    else:
        run = fused_front(problem, effort.is_over, effort.known_mapping(problem))
        points = () if run is None else run.points()
        allocations = [allocation_of(problem, point.chosen, point.z_out) for point in points]
        found = _Found(allocations, PROGRAMME)
        if run is None and effort.stopped() is not None:
            found = _Found(_path(problem), "greedy")
        # Line buffers as they are configured may exceed a limit that the calculus keeps; other paces are not tried.
        kept = [one for one in found.allocations if verify(problem, one).valid]
        found = replace(found, allocations=kept, complete=len(kept) == len(found.allocations))
    return _front(problem, effort, found)


def criteria(problem: AllocationProblem, allocation: Allocation) -> tuple[int, int, int, int]:
    """PEs, cycles between frames, cycles of latency, and bytes of buffers, all of which least is best. Buffers are
    judged in mixed mode only: of layers that all work at once the calculus counts the same for all."""
    cost = evaluate(problem.network, problem.machine, allocation, problem.model)
    return cost.pes, cost.interval, cost.cycles, cost.buffer_bytes


def _front(problem: AllocationProblem, effort: Effort, found: _Found) -> Front[Allocation]:
    stop = effort.stopped()
    proven = stop is None and found.proven
    ended: Stop = stop or ("complete" if proven else "heuristic")
    outcomes = []
    for point in sorted(found.allocations, key=lambda one: criteria(problem, one)):
        value = problem.value(evaluate(problem.network, problem.machine, point, problem.model))
        bound = value if proven else None
        outcomes.append(
            Outcome.ended(
                point,
                value,
                bound,
                ended,
                proven=proven,
                restrictions=found.restrictions,
                method=found.method,
            )
        )
    return Front(tuple(outcomes), proven and found.complete)


def _path(problem: AllocationProblem) -> list[Allocation]:
    """From the fewest PEs on the next ones to the bottleneck: the least intervals for their PEs, with some latency."""
    layers = problem.network.layers
    offered = [useful_choices(problem, at) for at in range(len(layers))]
    if not all(offered):
        return []
    weights, at = interval_weights(problem), [0] * len(layers)
    found: list[Allocation] = []
    while True:
        chosen = [choices[pick] for choices, pick in zip(offered, at, strict=True)]
        allocation = allocation_of(problem, chosen, paces(problem, chosen))
        if verify(problem, allocation).valid:
            found.append(allocation)
        slowest = max(range(len(layers)), key=lambda layer: weights[layer] * chosen[layer].cycles)
        at[slowest] += 1
        if at[slowest] == len(offered[slowest]) or sum(choice.pes for choice in chosen) >= problem.most_pes:
            break
    rows = [criteria(problem, allocation)[:3] for allocation in found]
    return [found[kept] for kept in pareto(np.array(rows, dtype=np.int64).reshape(-1, 3))]


def _solved(problem: AllocationProblem, effort: Effort) -> _Found:
    """Layers that all work at once, where no dynamic programme is known: solves with limits, in integers, since each
    point rests on that there is none before it. What CBC would say first CP-SAT would have to confirm."""
    tried, whole = epsilon_front(roomy(problem), effort, decide)
    counted = [criteria(problem, one) for one in tried]
    kept = pareto(np.array([row[:3] for row in counted], dtype=np.int64).reshape(-1, 3))
    fitting = [at for at in kept if problem.most_bytes is None or counted[at][3] <= problem.most_bytes]
    # What does not fit the buffers may have hidden what does.
    return _Found([tried[at] for at in fitting], SOLVED, whole, len(fitting) == len(kept))


def _sequential(problem: AllocationProblem) -> list[Allocation]:
    """Layers one after another: the fewest PEs for every number of cycles that can be had."""
    pinned = [pin.pes for pin in problem.pins.values() if pin.pes is not None]
    pes: int | None = max([1, *pinned])
    found = []
    while pes is not None and pes <= problem.most_pes:
        now = sequential_allocation(problem, pes)
        cost = evaluate(problem.network, problem.machine, now, problem.model)
        if problem.most_bytes is not None and cost.buffer_bytes > problem.most_bytes:
            break
        if problem.longest_interval is None or cost.interval <= problem.longest_interval:
            found.append(now)
        pes = least_array(problem, cost.interval - 1)
    return found


def _mixed(problem: AllocationProblem, effort: Effort) -> list[Allocation]:
    """One run of all layers, and for every limit of the buffers at which a run fits more the fastest runs for every
    number of PEs: the last that differ from those of smaller buffers are the points."""
    refuse_streaming(problem)
    width = problem.machine.word_bytes
    everything = sum(fused_words(problem.network, range(len(problem.network.layers))))
    found = [(candidate, everything * width) for candidate in fused_candidates(problem, effort)]
    table = run_table(problem, effort.is_over, effort.known_mapping(problem))
    least = np.full(len(table.pes), NEVER, dtype=np.int64)
    longest = problem.interval_limit(NEVER - 1)
    for words in table.words():
        if effort.stopped() is not None:
            break
        best = Partitions(table, words)
        for column in best.faster(longest):
            if best.latency[column] < least[column]:
                partition = best.partition(column)
                cycles = int(best.latency[column])
                pes = max(point.pes for point in partition.points)
                found.append((Candidate(pes, cycles, cycles, partition), words * width))
        least = np.minimum(least, best.latency)
    rows = [(one.pes, one.interval, one.cycles, most) for one, most in found]
    kept = pareto(np.array(rows, dtype=np.int64).reshape(-1, 4))
    return [allocation_of_candidate(problem, found[at][0], found[at][1]) for at in kept]
