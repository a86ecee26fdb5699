"""The exact method that states the whole problem as one constraint program and has CP-SAT prove it."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import islice, product
from typing import TYPE_CHECKING

from mapper.formulations.hierarchy.bound import bound_of
from mapper.formulations.hierarchy.infeasible import why_infeasible
from mapper.formulations.hierarchy.problem import ROUNDING, HierarchyProblem
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.solver.certificate import Stop
from mapper.solver.hierarchy.heuristic.annealing import hill_climbing
from mapper.solver.hierarchy.space import Space
from mapper.solver.hierarchy.trial import Trials
from mapper.solver.method import Effort, Method, Progress
from mapper.solver.outcome import Outcome

if TYPE_CHECKING:
    from mapper.formulations.hierarchy.program.cp_sat import HierarchyProgram

FIRST_STEPS = 1_000
MOST_ROUNDS = 100
MOST_ORDERS = 5_000
LOOSE = "the program counts less than the model where energies are rounded or windows slide"


class _Search:
    """The best mapping so far, and what nothing else costs less than."""

    def __init__(self, problem: HierarchyProblem, effort: Effort) -> None:
        self.problem, self.effort = problem, effort
        self.trials = Trials(problem, effort)
        self.bound: int | float = bound_of(problem)
        self.stop: Stop = "complete"

    def start(self) -> None:
        """A first mapping, whose value limits the program."""
        found = hill_climbing(self.problem, self.effort, FIRST_STEPS).mapping
        if found is not None:
            self.trials.take(found)

    @property
    def limit(self) -> float:
        """What a mapping must cost less than to be better."""
        return math.inf if self.trials.value is None else self.trials.value * (1 - ROUNDING)

    def run(self, program: HierarchyProgram) -> bool:
        """Solve the program until no solution that is left is better than the best mapping: True if so.

        A mapping that costs more than was counted is left out of the program, which is solved again.
        """
        from mapper.solver.cp_sat import run_cp_sat

        def report(_: float | None, bound: float | None) -> None:
            if bound is not None:
                self.effort.report(Progress(self.trials.value, self._known(self.real(program, bound)), 0))

        for _ in range(MOST_ROUNDS):
            result = run_cp_sat(program.model, self.effort, report)
            self.stop = result.stop
            if result.answer == "infeasible":
                return True
            if result.bound is not None:
                self.bound = max(self.bound, self._known(self.real(program, result.bound)))
            tried = self.take_orders(program.extract(result.value_of)) if result.found else False
            if result.answer != "optimal":
                return False
            if self.real(program, result.value_of(program.minimised)) >= self.limit:
                return True
            program.leave_out(result.value_of, any_order=tried)
        return False

    def take_orders(self, mapping: HierarchyMapping) -> bool:
        """Cost a mapping, in all orders of its loops in time: False if these are too many, so that only its own was."""
        self.trials.take(mapping)
        space, levels = Space(self.problem), mapping.levels
        options = [list(islice(space.orders(place, [one.loop for one in level.temporal]), MOST_ORDERS + 1))
                   for place, level in enumerate(levels[:-1])]  # fmt: skip
        if math.prod(map(len, options)) > MOST_ORDERS:
            return False
        for orders in product(*options):
            arranged = []
            for level, order in zip(levels, orders, strict=False):
                by_loop = {one.loop: one for one in level.temporal}
                arranged.append(replace(level, temporal=tuple(by_loop[loop] for loop in order)))
            self.trials.take(replace(mapping, levels=(*arranged, levels[-1])))
        return True

    def real(self, program: HierarchyProgram, counted: float) -> int | float:
        """What the model's cost is at least."""
        if self.problem.objective == "latency":
            return math.ceil(counted - 1e-6)
        exact = Fraction(math.ceil(counted - 1e-6)) * program.counting.real(1)
        return float(exact * (1 - Fraction(1, 10**12)))

    def _known(self, bound: int | float) -> int | float:
        return bound if self.trials.value is None else min(bound, self.trials.value)


def constraint_program(problem: HierarchyProblem, effort: Effort) -> Outcome[HierarchyMapping]:
    """The least objective over the whole space with a proof, or a bound; or a proof that there is no mapping."""
    from mapper.formulations.hierarchy.program.counting import Counting, NumbersTooLargeError
    from mapper.formulations.hierarchy.program.cp_sat import HierarchyProgram, refusal

    if why_infeasible(problem) is not None:
        return Outcome.infeasible()
    reason = refusal(problem)
    if reason is not None:
        return Outcome.refused(reason, bound_of(problem))
    search = _Search(problem, effort)
    search.start()
    trials = search.trials
    if trials.best is None or trials.value is None:
        return Outcome.refused("no mapping was found that would limit the program", search.bound)
    program = HierarchyProgram(problem, Counting.of(problem, trials.value))
    try:
        program.build()
    except NumbersTooLargeError as error:
        return Outcome.bounded(
            trials.best, trials.value, search.bound, "complete", restrictions=(str(error),)
        )
    proven = search.run(program)
    if proven:
        return Outcome.ended(trials.best, trials.value, trials.value, "complete", proven=True)
    restrictions = (LOOSE,) if search.stop == "complete" else ()
    return Outcome.bounded(trials.best, trials.value, search.bound, search.stop, restrictions=restrictions)


CONSTRAINT_PROGRAM: Method[HierarchyProblem, HierarchyMapping] = Method(
    "cp-sat",
    True,
    "one constraint program of trips, orders and tensors kept, which CP-SAT proves by itself",
    constraint_program,
)
