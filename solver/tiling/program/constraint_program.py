"""The exact method that states tiling as a constraint program for each class of orders, and has CP-SAT prove it."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from fractions import Fraction
from threading import Lock
from typing import TYPE_CHECKING

from mapper.formulations.tiling.bound import bound_of, exact_bound_of
from mapper.formulations.tiling.problem import TilingProblem
from mapper.formulations.tiling.program.admissible import BACKWARD, backward_loops, refusal
from mapper.formulations.tiling.program.energy import CostsTooLargeError
from mapper.formulations.tiling.program.reuse_class import ReuseClass, reuse_classes
from mapper.models.tiling.cost import TilingCost, evaluate
from mapper.models.tiling.mapping import TilingMapping
from mapper.solver.certificate import Stop
from mapper.solver.method import Effort, Method, Progress
from mapper.solver.outcome import Outcome
from mapper.solver.tiling.exact.float_price import just_below

if TYPE_CHECKING:
    from mapper.formulations.tiling.program.cp_sat import TilingProgram

COARSE = "energies are counted in steps too coarse to tell the best mappings apart"
FIRST_WORK = 0.5
"""Work on each class under one of these, in CP-SAT's own unit (a few seconds of clauses)."""
MOST_ROUNDS = 64


@dataclass(frozen=True)
class _Found:
    """What solving a class gave: mappings; what nothing in it is as little worth as, if there is such a number; the
    least value, as the program counts it, if it is solved; a bound, and why the solver stopped."""

    mappings: tuple[TilingMapping, ...]
    cleared: Fraction | float | None
    counted: Fraction | None
    bound: int | float
    stop: Stop


@dataclass
class _Search:
    """What is known of a problem: the best mapping with its rank and value, and of every class a bound."""

    problem: TilingProblem
    effort: Effort
    classes: tuple[ReuseClass, ...]
    whole: bool
    mapping: TilingMapping | None = None
    rank: tuple[int, ...] | None = None
    least: Fraction = Fraction(0)
    value: int | float | None = None
    known: int | float = 0
    cleared: dict[ReuseClass, Fraction | float] = field(default_factory=dict)
    """Classes in which nothing is worth so much or less."""
    counted: dict[ReuseClass, Fraction] = field(default_factory=dict)
    """Classes that are solved, with their least value as the program counts it."""
    bounds: dict[ReuseClass, int | float] = field(default_factory=dict)
    stop: Stop = "complete"
    lock: Lock = field(default_factory=Lock)

    def cost(self, mapping: TilingMapping) -> TilingCost:
        return evaluate(self.problem.nest, self.problem.machine, mapping)

    def consider(self, mapping: TilingMapping) -> None:
        """Keep a mapping if it is the best so far."""
        cost = self.cost(mapping)
        rank = self.problem.rank(cost)
        if self.rank is None or rank < self.rank:
            self.mapping, self.rank = mapping, rank
            self.least, self.value = self.problem.exact_value(cost), self.problem.value(cost)
            self.report()

    def stopped(self) -> bool:
        """Whether the effort is over; if so, why."""
        self.stop = self.effort.stopped() or "complete"
        return self.stop != "complete"

    def hear(self, one: ReuseClass, bound: int | float) -> None:
        """A bound on a class that is being solved."""
        with self.lock:
            self.bounds[one] = max(self.bounds.get(one, 0), bound)
            self.report()

    def is_done(self, one: ReuseClass, limit: int | float | None) -> bool:
        """Whether nothing in a class is better than the best mapping; as long as there is none, whether nothing is
        worth the limit or less."""
        goal = self.least if self.value is not None else math.inf if limit is None else limit
        return self.counted.get(one, -1) >= self.least or self.cleared.get(one, -1) >= goal

    @property
    def bound(self) -> int | float:
        """What no mapping undercuts; below a value that is not proven."""
        bound = self.known
        if self.whole:
            least = min(self.bounds.get(one, bound) for one in self.classes)
            bound = max(bound, least) if least < math.inf else bound
        if self.value is not None and bound >= self.value:
            return just_below(self.value)
        return bound

    def learn(self, one: ReuseClass, found: _Found, limit: int | float | None) -> None:
        """Note what solving a class under a limit gave."""
        for mapping in found.mappings:
            self.consider(mapping)
        if found.cleared is not None:
            self.cleared[one] = found.cleared
            self.bounds[one] = math.inf if limit is None else limit
        if found.counted is not None:
            self.counted[one] = found.counted
        self.bounds[one] = max(self.bounds.get(one, 0), found.bound)
        self.stop = found.stop if found.stop != "complete" else self.stop
        self.report()

    def report(self) -> None:
        self.effort.report(Progress(self.value, self.bound, 0))


def constraint_program(problem: TilingProblem, effort: Effort) -> Outcome[TilingMapping]:
    """Find the least objective over the whole space and prove it, or prove that there is no mapping."""
    reason = refusal(problem)
    if reason is not None:
        return Outcome.refused(reason, bound_of(problem))
    restrictions = (BACKWARD,) if backward_loops(problem) else ()
    search = _Search(problem, effort, reuse_classes(problem), whole=not restrictions)
    start = effort.known(problem)
    search.known = max(bound_of(problem), 0 if start is None else start.bound or 0)
    if start is not None:
        search.consider(start.mapping)
    try:
        met = _met(search)
    except CostsTooLargeError as error:
        left_out = (*restrictions, str(error))
        return Outcome.bounded(search.mapping, search.value, search.bound, "complete", restrictions=left_out)
    return _outcome(search, met, restrictions)


