"""Mixed mode, exactly: which layers are fused into runs, and the PEs of each layer.

Beyond the paper. An allocation of two runs or more takes sum_r L_r cycles for a frame, and the next frame starts when
that has ended; one of a single run is layer-parallel, and its frames overlap. The first kind is a shortest path over
the boundaries between layers, for every number of PEs (`run_table`); the second is the Pareto set of one run of all
layers (`fused_run`). The better one is the answer, so that the proof is of the whole problem, unless layers share PEs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from mapper.formulations.objective import THROUGHPUT
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.choice import allocation_of
from mapper.formulations.pe_allocation.program.mixed.fused_run import (
    RunPoint,
    fused_front,
    refuse_streaming,
    useful_choices,
)
from mapper.formulations.pe_allocation.program.mixed.run_table import NEVER, Partition, Partitions, run_table
from mapper.models.pe_allocation.calculus import unthrottled
from mapper.models.pe_allocation.cost import evaluate
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.storage import fused_words
from mapper.models.pe_allocation.stream.timing import line_buffer_peaks, streamed
from mapper.solver.method import Effort
from mapper.solver.outcome import Outcome
from mapper.solver.pe_allocation.mixed.resident_map import kept_maps

SHARING = "layers that share PEs are left out"


@dataclass(frozen=True)
class Candidate:
    """PEs, interval and latency of an allocation, and what it is made of: one point of all layers, or runs."""

    pes: int
    interval: int
    cycles: int
    made_of: RunPoint | Partition

    def rank(self, problem: AllocationProblem) -> tuple[int, int, int]:
        """What is least for the best: the objective, then its ties in the house's order."""
        if problem.goal == THROUGHPUT:
            return self.interval, self.cycles, self.pes
        if problem.objective == "latency":
            return self.cycles, self.interval, self.pes
        return self.pes, self.interval, self.cycles


def search_mixed(problem: AllocationProblem, effort: Effort) -> Outcome[Allocation]:
    """The best allocation of mixed mode, proven unless the effort ended first or layers may share PEs; of those with
    equal numbers one of little traffic, as far as the buffers allow.

    Raises: InputError for another model than the calculus, by which mixed mode counts.
    """
    refuse_streaming(problem)
    found = fused_candidates(problem, effort) + cut_candidates(problem, effort)
    stop = effort.stopped() or "complete"
    exact = stop == "complete" and not problem.sharing
    restrictions = (SHARING,) if problem.sharing else ()
    best = min(found, key=lambda candidate: candidate.rank(problem), default=None)
    bound = bound_of(problem)
    if best is None:
        stop = "heuristic" if stop == "complete" and problem.sharing else stop
        return Outcome.ended(None, None, bound, stop, proven=exact, restrictions=restrictions)
    made = allocation_of_candidate(problem, best, problem.most_bytes)
    value = problem.value(evaluate(problem.network, problem.machine, made, problem.model))
    if exact or value == bound:
        return Outcome.optimal(made, value)
    return Outcome.bounded(made, value, bound, stop, restrictions=restrictions)


def fused_candidates(problem: AllocationProblem, effort: Effort) -> list[Candidate]:
    """Those of one run."""
    run = fused_front(problem, effort.is_over, effort.known_mapping(problem))
    points = () if run is None else run.points()
    return [Candidate(point.pes, point.interval, point.cycles, point) for point in points]


def cut_candidates(problem: AllocationProblem, effort: Effort) -> list[Candidate]:
    """Those of two runs or more that are the fastest for their number of PEs."""
    table = run_table(problem, effort.is_over, effort.known_mapping(problem))
    best = Partitions(table, None)
    found = []
    fastest = problem.interval_limit(NEVER - 1)
    for column in best.faster(fastest):
        partition = best.partition(column)
        cycles = int(best.latency[column])
        found.append(Candidate(max(point.pes for point in partition.points), cycles, cycles, partition))
    return found


def allocation_of_candidate(
    problem: AllocationProblem, candidate: Candidate, most_bytes: int | None
) -> Allocation:
    """The allocation of a candidate; maps stay in the buffers as ``most_bytes`` allows (None: there is room)."""
    made_of = candidate.made_of
    if isinstance(made_of, RunPoint):
        return joined(problem, [(0, made_of)], ())
    runs = list(zip((run.first for run in made_of.runs), made_of.points, strict=True))
    return with_kept_maps(problem, joined(problem, runs, (False,) * (len(runs) - 1)), most_bytes)


def with_kept_maps(problem: AllocationProblem, found: Allocation, most_bytes: int | None) -> Allocation:
    """The allocation with the maps in the buffers for which ``most_bytes`` leaves room (None: there is enough)."""
    runs = found.parts()
    room = None
    if most_bytes is not None:
        most = most_bytes // problem.machine.word_bytes
        room = [most - run_words(problem, found, run) for run in runs]
    return replace(found, on_chip=kept_maps(problem.network, runs, room))


def run_words(problem: AllocationProblem, found: Allocation, run: range) -> int:
    """Words of weights and between the layers of a run: by the streaming model at their paces."""
    network = problem.network
    weights, between = fused_words(network, run)
    if problem.model == "streaming":
        made = unthrottled(network, found.pes, found.delta)
        z_out = tuple(cycles + idle for cycles, idle in zip(made, found.throttle, strict=True))
        whole = run if len(run) < len(z_out) else None
        between = sum(line_buffer_peaks(network, streamed(network, z_out, problem.drains, whole), whole))
    return weights + between


def joined(
    problem: AllocationProblem, runs: Sequence[tuple[int, RunPoint]], on_chip: tuple[bool, ...]
) -> Allocation:
    """The allocation of runs, given by their first layers, that follow each other."""
    chosen = [choice for _, point in runs for choice in point.chosen]
    z_out = [pace for _, point in runs for pace in point.z_out]
    flat = allocation_of(problem, chosen, z_out)
    return replace(flat, segments=tuple(first for first, _ in runs), on_chip=on_chip)


def bound_of(problem: AllocationProblem) -> int | float:
    """A bound by argument alone: no layer is faster than on all PEs, and a frame's work fills no more than all PEs'
    time between frames, since a layer's PEs work for it alone from its start to its end, or take turns."""
    layers = problem.network.layers
    offered = [useful_choices(problem, at) for at in range(len(layers))]
    least, work = [], 0
    for layer, left in zip(layers, offered, strict=True):
        idle = problem.pin(layer).throttle or 0
        least.append(layer.positions * (min((choice.cycles for choice in left), default=1) + idle))
        work += layer.positions * min((choice.pes * choice.cycles for choice in left), default=0)
    if problem.goal == THROUGHPUT:
        return float(Fraction(problem.machine.clock_hz, max(*least, -(-work // problem.most_pes), 1)))
    if problem.objective == "latency":
        # Of all layers in one run only those that no other reads end the frame.
        return max(least[sink] for sink in problem.network.sinks)
    pinned = [pin.pes for pin in problem.pins.values() if pin.pes is not None]
    paced = 1 if problem.longest_interval is None else -(-work // max(1, problem.longest_interval))
    return max([1, paced, *pinned])
