"""Every method for allocations, exact ones first. Each passes its allocations on to be placed."""

from __future__ import annotations

import time
from dataclasses import replace

from mapper.formulations.pe_allocation.infeasible import why_unfit
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.reach import why_unreachable
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.word.need import has_limits
from mapper.solver.certificate import Stop
from mapper.solver.contradiction import refuse_contradiction
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome
from mapper.solver.pe_allocation.pace.search import pace_tree
from mapper.solver.pe_allocation.parallel.brute_force import BRUTE_FORCE
from mapper.solver.pe_allocation.parallel.constraint_program import CONSTRAINT_PROGRAM
from mapper.solver.pe_allocation.parallel.greedy import GREEDY
from mapper.solver.pe_allocation.parallel.integer_program import INTEGER_PROGRAM
from mapper.solver.pe_allocation.parallel.proportional import PROPORTIONAL
from mapper.solver.pe_allocation.parallel.sequential_search import sequential

AllocationMethod = Method[AllocationProblem, Allocation]
RELOADED = "that a PE has room for all the programs that it runs in turn is not counted"
SHARE = 0.6
"""Of a time limit, what the first of the two programs may take before the other gets the rest."""


def _automatic(problem: AllocationProblem, effort: Effort) -> Outcome[Allocation]:
    """In the streaming model the tree of paces. Else, and where layers may share PEs, the integer linear program; what
    it leaves unproven within its share of a limit goes to CP-SAT. For shared PEs CP-SAT comes first: the relaxation of
    who works where is weak.

    Raises: ContradictionError if the two cannot both be right.
    """
    if problem.model == "streaming" and not problem.sharing:
        return replace(pace_tree(problem, effort), method="pace tree")
    one, other = INTEGER_PROGRAM, CONSTRAINT_PROGRAM
    if problem.sharing:
        one, other = other, one
    left = effort.seconds_left()
    own = effort if left is None else replace(effort, deadline=time.monotonic() + SHARE * left)
    first = replace(one.search(problem, own), method=one.name)
    if first.proven or effort.stopped() is not None:
        return first
    second = replace(other.search(problem, effort), method=other.name)
    refuse_contradiction(first, second, problem.goal.most)
    return second if second.proven else _better(problem, first, second)


def _better(
    problem: AllocationProblem, one: Outcome[Allocation], other: Outcome[Allocation]
) -> Outcome[Allocation]:
    """The better allocation with the better bound; they prove together where these meet."""
    found = [outcome for outcome in (one, other) if outcome.value is not None]
    best = problem.goal.best(outcome.value or 0 for outcome in found)
    chosen = next((outcome for outcome in found if outcome.value == best), other)
    bound = problem.goal.tightest(outcome.bound for outcome in (one, other) if outcome.bound is not None)
    if chosen.value is not None and chosen.value == bound:
        names = f"{one.method} + {other.method}"
        return replace(chosen, bound=bound, stop="complete", proven=True, restrictions=(), method=names)
    return replace(chosen, bound=bound, stop=other.stop)


AUTOMATIC: AllocationMethod = Method(
    "auto",
    True,
    "a tree of paces in the streaming model; otherwise, or if PEs are shared, the integer linear program, then CP-SAT "
    "for what remains unproven",
    _automatic,
    at_once=GREEDY,
)


def _without_reloads(problem: AllocationProblem, found: Outcome[Allocation]) -> Outcome[Allocation]:
    """Where a PE runs several programs in turn, its limits hold for each alone, or for none layer by layer: what was
    found may not fit, and its bound holds."""
    mapping, pe = found.mapping, problem.machine.processing_element
    if mapping is None or not has_limits(pe):
        return found
    if problem.mode != "layer-by-layer" and not mapping.shared and len(mapping.segments) == 1:
        return found
    said = tuple(dict.fromkeys((*found.restrictions, RELOADED)))
    stop: Stop = "heuristic" if found.stop == "complete" else found.stop
    return replace(found, proven=False, stop=stop, restrictions=said)


def _of_every_mode(method: AllocationMethod) -> AllocationMethod:
    """A search of layers that work at once, extended to the other modes: layers one after another have a closed form,
    the mixed mode has methods of its own by the same names. The last step is a placement, within the limits of links
    and border PEs."""

    def search(problem: AllocationProblem, effort: Effort) -> Outcome[Allocation]:
        from mapper.solver.pe_allocation.placement.place import place
        from mapper.solver.pe_allocation.placement.settling import settled

        if why_unreachable(problem) is not None or why_unfit(problem) is not None:
            return Outcome.infeasible()
        if problem.mode == "layer-by-layer":
            found = replace(sequential(problem, effort), method="closed form")
        elif problem.mode == "mixed":
            from mapper.solver.pe_allocation.mixed.catalogue import MIXED

            found = MIXED[method.name](problem, effort)
        else:
            found = method.search(problem, effort)
        start = effort.known(problem)
        if start is not None:
            # Placed once all that is found is.
            found = start.combined(found)
        if found.mapping is None:
            return found
        placed = place(problem, found.mapping, start)
        if placed.placement is None and (placed.unplaceable or problem.mode != "layer-by-layer"):
            slowed = settled(problem, found, effort)
            # What was known before has a place, and may be better than what is slowed down.
            return slowed if start is None else start.combined(slowed)
        return _without_reloads(problem, replace(found, mapping=placed))

    at_once = None if method.at_once is None else _of_every_mode(method.at_once)
    return Method(method.name, method.exact, method.summary, search, method.prepare, at_once)


METHODS: dict[str, AllocationMethod] = {
    method.name: _of_every_mode(method)
    for method in (AUTOMATIC, INTEGER_PROGRAM, CONSTRAINT_PROGRAM, BRUTE_FORCE, GREEDY, PROPORTIONAL)
}
