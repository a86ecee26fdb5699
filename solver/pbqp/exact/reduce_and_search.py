"""The exact searches: reduce, take the core apart, and solve each part by elimination or by branch and bound."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.models.limit import UnfinishedError
from mapper.models.pbqp.mapping import PbqpAssignment
from mapper.solver.certificate import Stop
from mapper.solver.method import Effort, Progress
from mapper.solver.outcome import Outcome
from mapper.solver.pbqp.exact.bound import incident_edges
from mapper.solver.pbqp.exact.branch_and_bound import branch_and_bound
from mapper.solver.pbqp.exact.decomposition import decomposed
from mapper.solver.pbqp.exact.floating import searched
from mapper.solver.pbqp.heuristic.descending import descend
from mapper.solver.pbqp.heuristic.fixing import fixing
from mapper.solver.pbqp.reduction.component import components
from mapper.solver.pbqp.reduction.elimination import Eliminated, eliminated, reduced
from mapper.solver.pbqp.reduction.elimination_order import small_width_order
from mapper.solver.pbqp.reduction.elimination_plan import Array, plan, size
from mapper.workloads.pbqp.instance import Cost, PbqpInstance

Strategy = Literal["auto", "elimination", "branch-and-bound"]
LARGEST_MEMORY = 2 << 30
"""Bytes that the tables of an elimination may take."""
MOST_WORK = 3e10
"""Additions beyond which branch and bound is tried instead, unless elimination is asked for."""
COST_BYTES, CHOICE_BYTES = 8, 4
LEAST_NODES, WORK_OF_NODES = 5, 1e7
"""Nodes of branch and bound before a decomposition is tried: costs that they move once, about."""
NOTHING = np.empty((0, 2), np.int64)


@dataclass(frozen=True)
class _Answer:
    """Of one part: its ``choice`` (None: none found), a ``bound``, how the search ended, whether it is final (best, or
    proven not to exist), nodes, and what was used."""

    choice: Array | None
    bound: Cost | None
    stop: Stop
    final: bool
    nodes: int
    method: str


def exact_search(strategy: Strategy) -> Callable[[PbqpProblem, Effort], Outcome[PbqpAssignment]]:
    """The search that solves what reductions leave by ``strategy``."""

    def search(problem: PbqpProblem, effort: Effort) -> Outcome[PbqpAssignment]:
        start = effort.known(problem)
        begun = None if start is None else np.array(start.mapping.choice)
        return solved(problem.pinned, effort, strategy, begun)

    return search


def solved(
    given: PbqpInstance, effort: Effort, strategy: Strategy, begun: Array | None
) -> Outcome[PbqpAssignment]:
    """The best assignment; ``begun``: one to begin with, which is finite."""
    if not given.exact:
        return searched(given, effort, begun, lambda lower, left, known: solved(lower, left, strategy, known))
    first = reduced(given, effort)
    if not isinstance(first, Eliminated):
        return _cut(given, effort, begun, first)
    if first.infeasible:
        return Outcome.infeasible(method="reduction")
    if first.core is None:
        return _proven(given, first.lift(np.empty(0, np.int64)), 0, "reduction")
    choice = np.zeros(first.core.vertices, np.int64)
    parts = components(first.core)
    # What one of several parts reaches says little of the whole.
    report = _shifted(effort.report, first.constant) if len(parts) == 1 else lambda progress: None
    heard = replace(effort, report=report)
    answers = []
    for part, vertices in parts:
        own = None if begun is None else begun[first.stays][vertices]
        answer = _part(part, heard, strategy, own)
        answers.append(answer)
        if answer.choice is not None:
            choice[vertices] = answer.choice
        elif answer.final:
            return Outcome.infeasible(method=f"reduction + {answer.method}")
        elif answer.stop == "heuristic":
            return Outcome.refused(answer.method)
    method = " + ".join(["reduction", *dict.fromkeys(answer.method for answer in answers)])
    nodes = sum(answer.nodes for answer in answers)
    stop: Stop = next((answer.stop for answer in answers if answer.stop != "complete"), "complete")
    if stop == "complete":
        return _proven(given, first.lift(choice), nodes, method)
    bounds = [answer.bound for answer in answers if answer.bound is not None]
    bound = first.constant + sum(bounds) if len(bounds) == len(answers) else None
    if any(answer.choice is None for answer in answers):
        return Outcome.unknown(stop, bound, evaluations=nodes, method=method)
    found = _proven(given, first.lift(choice), nodes, method)
    lower = None if bound is None or found.value is None else min(bound, found.value)
    return replace(found, bound=lower, stop=stop, proven=False)


def _cut(given: PbqpInstance, effort: Effort, begun: Array | None, stop: Stop) -> Outcome[PbqpAssignment]:
    """What can be had at once when the effort ended in the first reduction."""
    known, bound = _known(given, effort, begun)
    if bound == given.infinity:
        return Outcome.infeasible(method="reduction")
    if known is None:
        return Outcome.unknown(stop, bound)
    found = _proven(given, known, 0, "reduction")
    assert found.value is not None
    return replace(found, bound=min(bound, found.value), stop=stop, proven=False)


def _proven(given: PbqpInstance, choice: Array, nodes: int, method: str) -> Outcome[PbqpAssignment]:
    value = given.value(choice)
    return Outcome.optimal(PbqpAssignment(tuple(choice.tolist())), value, evaluations=nodes, method=method)


def _shifted(report: Callable[[Progress], None], constant: Cost) -> Callable[[Progress], None]:
    """Reports of the core as reports of the whole."""

    def shifted(progress: Progress) -> None:
        value, bound = (None if at is None else at + constant for at in (progress.value, progress.bound))
        report(Progress(value, bound, progress.evaluations))

    return shifted


def _part(part: PbqpInstance, effort: Effort, strategy: Strategy, begun: Array | None) -> _Answer:
    if strategy != "branch-and-bound":
        order, start, front = small_width_order(
            part.vertices, part.edge_end, part.choices, LARGEST_MEMORY / (COST_BYTES + CHOICE_BYTES)
        )
        made = plan(part, order, start, front)
        needed = size(part, made)
        memory = COST_BYTES * needed.stack + CHOICE_BYTES * needed.table.sum()
        fits = len(order) == part.vertices and memory <= LARGEST_MEMORY
        if fits and (strategy == "elimination" or needed.work.sum() <= MOST_WORK):
            found = eliminated(part, made, NOTHING, effort)
            if not isinstance(found, Eliminated):
                known, bound = _known(part, effort, begun)
                if bound == part.infinity:
                    return _Answer(None, None, "complete", True, 0, "elimination")
                return _Answer(known, bound, found, False, 0, "elimination")
            if found.infeasible:
                return _Answer(None, None, "complete", True, 0, "elimination")
            return _Answer(
                found.lift(np.empty(0, np.int64)), found.constant, "complete", True, 0, "elimination"
            )
        if strategy == "elimination":
            limit = f"{LARGEST_MEMORY >> 30} GiB"
            return _Answer(
                None, None, "heuristic", False, 0, f"elimination takes more than {limit} of tables"
            )
    known, bound = _known(part, effort, begun)
    if bound == part.infinity:
        return _Answer(None, None, "complete", True, 0, "branch-and-bound")
    if strategy == "auto":
        return _decomposed_or_searched(part, effort, known, bound)
    return _searched(part, effort, known, bound, math.inf)


def _searched(
    part: PbqpInstance, effort: Effort, known: Array | None, bound: Cost, most_nodes: float
) -> _Answer:
    """By branch and bound; ``bound`` is known."""
    result = branch_and_bound(part, known, effort, _raised(effort.report, bound), most_nodes)
    final = result.stop == "complete"
    least = result.bound if final else max(result.bound, bound)
    return _Answer(result.choice, least, result.stop, final, result.nodes, "branch-and-bound")


def _decomposed_or_searched(part: PbqpInstance, effort: Effort, known: Array | None, bound: Cost) -> _Answer:
    """By branch and bound if few nodes are enough, else by a decomposition, and branch and bound from what it found."""
    most = max(LEAST_NODES, WORK_OF_NODES / (len(part.edge_cost) + 1))
    first = _searched(part, effort, known, bound, most)
    if first.stop != "heuristic":
        return first
    assert first.bound is not None
    try:
        found = decomposed(part, first.choice, effort, _raised(effort.report, first.bound))
    except UnfinishedError:
        return replace(first, stop=effort.stopped() or "time_limit")
    if found.bound == part.infinity:
        return _Answer(None, None, "complete", True, first.nodes, "decomposition")
    value = None if found.choice is None else part.value(found.choice)
    least = max(first.bound, found.bound)
    if value is not None and least >= value:
        return _Answer(found.choice, value, "complete", True, first.nodes, "decomposition")
    last = _searched(part, effort, found.choice, least, math.inf)
    method = "branch-and-bound" if last.final else "decomposition + branch-and-bound"
    return replace(last, nodes=first.nodes + last.nodes, method=method)


def _raised(report: Callable[[Progress], None], bound: Cost) -> Callable[[Progress], None]:
    """Reports of a search of which a ``bound`` is known already."""

    def raised(progress: Progress) -> None:
        claims = [bound] if progress.bound is None else [bound, progress.bound]
        report(replace(progress, bound=max(claims)))

    return raised


def _known(part: PbqpInstance, effort: Effort, begun: Array | None) -> tuple[Array | None, Cost]:
    """Choices that can be had soon (at once when effort has ended) or with which it was ``begun``, whichever are better
    after a descent (None: none of finite cost is known), and a bound; infinite if there are none."""
    quick = fixing(part, effort)
    start, around = incident_edges(part.vertices, part.edge_end)
    best: Array | None = None
    least: Cost | None = None
    for choice in (quick.choice, begun):
        if choice is not None:
            own = choice.copy()
            descend(part, start, around, own)
            value = part.value(own)
            if value is not None and (least is None or value < least):
                best, least = own, value
    return best, quick.bound