def _outcome(search: _Search, met: bool, restrictions: tuple[str, ...]) -> Outcome[TilingMapping]:
    mapping, value = search.mapping, search.value
    if mapping is None:
        bound = None if met and not restrictions else search.bound
        proven = met and not restrictions
        return Outcome.ended(None, None, bound, search.stop, proven=proven, restrictions=restrictions)
    if met and (not restrictions or search.least <= exact_bound_of(search.problem)):
        # The bound by argument holds for all that was left out too.
        return Outcome.optimal(mapping, value)
    if search.stop == "complete" and not met:
        restrictions = (*restrictions, COARSE)
    return Outcome.bounded(mapping, value, search.bound, search.stop, restrictions=restrictions)


def _met(search: _Search) -> bool:
    """Whether every class is done: nothing in it is better than the best mapping.

    A first mapping is looked for among those of little more than the bound by argument, then of more: the lower the
    limit, the less is left of a class, and what is refuted needs no second look if the limit is high enough.
    """
    from mapper.formulations.tiling.program.cp_sat import FIRST_LIMITS

    for times in FIRST_LIMITS:
        if search.value is None and search.known > 0:
            _solve(search, math.ceil(search.known * times), FIRST_WORK)
    # Where no limit leads to a mapping, the second turn has one.
    _solve(search, None, None)
    _solve(search, None, None)
    met = all(search.is_done(one, None) for one in search.classes)
    if met and not search.stopped():
        _break_ties(search)
    return met


def _solve(search: _Search, limit: int | float | None, work: float | None) -> None:
    """Solve what is left of the classes, as many at a time as there are workers, under the value of the best mapping
    (``limit``, as long as there is none)."""
    left = [one for one in search.classes if not search.is_done(one, limit)]
    workers = max(1, search.effort.workers)
    with ThreadPoolExecutor(workers) as pool:
        for first in range(0, len(left), workers):
            if search.stopped():
                return
            batch = [one for one in left[first : first + workers] if not search.is_done(one, limit)]
            under, least = (limit, None) if search.value is None else (search.value, search.least)
            solving = [pool.submit(_solved, search, one, under, least, work) for one in batch]
            for one, found in zip(batch, solving, strict=True):
                search.learn(one, found.result(), under)


def _program(search: _Search, one: ReuseClass, value: int | float | None) -> TilingProgram:
    from mapper.formulations.tiling.program.cp_sat import TilingProgram

    program = TilingProgram(search.problem, one, len(search.classes), value)
    program.build()
    return program


def _solved(
    search: _Search, one: ReuseClass, limit: int | float | None, least: Fraction | None, work: float | None
) -> _Found:
    """Solve a class until nothing is left in it that the program counts below the best mapping.

    The program counts in integers and, where it must, rounds down: a tie at half a pJ, a product beyond 64 bits. A
    mapping that costs more than was counted is left out of the program, which is solved again.
    """
    from mapper.solver.cp_sat import run_cp_sat

    program = _program(search, one, limit)
    counting, is_stated = program.limits.counting, search.problem.objective != "edp" or limit is not None
    mappings: list[TilingMapping] = []
    bound: int | float = 0

    def report(value: float | None, bound: float | None) -> None:
        if bound is not None and is_stated:
            search.hear(one, counting.real(bound))

    for _ in range(MOST_ROUNDS):
        result = run_cp_sat(program.model, replace(search.effort, workers=1), report, work, clausal=True)
        if result.answer == "infeasible":
            cleared = counting.exactly(counting.whole(limit)) if limit is not None else math.inf
            if mappings:
                return _Found(tuple(mappings), None, least, bound, result.stop)
            return _Found((), cleared, None, bound, result.stop)
        if result.found:
            mappings.append(program.extract(result.value_of))
            exact = search.problem.exact_value(search.cost(mappings[-1]))
            least = exact if least is None else min(least, exact)
        if result.bound is not None and is_stated:
            bound = max(bound, counting.real(result.bound))
        if result.answer != "optimal" or not is_stated or least is None:
            break
        counted = counting.exactly(result.value_of(program.minimised))
        if counted >= least:
            return _Found(tuple(mappings), None, counted, bound, result.stop)
        program.leave_out(result.value_of)
    # Work that is used up is no reason to stop.
    stop = search.effort.stopped() or "complete"
    return _Found(tuple(mappings), None, None, bound, stop)


def _break_ties(search: _Search) -> None:
    """Of the mappings of least value take the next in rank, as far as single solutions of the classes show it."""
    from mapper.solver.cp_sat import run_cp_sat

    for one, counted in search.counted.items():
        if counted == search.least and not search.effort.is_over():
            program = _program(search, one, search.value)
            program.break_ties(int(counted * program.limits.counting.scale))
            effort = replace(search.effort, workers=1)
            result = run_cp_sat(program.model, effort, lambda value, bound: None, clausal=True)
            if result.found:
                search.consider(program.extract(result.value_of))


CONSTRAINT_PROGRAM: Method[TilingProblem, TilingMapping] = Method(
    "cp-sat",
    True,
    "a constraint program for each class of orders, which CP-SAT proves by itself",
    constraint_program,
)
