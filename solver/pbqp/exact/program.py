"""The exact methods that hand PBQP to general solvers: CBC on the integer linear program, CP-SAT, and trying all.

CBC computes in floating point and proves nothing by itself: its claims of optimality or infeasibility are confirmed in
integers (reductions, elimination or branch and bound, which begin with its answer), or nothing is claimed. Its bounds
are not passed on. CP-SAT keeps its objective and its bound in integers.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from mapper.formulations.pbqp.infeasible import why_infeasible
from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.models.compiled import compiled
from mapper.models.pbqp.mapping import PbqpAssignment
from mapper.solver.certificate import Stop
from mapper.solver.method import Effort
from mapper.solver.outcome import Outcome
from mapper.solver.pbqp.exact.floating import searched
from mapper.solver.pbqp.exact.reduce_and_search import solved
from mapper.solver.pbqp.reduction.elimination_plan import Array
from mapper.workloads.pbqp.instance import Cost, PbqpInstance

MOST_PAIRS = 500_000
"""Costs of an instance that is still handed to a general solver."""
LARGEST_FOR_CBC, LARGEST_FOR_CP_SAT = 1 << 29, 1 << 50
"""Sums of costs up to which these solvers tell integers apart: CBC takes what is within 1e-9 of an integer for one,
which together may then be worth less than one; CP-SAT calls an assignment optimal that is 6 dearer than another where
costs are near 2^54."""
MOST_ASSIGNMENTS = 5_000_000
INTEGERS_ONLY = "this solver takes integer costs only"
UNCONFIRMED = "what CBC says, in floating point, was not confirmed in integers"
IMPOSSIBLE: Outcome[PbqpAssignment] = Outcome.infeasible()


def _refused(problem: PbqpProblem, largest_total: int, solver: str) -> Outcome[PbqpAssignment] | None:
    """What is answered at once: instances that do not suit ``solver``, and those seen to be infeasible."""
    given = problem.pinned
    if not given.exact:
        return Outcome.refused(INTEGERS_ONLY)
    if len(given.vertex_cost) + len(given.edge_cost) > MOST_PAIRS:
        return Outcome.refused(f"more than {MOST_PAIRS} costs are not tried")
    total = 0
    for costs, offset in ((given.vertex_cost, given.vertex_offset), (given.edge_cost, given.edge_offset)):
        if len(offset) > 1:
            sizes = np.where(costs == given.infinity, 0, np.abs(costs))
            total += int(np.maximum.reduceat(sizes, offset[:-1]).sum())
    if total > largest_total:
        said = f"{solver} compares sums in floating point: they may not exceed {largest_total}"
        return Outcome.refused(said)
    return IMPOSSIBLE if why_infeasible(problem) is not None else None


def integer_program(problem: PbqpProblem, effort: Effort) -> Outcome[PbqpAssignment]:
    """The local polytope with integer choices, solved by CBC; what it says is confirmed in integers."""
    refused = _refused(problem, LARGEST_FOR_CBC, "CBC")
    if refused is not None:
        return refused
    from mapper.formulations.pbqp.program.ilp import PbqpProgram
    from mapper.solver.cbc import run_cbc

    program = PbqpProgram(problem)
    program.build()
    start = effort.known(problem)
    if start is not None:
        program.model += program.model.objective <= start.value, "known"
    result = run_cbc(program.model, effort)
    assignment = program.extract(result.value_of) if result.found else None
    return _confirmed(problem.pinned, effort, assignment, result.stop)


def _confirmed(
    given: PbqpInstance, effort: Effort, assignment: PbqpAssignment | None, stop: Stop
) -> Outcome[PbqpAssignment]:
    """What may be said of the ``assignment`` (None: there is none) with which CBC ended by ``stop``."""
    value = None if assignment is None else given.value(assignment.choice)
    if value is None:
        assignment = None
    begun = None if assignment is None else np.array(assignment.choice)
    quiet = replace(effort, report=lambda progress: None)
    checked = solved(given, quiet, "auto", begun)
    bound = checked.bound if value is None else _below(checked.bound, value)
    if stop != "complete":
        return Outcome.bounded(assignment, value, bound, stop)
    if checked.proven and checked.value == value:
        return Outcome.ended(assignment, value, value, "complete", proven=True)
    stop = "heuristic" if checked.proven else checked.stop
    return Outcome.bounded(assignment, value, bound, stop, restrictions=(UNCONFIRMED,))


def constraint_program(problem: PbqpProblem, effort: Effort) -> Outcome[PbqpAssignment]:
    """The same choices and pairs as a constraint program, in integers throughout."""
    refused = _refused(problem, LARGEST_FOR_CP_SAT, "CP-SAT")
    if refused is not None:
        return refused
    from mapper.formulations.pbqp.program.cp_sat import PbqpConstraintProgram
    from mapper.solver.cp_sat import run_cp_sat

    program = PbqpConstraintProgram(problem)
    program.build()
    start = effort.known(problem)
    if start is not None:
        program.hint(start.mapping)
    result = run_cp_sat(program.model, effort, lambda value, bound: None)
    bound = None if result.bound is None else round(result.bound)
    if not result.found:
        return Outcome.ended(None, None, bound, result.stop, proven=result.answer == "infeasible")
    assignment = program.extract(result.value_of)
    value = problem.pinned.value(assignment.choice)
    proven = result.answer == "optimal"
    return Outcome.ended(assignment, value, _below(bound, value), result.stop, proven=proven)


def brute_force(problem: PbqpProblem, effort: Effort) -> Outcome[PbqpAssignment]:
    """Every assignment, in lexicographic order."""
    given = problem.pinned
    if problem.assignments > MOST_ASSIGNMENTS:
        return Outcome.refused(f"more than {MOST_ASSIGNMENTS} are not tried")
    start = effort.known(problem)
    begun = None if start is None else np.array(start.mapping.choice)
    return _tried(given, effort, begun) if given.exact else searched(given, effort, begun, _tried)


def _tried(given: PbqpInstance, effort: Effort, begun: Array | None) -> Outcome[PbqpAssignment]:
    """Every assignment of an instance of integers."""
    choice = np.zeros(given.vertices, np.int64)
    found = _try_all(
        given.vertex_offset, given.vertex_cost, given.edge_end, given.edge_offset, given.edge_cost, choice,
        given.infinity,
    )  # fmt: skip
    count = math.prod(given.choices.tolist())
    if not found:
        return Outcome.infeasible(evaluations=count)
    value = given.value(choice)
    return Outcome.optimal(PbqpAssignment(tuple(choice.tolist())), value, evaluations=count)


def _below(bound: Cost | None, value: Cost | None) -> Cost | None:
    return None if bound is None or value is None else min(bound, value)


def _try_all_choices(
    vertex_offset: Array, vertex_cost: Array, ends: Array, edge_offset: Array, edge_cost: Array, best: Array,
    infinite: Any,
) -> bool:  # fmt: skip
    """The first assignment of least cost into ``best``; whether one is finite."""
    vertices = len(best)
    choice = np.zeros(vertices, np.int64)
    least = infinite
    while True:
        cost = vertex_cost.dtype.type(0)
        closed = False
        for at in range(vertices):
            own = vertex_cost[vertex_offset[at] + choice[at]]
            closed = closed or own >= infinite
            if not closed:
                cost += own
        for edge in range(len(ends)):
            u, v = ends[edge, 0], ends[edge, 1]
            width = vertex_offset[v + 1] - vertex_offset[v]
            paid = edge_cost[edge_offset[edge] + choice[u] * width + choice[v]]
            closed = closed or paid >= infinite
            if not closed:
                cost += paid
        if not closed and cost < least:
            least = cost
            best[:] = choice
        at = vertices - 1
        while at >= 0:
            choice[at] += 1
            if choice[at] < vertex_offset[at + 1] - vertex_offset[at]:
                break
            choice[at] = 0
            at -= 1
        if at < 0:
            return bool(least < infinite)


_try_all = compiled(_try_all_choices)
