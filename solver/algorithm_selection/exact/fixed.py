"""The best selection for an array of a given shape: one PBQP."""

from __future__ import annotations

from dataclasses import dataclass

from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.formulations.algorithm_selection.program.cost_graph import GraphBuilder
from mapper.formulations.algorithm_selection.referee.verify import verify
from mapper.models.algorithm_selection.mapping import Selection
from mapper.models.algorithm_selection.resource import slices
from mapper.solver.algorithm_selection.exact.elimination import eliminate, elimination_order
from mapper.solver.algorithm_selection.exact.joint import bounded
from mapper.solver.algorithm_selection.exact.product_search import least_product_bound
from mapper.solver.certificate import Stop
from mapper.solver.method import Effort
from mapper.solver.outcome import Outcome

Array = tuple[int, int]


@dataclass(frozen=True)
class Solved:
    """A selection and its latency in the machine's units."""

    selection: Selection
    units: int


def solve_at(problem: SelectionProblem, array: Array) -> Solved | None:
    """The least latency for one shape, None if pins leave a layer or a tensor no choice."""
    builder = GraphBuilder(problem)
    if builder.nothing_left is not None:
        return None
    graph = builder.graph_at(array)
    values, chosen = eliminate(graph, elimination_order(graph))
    return Solved(builder.selection(array, [int(one) for one in chosen[0]]), int(values[0]))


def floor(problem: SelectionProblem) -> int | float | None:
    """A lower bound of the objective over all shapes and selections; None if there is no selection at all."""
    builder = GraphBuilder(problem)
    if builder.nothing_left is not None:
        return None
    if problem.objective == "edp":
        return least_product_bound(builder)
    known = bounded(builder)
    if problem.objective == "dsps":
        assert problem.longest_units is not None
        dsps = slices(known.rows, known.columns, problem.machine)[known.bounds <= problem.longest_units]
        return int(dsps.min()) if len(dsps) else None
    if not len(known.bounds):
        return None
    return -(-int(known.bounds.min()) // problem.machine.units_per_cycle)


def outcome_of(
    problem: SelectionProblem,
    selection: Selection | None,
    effort: Effort,
    evaluations: int | None = None,
    restrictions: tuple[str, ...] = (),
) -> Outcome[Selection]:
    """The outcome of a heuristic: proven where its selection meets the bound, or where there can be none."""
    bound = floor(problem)
    if bound is None:
        return Outcome.infeasible()
    stop: Stop = effort.stopped() or "heuristic"
    verdict = None if selection is None else verify(problem, selection)
    if verdict is None or not verdict.valid or verdict.cost is None:
        return Outcome.bounded(None, None, bound, stop, restrictions=restrictions, evaluations=evaluations)
    value = problem.value(verdict.cost)
    if value == bound:
        return Outcome.ended(selection, value, value, "complete", proven=True, evaluations=evaluations)
    return Outcome.bounded(selection, value, bound, stop, restrictions=restrictions, evaluations=evaluations)
