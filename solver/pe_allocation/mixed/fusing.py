"""Heuristics of mixed mode: fuse all layers as in layer-parallel mode, or fuse neighbours one after another.

Greedy fusing starts with every layer a run of its own, which is layer by layer with streams from and to off the chip,
and joins the two neighbouring runs that save most cycles until none do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.mixed.fused_run import (
    RunFront,
    RunPoint,
    Scope,
    grow,
    refuse_streaming,
)
from mapper.formulations.pe_allocation.referee.verify import verify
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.storage import fused_words
from mapper.solver.certificate import Stop
from mapper.solver.method import Effort
from mapper.solver.outcome import Outcome
from mapper.solver.pe_allocation.mixed.exact import (
    SHARING,
    bound_of,
    joined,
    with_kept_maps,
)
from mapper.solver.pe_allocation.parallel.proportional import proportional


def all_fused(problem: AllocationProblem, effort: Effort) -> Outcome[Allocation]:
    """One run of all layers, with PEs in proportion to the work [Heidorn2019, sec. 6]."""
    fused = replace(problem, mode="layer-parallel", sharing=False, segments=None)
    found = proportional(fused, effort).mapping
    return outcome_of_heuristic(problem, None if found is None else replace(found, mode="mixed"), effort)


def greedy_fusing(problem: AllocationProblem, effort: Effort) -> Outcome[Allocation]:
    """Neighbouring runs joined while that saves cycles, on all PEs; with ``pes`` as the objective on the fewest that
    keep the pace that way."""
    refuse_streaming(problem)
    runs = _Runs(problem, effort)
    first = 1 if problem.objective == "pes" else problem.most_pes
    for pes in range(first, problem.most_pes + 1):
        if effort.stopped() is not None:
            break
        taken = runs.fused(pes)
        made = None if taken is None else joined(problem, taken, (False,) * (len(taken) - 1))
        if made is not None and verify(problem, made).valid:
            return outcome_of_heuristic(problem, made, effort)
    return outcome_of_heuristic(problem, None, effort)


def outcome_of_heuristic(
    problem: AllocationProblem, found: Allocation | None, effort: Effort
) -> Outcome[Allocation]:
    """The outcome of a heuristic: proven where its allocation meets the bound."""
    bound = bound_of(problem)
    stop: Stop = effort.stopped() or "heuristic"
    restrictions = (SHARING,) if problem.sharing else ()
    if found is None:
        return Outcome.bounded(None, None, bound, stop, restrictions=restrictions)
    made = with_kept_maps(problem, found, problem.most_bytes)
    verdict = verify(problem, made)
    if not verdict.valid or verdict.cost is None:
        return Outcome.bounded(None, None, bound, stop, restrictions=restrictions)
    value = problem.value(verdict.cost)
    if value == bound:
        return Outcome.optimal(made, value)
    return Outcome.bounded(made, value, bound, stop, restrictions=restrictions)


class _Runs:
    """Runs that are tried, each grown from its first layer only as far as it is asked for."""

    def __init__(self, problem: AllocationProblem, effort: Effort) -> None:
        self.problem, self.effort = problem, effort
        self.growing: dict[int, Iterator[tuple[int, RunFront]]] = {}
        self.fronts: dict[tuple[int, int], RunFront] = {}

    def fused(self, pes: int) -> list[tuple[int, RunPoint]] | None:
        """First layers and trade-offs of the runs on ``pes`` PEs; None if some layer fits no run."""
        count = len(self.problem.network.layers)
        starts = list(self.problem.segments or range(count))
        points = [self._point(a, b, pes) for a, b in zip(starts, [*starts[1:], count], strict=True)]
        while self.problem.segments is None and None not in points:
            best: tuple[int, int, RunPoint] | None = None
            for at in range(len(starts) - 1):
                end = starts[at + 2] if at + 2 < len(starts) else count
                point = self._point(starts[at], end, pes)
                one, other = points[at], points[at + 1]
                if point is None or one is None or other is None:
                    continue
                saved = one.cycles + other.cycles - point.cycles
                if saved > 0 and (best is None or saved > best[0]):
                    best = saved, at, point
            if best is None:
                break
            _, at, point = best
            points[at : at + 2] = [point]
            del starts[at + 1]
        found = [(first, point) for first, point in zip(starts, points, strict=True) if point is not None]
        return found if len(found) == len(starts) else None

    def _point(self, first: int, end: int, pes: int) -> RunPoint | None:
        """The least latency of the run from ``first`` to before ``end``; None if it does not fit."""
        problem = self.problem
        words = sum(fused_words(problem.network, range(first, end)))
        if problem.most_bytes is not None and words * problem.machine.word_bytes > problem.most_bytes:
            return None
        if first not in self.growing:
            self.growing[first] = grow(problem, first, Scope(problem.most_pes), self.effort.is_over)
        while (first, end - 1) not in self.fronts:
            grown = next(self.growing[first], None)
            if grown is None:
                return None
            self.fronts[first, grown[0]] = grown[1]
        front = self.fronts[first, end - 1]
        fitting = [row for row in range(len(front.rows)) if front.rows[row, 0] <= pes]
        return front.point(fitting[-1]) if fitting else None
