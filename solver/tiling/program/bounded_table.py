"""The exact method that tabulates tiles, drops rows by floors and a dive, and has CP-SAT choose from the rest."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from mapper.formulations.tiling.bound import bound_of, exact_bound_of
from mapper.formulations.tiling.problem import TilingProblem
from mapper.formulations.tiling.program.admissible import BACKWARD, backward_loops, refusal
from mapper.formulations.tiling.program.energy import CostsTooLargeError
from mapper.formulations.tiling.program.table.reduction import Watch, reduce_tables
from mapper.formulations.tiling.program.table.tables import TilingTables, TooManyTilesError
from mapper.models.tiling.cost import evaluate
from mapper.models.tiling.mapping import TilingMapping
from mapper.solver.certificate import Stop
from mapper.solver.method import Effort, Method, Progress
from mapper.solver.outcome import Outcome
from mapper.solver.tiling.exact.float_price import just_below

if TYPE_CHECKING:
    from mapper.formulations.tiling.program.table.bounded_table import BoundedTable

COARSE = "energies are counted in steps too coarse to tell the best mappings apart"
UNLIMITED = "its tables know no limit on latency; use --method branch-and-bound or cp-sat"
AXES_ALIKE = "its tables do not tell rows from columns (array_axes); use --method branch-and-bound or cp-sat"
MOST_ROUNDS = 64


def bounded_table(problem: TilingProblem, effort: Effort) -> Outcome[TilingMapping]:
    """Find the least objective over the whole space and prove it, or prove that there is no mapping."""
    from mapper.formulations.tiling.program.table.bounded_table import BoundedTable
    from mapper.formulations.tiling.program.table.instance import TilingInstance

    reason = refusal(problem) or _refused_here(problem)
    if reason is not None:
        return Outcome.refused(reason, bound_of(problem))
    restrictions = (BACKWARD,) if backward_loops(problem) else ()
    watch = _EffortWatch(problem, effort, whole=not restrictions)
    try:
        tables = TilingTables.of(problem, watch.proceed)
        known = None if watch.mapping is None or watch.value is None else (watch.mapping, watch.value)
        reduction = reduce_tables(tables, watch, known=known)
        program = BoundedTable(TilingInstance.of(tables, reduction))
    except (TooManyTilesError, CostsTooLargeError) as error:
        left_out = (*restrictions, str(error))
        return Outcome.bounded(
            watch.mapping, watch.value, watch.bound_below(), "complete", restrictions=left_out
        )
    except _StoppedError as stopped:
        return Outcome.bounded(
            watch.mapping, watch.value, watch.bound, stopped.stop, restrictions=restrictions
        )
    program.build()
    program.hint()
    return _solved(program, effort, watch, restrictions)


def _refused_here(problem: TilingProblem) -> str | None:
    """Why the tables do not take a problem that the constraint program takes."""
    if problem.machine.rules.array_axes:
        return AXES_ALIKE
    return UNLIMITED if problem.max_cycles is not None else None


class _StoppedError(Exception):
    """The effort ended while the tables were made."""

    def __init__(self, stop: Stop) -> None:
        super().__init__(stop)
        self.stop = stop


class _EffortWatch(Watch):
    """Stops with the effort, keeps the best mapping, its value and the best bound, and reports them; it begins with
    what is known. A bound of less than the ``whole`` space does not hold for the problem."""

    def __init__(self, problem: TilingProblem, effort: Effort, whole: bool) -> None:
        self._problem, self._effort, self._whole = problem, effort, whole
        start = effort.known(problem)
        self.bound: int | float = max(bound_of(problem), 0 if start is None else start.bound or 0)
        self.mapping: TilingMapping | None = None if start is None else start.mapping
        self.value: int | float | None = None if start is None else start.value

    def bound_below(self) -> int | float:
        """The bound, below a value that is not proven even where both round to the same number."""
        if self.value is None or self.bound < self.value:
            return self.bound
        return just_below(self.value)

    def proceed(self) -> None:
        stop = self._effort.stopped()
        if stop is not None:
            raise _StoppedError(stop)

    def bounded(self, floor: float) -> None:
        if self._whole:
            self.bound = max(self.bound, floor if self.value is None else min(floor, self.value))
        self._effort.report(Progress(self.value, self.bound, 0))

    def found(self, mapping: TilingMapping, value: int | float) -> None:
        if self.value is None or value <= self.value:
            self.mapping, self.value = mapping, value
        self._effort.report(Progress(value, min(self.bound, value), 0))


def _solved(
    program: BoundedTable, effort: Effort, watch: _EffortWatch, restrictions: tuple[str, ...]
) -> Outcome[TilingMapping]:
    """Solve until nothing is left that the program counts below the best mapping.

    The program counts in integers and, where it must, rounds down: a tie at half a pJ, a product beyond 64
    bits. A mapping that costs more than was counted is kept as an answer and left out of the program, which
    is solved again. If the first answer was exact, the mapping of equal value that is next in rank is
    returned.
    """
    from mapper.solver.cp_sat import run_cp_sat

    problem, instance = program.of.problem, program.of
    best = instance.reduction.incumbent
    rank: tuple[int, ...] | None = None
    least, value = Fraction(0), None
    if best is not None:
        rank, least, value = _cost(problem, best)

    def report(value: float | None, bound: float | None) -> None:
        if bound is not None:
            watch.bounded(instance.counting.real(bound))

    met = False
    for turn in range(MOST_ROUNDS):
        result = run_cp_sat(program.model, effort, report)
        if result.found:
            mapping = program.extract(result.value_of)
            found = _cost(problem, mapping)
            if rank is None or found[0] < rank:
                best, (rank, least, value) = mapping, found
                watch.found(best, value)
        met = result.answer == "infeasible"
        if result.bound is not None:
            watch.bounded(instance.counting.real(result.bound))
        if result.answer != "optimal" or rank is None or value is None:
            break
        met = instance.counting.exactly(result.value_of(program.minimised)) >= least
        if met and turn == 0:
            program.break_ties(result.value_of(program.minimised))
            tied = run_cp_sat(program.model, effort, lambda value, bound: None)
            if tied.found and _cost(problem, program.extract(tied.value_of))[0] < rank:
                best = program.extract(tied.value_of)
        if met:
            break
        program.leave_out(result.value_of)
        program.improve(value)
    if best is None or value is None:
        bound = None if met and not restrictions else watch.bound
        return Outcome.ended(
            None, None, bound, result.stop, proven=met and not restrictions, restrictions=restrictions
        )
    if result.stop == "complete" and not met:
        restrictions = (*restrictions, COARSE)
    if met and not restrictions:
        return Outcome.optimal(best, value, stop=result.stop)
    if BACKWARD in restrictions and least <= exact_bound_of(problem):
        # By argument, which holds for all that was left out too.
        return Outcome.optimal(best, value)
    return Outcome.bounded(best, value, watch.bound_below(), result.stop, restrictions=restrictions)


def _cost(problem: TilingProblem, mapping: TilingMapping) -> tuple[tuple[int, ...], Fraction, int | float]:
    """Rank and value of a mapping, exactly and as a number."""
    cost = evaluate(problem.nest, problem.machine, mapping)
    return problem.rank(cost), problem.exact_value(cost), problem.value(cost)


BOUNDED_TABLE: Method[TilingProblem, TilingMapping] = Method(
    "bounded-table",
    True,
    "tables of tiles that floors and a dive leave a few rows of, from which CP-SAT chooses",
    bounded_table,
)
