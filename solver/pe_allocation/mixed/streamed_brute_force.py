"""Brute force for mixed mode by the streaming model: every way to cut, and for each run every allocation and idle time.

It is the oracle of ``streaming``, and knows of no bounds: runs are solved by the brute force of layers that work at
once, each on all PEs, or on every number of them where PEs are the objective.
"""

from __future__ import annotations

from dataclasses import replace

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.referee.verify import verify
from mapper.models.pe_allocation.mapping import Allocation
from mapper.solver.method import Effort
from mapper.solver.outcome import Outcome
from mapper.solver.pe_allocation.mixed.brute_force import REFUSED, cuts
from mapper.solver.pe_allocation.mixed.exact import SHARING, with_kept_maps
from mapper.solver.pe_allocation.mixed.streamed_runs import run_problem, sequence
from mapper.solver.pe_allocation.parallel.brute_force import BRUTE_FORCE
from mapper.solver.pe_allocation.parallel.outcome import cost_of

BUFFERS = "idle times of runs that keep their line buffers small are not tried"


def streamed_brute_force(problem: AllocationProblem, effort: Effort) -> Outcome[Allocation]:
    """The best of all; unproven where layers may share PEs, buffers are limited, or there are too many to try."""
    trial = _Trial(problem, effort)
    found = [one for starts in cuts(problem) for one in trial.allocations(starts)]
    kept = [one for one in found if trial.keeps(one)]
    best = min(kept, key=lambda one: problem.rank(cost_of(problem, one)), default=None)
    left_out = [SHARING] if problem.sharing else []
    left_out += [BUFFERS] if problem.most_bytes is not None else []
    left_out += [] if trial.whole else [REFUSED]
    stop = effort.stopped()
    proven = not left_out and stop is None
    value = None if best is None else problem.value(cost_of(problem, best))
    return Outcome.ended(
        best,
        value,
        value if proven else None,
        stop or ("complete" if proven else "heuristic"),
        proven=proven,
        restrictions=tuple(left_out) if stop is None else (),
    )


class _Trial:
    def __init__(self, problem: AllocationProblem, effort: Effort) -> None:
        self.problem, self.effort = problem, effort
        self.known: dict[tuple[int, int, int], Allocation | None] = {}
        self.whole = True

    def keeps(self, allocation: Allocation) -> bool:
        return verify(self.problem, allocation).valid

    def allocations(self, starts: tuple[int, ...]) -> list[Allocation]:
        """The best with runs that start at ``starts``, for every number of PEs that counts."""
        problem = self.problem
        if len(starts) == 1:
            alone = replace(problem, mode="layer-parallel", sharing=False, segments=None)
            outcome = BRUTE_FORCE.search(alone, self.effort)
            self.whole = self.whole and outcome.proven
            return [] if outcome.mapping is None else [replace(outcome.mapping, mode="mixed")]
        found = []
        for pes in range(1 if problem.objective == "pes" else problem.most_pes, problem.most_pes + 1):
            ends = (*starts[1:], len(problem.network.layers))
            runs = [(first, self._run(first, end, pes)) for first, end in zip(starts, ends, strict=True)]
            made = [(first, run) for first, run in runs if run is not None]
            if len(made) == len(runs):
                found.append(with_kept_maps(problem, sequence(problem, made), problem.most_bytes))
        return found

    def _run(self, first: int, end: int, pes: int) -> Allocation | None:
        if (first, end, pes) not in self.known:
            outcome = BRUTE_FORCE.search(run_problem(self.problem, first, end, pes), self.effort)
            self.whole = self.whole and outcome.proven
            self.known[first, end, pes] = outcome.mapping
        return self.known[first, end, pes]
