"""The exact method that states tiling as a constraint program and has CP-SAT solve it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mapper.formulations.tiling.problem import TilingProblem
from mapper.models.tiling.evaluation import evaluate
from mapper.models.tiling.mapping import TilingMapping
from mapper.solver.method import Effort, Method, Outcome, Progress

if TYPE_CHECKING:
    from mapper.formulations.tiling.program import TilingProgram

BACKWARD = "loops along which a dependence runs backwards are kept whole in the register files"
COARSE = "energies are counted in steps too coarse to tell the best mappings apart"
SAME = 1e-12
"""Values of machines that do not round differ by floating-point noise from the program's integers."""
MOST_ROUNDS = 64


class _StoppedError(Exception):
    """The effort ended while the tables were made."""


def constraint_program(problem: TilingProblem, effort: Effort) -> Outcome[TilingMapping]:
    """Find the least objective over the whole space and prove it, or prove that there is no mapping."""
    from mapper.formulations.tiling.program import TilingProgram
    from mapper.formulations.tiling.program_instance import TilingInstance
    from mapper.formulations.tiling.program_reduction import reduce_tables
    from mapper.formulations.tiling.program_scratch_pad import backward_loops
    from mapper.formulations.tiling.program_table import TilingTables, TooManyTilesError

    def proceed() -> None:
        if effort.stopped() is not None:
            raise _StoppedError

    restrictions = (BACKWARD,) if backward_loops(problem) else ()
    try:
        tables = TilingTables.of(problem, proceed)
        reduction = reduce_tables(tables, proceed)
    except TooManyTilesError as error:
        return Outcome(None, None, problem.bound(), "complete", False, (str(error),))
    except _StoppedError:
        stop = effort.stopped() or "time_limit"
        return Outcome(None, None, problem.bound(), stop, False, restrictions)
    program = TilingProgram(TilingInstance.of(tables, reduction))
    program.build()
    program.hint()
    return _solved(program, effort, restrictions)


def _solved(program: TilingProgram, effort: Effort, restrictions: tuple[str, ...]) -> Outcome[TilingMapping]:
    """Solve until nothing is left that the program counts below the best mapping.

    The program counts in integers and, where it must, rounds down: a tie at half a pJ, a product beyond 64
    bits. A mapping that costs more than was counted is kept as an answer and left out of the program, which
    is solved again. If the first answer was exact, the mapping of equal value that is next in rank is
    returned.
    """
    from mapper.solver.cp_sat import run_cp_sat

    problem, instance = program.of.problem, program.of
    least = problem.bound()
    best = instance.reduction.incumbent
    rank = None if best is None else _rank(problem, best)

    def report(value: float | None, bound: float | None) -> None:
        known = least if bound is None else max(least, instance.real(bound))
        found = rank[0] if rank is not None else None if value is None else instance.real(value)
        effort.report(Progress(found, known if found is None else min(found, known), 0))

    met, bound = False, least
    for turn in range(MOST_ROUNDS):
        result = run_cp_sat(program.model, effort, report)
        if result.found:
            mapping = program.extract(result.value_of)
            if rank is None or _rank(problem, mapping) < rank:
                best, rank = mapping, _rank(problem, mapping)
        met = result.answer == "infeasible"
        if result.bound is not None:
            bound = max(least, instance.real(result.bound))
        if result.answer != "optimal" or rank is None:
            break
        met = bound >= rank[0] or math.isclose(bound, rank[0], rel_tol=SAME)
        if met and turn == 0:
            program.break_ties(result.value_of(program.minimised))
            tied = run_cp_sat(program.model, effort, lambda value, bound: None)
            if tied.found and _rank(problem, program.extract(tied.value_of)) < rank:
                best = program.extract(tied.value_of)
        if met:
            break
        program.leave_out(result.value_of)
        program.improve(rank[0])
    if best is None or rank is None:
        return Outcome(
            None, None, None if met else bound, result.stop, met and not restrictions, restrictions
        )
    if result.stop == "complete" and not met:
        restrictions = (*restrictions, COARSE)
    value = rank[0]
    bound = value if met else min(bound, value)
    return Outcome(best, value, bound, result.stop, met and not restrictions, restrictions)


def _rank(problem: TilingProblem, mapping: TilingMapping) -> tuple[float, ...]:
    return problem.rank(evaluate(problem.nest, problem.machine, mapping))


CONSTRAINT_PROGRAM: Method[TilingProblem, TilingMapping] = Method(
    "cp-sat", True, "a constraint program over tables of tiles, solved by CP-SAT", constraint_program
)
