"""Heuristics for PBQP, which claim nothing: fixing at vertices of high degree, and descent from many starts."""

from __future__ import annotations

import numpy as np

from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.models.limit import UnfinishedError
from mapper.models.pbqp.mapping import PbqpAssignment
from mapper.solver.certificate import Stop
from mapper.solver.method import Effort, Progress
from mapper.solver.outcome import Outcome
from mapper.solver.pbqp.exact.bound import incident_edges
from mapper.solver.pbqp.exact.floating import lowered, own_least
from mapper.solver.pbqp.heuristic.descending import descend
from mapper.solver.pbqp.heuristic.fixing import fixing
from mapper.solver.pbqp.heuristic.refitting import refitted
from mapper.solver.pbqp.reduction.elimination_plan import Array
from mapper.workloads.pbqp.instance import Cost, PbqpInstance

REFITS = 12
ROUNDS = 200
WORK = 2e9
"""Costs that descent looks up in all its rounds, about."""
CHANGED = 0.05
"""Share of the vertices that get a random choice before the next descent."""


def fix_and_reduce(problem: PbqpProblem, effort: Effort) -> Outcome[PbqpAssignment]:
    """Reductions where they apply, fixing where none does; then a descent, and rounds of choosing again what lies
    between vertices that keep their choices, seeded, where no reduction took everything. Better choices that are known
    take the place of those of the descent."""
    given, known = problem.pinned, _begun(problem, effort)
    if given.exact:
        return _fixed(given, effort, known)
    lower = lowered(given, own_least(given) if known is None else known)
    found = _fixed(lower.instance, effort, known)
    if found.mapping is None or found.bound is None:
        return found
    choice = np.array(found.mapping.choice)
    return _outcome(given, choice, lower.cost(int(found.bound)), found.stop, found.evaluations or 0)


def _fixed(given: PbqpInstance, effort: Effort, known: Array | None) -> Outcome[PbqpAssignment]:
    """The same for an instance of integers."""
    found = fixing(given, effort)
    if found.choice is None:
        return Outcome.unknown(effort.stopped() or "heuristic")
    choice = found.choice.copy()
    start, around = incident_edges(given.vertices, given.edge_end)
    descend(given, start, around, choice)
    if known is not None and _rank(given, known) < _rank(given, choice):
        choice = known
    if given.value(choice) is None:
        return _outcome(given, choice, found.bound, effort.stopped() or "heuristic", 1)
    generator = np.random.default_rng(effort.seed)
    done = 1
    while done <= REFITS and given.value(choice) != found.bound and effort.stopped() is None:
        choice = refitted(given, choice, generator)
        done += 1
    return _outcome(given, choice, found.bound, effort.stopped() or "heuristic", done)


def descent(problem: PbqpProblem, effort: Effort) -> Outcome[PbqpAssignment]:
    """Every vertex takes its best choice given its neighbours until none changes, at first from what is known if
    something is; a share is shaken and it goes on from the best, seeded. An infinite cost counts as one more than all
    finite ones, so that it is left if it can be."""
    given = problem.pinned
    generator = np.random.default_rng(effort.seed)
    start, around = incident_edges(given.vertices, given.edge_end)
    best = _begun(problem, effort)
    if best is None:
        best = own_least(given)
    descend(given, start, around, best)
    best_rank = _rank(given, best)
    stop: Stop = "heuristic"
    per_round = 4.0 * len(given.vertex_cost) + 4.0 * float(given.choices[given.edge_end].sum()) + 1.0
    rounds = int(max(1, min(ROUNDS, WORK / per_round)))
    done = 0
    while done < rounds:
        ended = effort.stopped()
        if ended is not None:
            stop = ended
            break
        choice = best.copy()
        count = max(1, int(CHANGED * given.vertices))
        moved = generator.integers(0, given.vertices, count)
        choice[moved] = generator.integers(0, given.choices[moved])
        descend(given, start, around, choice)
        rank = _rank(given, choice)
        done += 1
        if rank <= best_rank:
            if rank < best_rank:
                effort.report(Progress(given.value(choice), None, done))
            best, best_rank = choice, rank
    if best_rank[0]:
        return Outcome.unknown(stop, evaluations=done)
    return _outcome(given, best, None, stop, done)


def descend_once(problem: PbqpProblem, effort: Effort) -> Outcome[PbqpAssignment]:
    """The least choice of every vertex by itself, and a descent from there if it ends: there in milliseconds."""
    given = problem.pinned
    choice = own_least(given)
    try:
        start, around = incident_edges(given.vertices, given.edge_end)
        descend(given, start, around, choice)
    except UnfinishedError:
        pass
    return _outcome(given, choice, None, "heuristic", 1)


def _begun(problem: PbqpProblem, effort: Effort) -> Array | None:
    start = effort.known(problem)
    return None if start is None else np.array(start.mapping.choice)


def _outcome(
    given: PbqpInstance, choice: Array, bound: Cost | None, stop: Stop, evaluations: int
) -> Outcome[PbqpAssignment]:
    value = given.value(choice)
    if value is None:
        return Outcome.unknown(stop, bound, evaluations=evaluations)
    lower = None if bound is None else min(bound, value)
    return Outcome.bounded(
        PbqpAssignment(tuple(choice.tolist())), value, lower, stop, evaluations=evaluations
    )


def _rank(given: PbqpInstance, choice: Array) -> tuple[int, Cost]:
    """How many infinite costs are paid, then the sum of the others."""
    own = given.vertex_cost[given.vertex_offset[:-1] + choice]
    u, v = given.edge_end[:, 0], given.edge_end[:, 1]
    paid = given.edge_cost[given.edge_offset[:-1] + choice[u] * given.choices[v] + choice[v]]
    infinite = int(np.count_nonzero(own == given.infinity) + np.count_nonzero(paid == given.infinity))
    finite = own[own != given.infinity].sum() + paid[paid != given.infinity].sum()
    return infinite, finite.item()
