"""Why a problem has no selection, in a sentence."""

from __future__ import annotations

from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.formulations.algorithm_selection.program.cost_graph import GraphBuilder


def why_infeasible(problem: SelectionProblem) -> str:
    """The first reason why a problem that is proven to have no selection has none: a layer or a tensor that pins leave
    no choice, a shape that is not allowed, or a time that no shape can keep."""
    name = GraphBuilder(problem).nothing_left
    if name is not None:
        return f"{name} has no choice that its pins allow and that can compute it"
    if problem.array is not None and not problem.allows(problem.array):
        rows, columns = problem.array
        return f"an array of {rows} x {columns} is too large (at most {problem.most_pes} PEs)"
    if problem.longest_units is None:
        return "no array fits the available block memories"
    milliseconds = problem.longest_units / problem.machine.units_per_cycle / problem.machine.clock_hz * 1e3
    return f"no array of {problem.most_pes} PEs or fewer takes {milliseconds:.6g} ms or less"
