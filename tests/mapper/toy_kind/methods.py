"""The searches, exact ones first; the default method is called ``auto`` and stands at the head."""

from __future__ import annotations

import itertools
from dataclasses import replace
from random import Random

from mapper.solver.cp_sat import run_cp_sat
from mapper.solver.method import Effort, Method, Progress
from mapper.solver.outcome import Outcome
from tests.mapper.toy_kind.model import Packing, evaluate
from tests.mapper.toy_kind.problem import PackingProblem, why_infeasible
from tests.mapper.toy_kind.program import PackingProgram

MOST_PACKINGS = 100_000
DRAWS = 200
Found = Outcome[Packing]


def automatic(problem: PackingProblem, effort: Effort) -> Found:
    """What can be argued, else the constraint program; a mapping of its time limit's beginning is better than none."""
    if why_infeasible(problem) is not None:
        return Outcome.infeasible(method="argument")
    first = greedy(problem, effort)
    found = replace(constraint_program(problem, effort), method="cp-sat")
    return first if found.mapping is None and not found.proven else found


def constraint_program(problem: PackingProblem, effort: Effort) -> Found:
    """CP-SAT on the formulation."""
    program = PackingProgram(problem)
    program.build()

    def report(value: float | None, bound: float | None) -> None:
        effort.report(Progress(_whole(value), _whole(bound), 0))

    result = run_cp_sat(program.model, effort, report)
    if result.answer == "infeasible":
        return Outcome.infeasible()
    if not result.found:
        return Outcome.unknown(result.stop, _whole(result.bound))
    packing = program.extract(result.value_of)
    return Outcome.ended(
        packing,
        _worth(problem, packing),
        _whole(result.bound),
        result.stop,
        proven=result.answer == "optimal",
    )


def brute_force(problem: PackingProblem, effort: Effort) -> Found:
    """Every packing."""
    choices: list[int | None] = [None, *range(len(problem.machine.cycles))]
    number = len(choices) ** len(problem.jobs.jobs)
    if number > MOST_PACKINGS:
        return Outcome.refused(f"more than {MOST_PACKINGS} packings")
    every = (Packing(one) for one in itertools.product(choices, repeat=len(problem.jobs.jobs)))
    best = max(
        (one for one in every if _fits(problem, one)), key=lambda one: _worth(problem, one), default=None
    )
    if best is None:
        return Outcome.infeasible(evaluations=number)
    return Outcome.optimal(best, _worth(problem, best), evaluations=number)


def greedy(problem: PackingProblem, effort: Effort) -> Found:
    """Jobs by their worth per cycle, each to the first worker with room."""
    jobs = problem.jobs.jobs
    return _in_order(problem, sorted(range(len(jobs)), key=lambda at: -jobs[at].worth / jobs[at].cycles))


def drawn(problem: PackingProblem, effort: Effort) -> Found:
    """The best of some orders drawn at random."""
    random, orders = Random(effort.seed), range(len(problem.jobs.jobs))
    found = [_in_order(problem, random.sample(orders, len(orders))) for _ in range(DRAWS)]
    return replace(max(found, key=lambda one: -1 if one.value is None else one.value), evaluations=DRAWS)


METHODS: dict[str, Method[PackingProblem, Packing]] = {
    method.name: method
    for method in (
        Method("auto", True, "an argument, or the constraint program", automatic),
        Method("cp-sat", True, "a constraint program, solved by CP-SAT", constraint_program),
        Method("brute-force", True, f"every packing, at most {MOST_PACKINGS}", brute_force),
        Method("greedy", False, "the most worth per cycle first", greedy),
        Method("random", False, f"the best of {DRAWS} orders", drawn),
    )
}


def _in_order(problem: PackingProblem, order: list[int]) -> Found:
    left = list(problem.machine.cycles)
    worker: list[int | None] = [None] * len(order)
    for at in sorted(order, key=lambda at: at not in problem.pins):
        cycles = problem.jobs.jobs[at].cycles
        own = [problem.pins[at]] if at in problem.pins else range(len(left))
        worker[at] = next((one for one in own if left[one] >= cycles), None)
        if worker[at] is not None:
            left[worker[at] or 0] -= cycles
    packing = Packing(tuple(worker))
    if not _fits(problem, packing):
        return Outcome.unknown("heuristic")
    return Outcome.bounded(packing, _worth(problem, packing), None, "heuristic")


def _fits(problem: PackingProblem, packing: Packing) -> bool:
    busy = evaluate(problem.jobs, problem.machine, packing).busy
    pinned = all(packing.worker[place] == own for place, own in problem.pins.items())
    return pinned and all(own <= most for own, most in zip(busy, problem.machine.cycles, strict=True))


def _worth(problem: PackingProblem, packing: Packing) -> int:
    return evaluate(problem.jobs, problem.machine, packing).worth


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)
