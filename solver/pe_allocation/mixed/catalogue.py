"""The methods in mixed mode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.choice import allocation_of
from mapper.formulations.pe_allocation.program.mixed.fused_run import useful_choices
from mapper.formulations.pe_allocation.referee.verify import verify
from mapper.models.pe_allocation.cost import evaluate
from mapper.models.pe_allocation.mapping import Allocation
from mapper.solver.method import Effort
from mapper.solver.outcome import Outcome
from mapper.solver.pe_allocation.mixed.brute_force import mixed_brute_force
from mapper.solver.pe_allocation.mixed.constraint_program import mixed_constraint_program
from mapper.solver.pe_allocation.mixed.exact import search_mixed
from mapper.solver.pe_allocation.mixed.fusing import all_fused, greedy_fusing, outcome_of_heuristic
from mapper.solver.pe_allocation.mixed.integer_program import mixed_integer_program
from mapper.solver.pe_allocation.mixed.streamed_brute_force import streamed_brute_force
from mapper.solver.pe_allocation.mixed.streaming import search_streamed
from mapper.solver.pe_allocation.parallel.stage import first_allocation

Search = Callable[[AllocationProblem, Effort], Outcome[Allocation]]


def _automatic(problem: AllocationProblem, effort: Effort) -> Outcome[Allocation]:
    search = search_streamed if problem.model == "streaming" else search_mixed
    return replace(search(problem, effort), method="runs of fused layers")


def _by_model(search: Search, streamed: Search) -> Search:
    """A search by the calculus, and what answers by the streaming model in its place."""

    def searched(problem: AllocationProblem, effort: Effort) -> Outcome[Allocation]:
        return (streamed if problem.model == "streaming" else search)(problem, effort)

    return searched


def _all_fused_or_none(problem: AllocationProblem, effort: Effort) -> Outcome[Allocation]:
    """The better of the two ends: all layers in one run, or each a run of its own."""
    return outcome_of_heuristic(problem, plain(problem), effort)


def plain(problem: AllocationProblem) -> Allocation | None:
    """An allocation in closed form, in no time: all layers in one run as layer-parallel mode has them, or each layer a
    run of its own with the PEs that help it, whichever is better; None if neither keeps the rules."""
    layers = problem.network.layers
    fused = first_allocation(replace(problem, mode="layer-parallel", sharing=False, segments=None))
    tried = [] if fused is None else [replace(fused, mode="mixed")]
    offered = [useful_choices(problem, at) for at in range(len(layers))]
    if all(offered):
        chosen = [min(left, key=lambda choice: (choice.cycles, choice.pes)) for left in offered]
        idle = [problem.pin(layer).throttle or 0 for layer in layers]
        paces = [choice.cycles + wait for choice, wait in zip(chosen, idle, strict=True)]
        apart = allocation_of(problem, chosen, paces)
        starts = tuple(range(len(layers)))
        tried.append(replace(apart, segments=starts, on_chip=(False,) * (len(layers) - 1)))
    costs = [(verify(problem, one), one) for one in tried]
    valid = [(problem.rank(said.cost), one) for said, one in costs if said.valid and said.cost is not None]
    return min(valid, key=lambda pair: pair[0], default=(None, None))[1]


def _answering(search: Search) -> Search:
    """A search that has a plain allocation where its time ended before it found any."""

    def searched(problem: AllocationProblem, effort: Effort) -> Outcome[Allocation]:
        found = search(problem, effort)
        made = None if found.mapping is not None or found.proven else plain(problem)
        if made is None:
            return found
        value = problem.value(evaluate(problem.network, problem.machine, made, problem.model))
        if value == found.bound:
            return replace(found, mapping=made, value=value, stop="complete", proven=True, restrictions=())
        return replace(found, mapping=made, value=value)

    return searched


MIXED: dict[str, Search] = {
    "auto": _answering(_automatic),
    "ilp": _answering(_by_model(mixed_integer_program, search_streamed)),
    "cp-sat": _answering(_by_model(mixed_constraint_program, search_streamed)),
    "brute-force": _by_model(mixed_brute_force, streamed_brute_force),
    "greedy": _by_model(greedy_fusing, _all_fused_or_none),
    "proportional": all_fused,
}
"""By the names of the catalogue."""
