"""The exact method that has CP-SAT find the tiles and the layout of a loop nest."""

from __future__ import annotations

from mapper.formulations.pe_allocation.nest.infeasible import why_nest_infeasible
from mapper.formulations.pe_allocation.nest.problem import NestProblem
from mapper.models.pe_allocation.nest.cost import evaluate
from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome
from mapper.solver.pe_allocation.nest.order import mapping_of


def search(problem: NestProblem, effort: Effort) -> Outcome[NestMapping]:
    """The mapping of fewest cycles, proven, or a proof that there is none."""
    from mapper.formulations.pe_allocation.program.nest.cp_sat import NestProgram, refusal
    from mapper.solver.cp_sat import run_cp_sat

    if why_nest_infeasible(problem) is not None:
        return Outcome.infeasible()
    too_large = refusal(problem)
    if too_large is not None:
        return Outcome.refused(too_large)
    program = NestProgram(problem)
    program.build()
    result = run_cp_sat(program.model, effort, lambda value, bound: None)
    bound = None if result.bound is None else round(result.bound)
    if not result.found:
        if result.answer == "infeasible":
            return Outcome.infeasible()
        return Outcome.unknown(result.stop, bound)
    axes, tile, order = program.extract(result.value_of)
    mapping = mapping_of(problem, axes, tile, order)
    value = evaluate(problem.nest, problem.grid, mapping).cycles
    proven = result.answer == "optimal" and value == bound
    return Outcome.ended(mapping, value, bound, result.stop, proven=proven)


CONSTRAINT_PROGRAM: Method[NestProblem, NestMapping] = Method(
    "cp-sat", True, "layout, tiles, order and starts as a constraint program, solved by CP-SAT", search
)
