"""The exact method that states tiling as a constraint program and has CP-SAT solve it."""

from __future__ import annotations

import math

from mapper.formulations.tiling.problem import TilingProblem
from mapper.models.tiling.evaluation import evaluate
from mapper.models.tiling.mapping import TilingMapping
from mapper.solver.method import Effort, Method, Outcome, Progress

MOST_TILES = 1 << 20
BACKWARD = "loops along which a dependence runs backwards are kept whole in the register files"


COARSE = "energies are counted in steps that leave the value a bound"
SAME = 1e-12
"""Values of machines that do not round differ by floating-point noise from the program's integers."""


class _Stopped(Exception):
    """The effort ended while the tables were made."""


def constraint_program(problem: TilingProblem, effort: Effort) -> Outcome[TilingMapping]:
    """Find the least objective over the whole space and prove it.

    The bound is the least floor of the tables until CP-SAT has a better one. Of mappings of equal value the
    one that is next in rank is returned if there is time left.
    """
    from mapper.formulations.tiling.program import TilingProgram
    from mapper.formulations.tiling.program_instance import TilingInstance
    from mapper.formulations.tiling.program_lattice import Lattice
    from mapper.formulations.tiling.program_reduction import reduce_tables
    from mapper.formulations.tiling.program_scratch_pad import backward_loops
    from mapper.formulations.tiling.program_table import TilingTables
    from mapper.solver.cp_sat import run_cp_sat

    def proceed() -> None:
        if effort.stopped() is not None:
            raise _Stopped

    restrictions = (BACKWARD,) if backward_loops(problem) else ()
    least = problem.bound()
    if Lattice.of(problem.nest).size > MOST_TILES:
        return Outcome(None, None, least, "complete", False, ("the nest has too many tiles to tabulate",))
    try:
        tables = TilingTables.of(problem, proceed)
        reduction = reduce_tables(tables, proceed)
    except _Stopped:
        return Outcome(None, None, least, effort.stopped() or "time_limit", False, restrictions)
    instance = TilingInstance.of(tables, reduction)
    program = TilingProgram(instance)
    program.build()
    program.hint()

    def report(value: float | None, bound: float | None) -> None:
        best = reduction.value if value is None else instance.real(value)
        known = least if bound is None else max(least, instance.real(bound))
        effort.report(Progress(best, known if best is None else min(best, known), 0))

    result = run_cp_sat(program.model, effort, report)
    if result.answer == "infeasible":
        return Outcome(None, None, None, "complete", not restrictions, restrictions)
    mapping = program.extract(result.value_of) if result.found else reduction.incumbent
    bound = max(least, instance.real(result.bound or 0))
    if mapping is None:
        return Outcome(None, None, bound, result.stop, False, restrictions)
    if result.answer == "optimal":
        program.break_ties(result.value_of(program.minimised))
        tied = run_cp_sat(program.model, effort, lambda value, bound: None)
        mapping = program.extract(tied.value_of) if tied.found else mapping
    value = problem.value(evaluate(problem.nest, problem.machine, mapping))
    met = result.answer == "optimal" and instance.exact and math.isclose(bound, value, rel_tol=SAME)
    if not instance.exact:
        restrictions = (*restrictions, COARSE)
    proven = met and not restrictions
    return Outcome(mapping, value, value if met else min(bound, value), result.stop, proven, restrictions)


CONSTRAINT_PROGRAM: Method[TilingProblem, TilingMapping] = Method(
    "cp-sat", True, "a constraint program over tables of tiles, solved by CP-SAT", constraint_program
)
