"""Branch and bound with reductions inside: exact where tables over many vertices do not fit the memory.

A node is an instance. It is reduced, its costs are moved to bound it, choices that cannot beat the best known answer
are removed, and the rest branches on the choices of one vertex, cheapest first and depth first. The search's bound is
the least of its open nodes, so it holds whenever the search ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from mapper.models.limit import UnfinishedError
from mapper.solver.certificate import Stop
from mapper.solver.method import Effort, Progress
from mapper.solver.pbqp.exact.bound import bounded
from mapper.solver.pbqp.reduction.elimination import Eliminated, reduced
from mapper.solver.pbqp.reduction.elimination_plan import Array
from mapper.solver.pbqp.reduction.restriction import restricted
from mapper.workloads.pbqp.instance import Cost, PbqpInstance

Lift = Callable[[Array], Array]
FIRST_PASSES, LEAST_PASSES, PASSES = 60, 4, 8
WORK_OF_FIRST = 2e8
"""Costs that the first bound moves, about: it is computed in one go."""


@dataclass(frozen=True)
class Search:
    """The best ``choice`` of all vertices (None: none is known) with its ``value``, the ``bound``, why it ended, and
    how many nodes it saw."""

    choice: Array | None
    value: Cost | None
    bound: Cost
    stop: Stop
    nodes: int


@dataclass
class _Open:
    """A node whose children are not all seen: its instance less ``constant``, how to get back from it, and the choices
    of ``vertex`` with the bounds of their children, the least first."""

    given: PbqpInstance
    constant: Cost
    lifts: tuple[Lift, ...]
    vertex: int
    children: list[tuple[Cost, int]]


def branch_and_bound(
    given: PbqpInstance,
    known: Array | None,
    effort: Effort,
    report: Callable[[Progress], None],
    most_nodes: float = math.inf,
) -> Search:
    """The least cost of ``given``, starting from the choices ``known``; after ``most_nodes`` it ends as a heuristic.
    What is stopped at once has no bound but the least of all numbers."""
    value = given.infinity if known is None else given.value(known)
    best: Cost = given.infinity if value is None else value
    choice = known if value is not None else None
    nodes, stop = 1, effort.stopped()
    nothing = Search(choice, None if choice is None else best, -given.largest_finite, stop or "time_limit", 0)
    if stop is not None:
        return nothing
    passes = int(min(FIRST_PASSES, max(LEAST_PASSES, WORK_OF_FIRST // (len(given.edge_cost) + 1))))
    try:
        root = _node(given, 0, (), best, passes)
    except UnfinishedError:
        return replace(nothing, stop=effort.stopped() or "time_limit")
    stack: list[_Open] = []
    if isinstance(root, _Open):
        stack.append(root)
    elif root is not None:
        best, choice = root
    bound = best
    while stack:
        stop = effort.stopped() or ("heuristic" if nodes >= most_nodes else None)
        if stop is not None:
            break
        top = stack[-1]
        if not top.children or top.children[0][0] >= best:
            stack.pop()
            continue
        opened = top.children.pop(0)
        taken = opened[1]
        nodes += 1
        keep = np.ones(len(top.given.vertex_cost), np.bool_)
        low, high = top.given.vertex_offset[top.vertex], top.given.vertex_offset[top.vertex + 1]
        keep[low:high] = False
        keep[low + taken] = True
        try:
            part = restricted(top.given, keep)
            if part.constant == given.infinity:
                continue
            constant, lifts = top.constant + part.constant, (*top.lifts, part.lift)
            found = _node(part.rest, constant, lifts, best, PASSES)
        except UnfinishedError:
            # The node is as open as before.
            top.children.insert(0, opened)
            stop = effort.stopped()
            break
        if isinstance(found, _Open):
            stack.append(found)
        elif found is not None:
            best, choice = found
            report(Progress(best, _least_open(stack, best), nodes))
    bound = _least_open(stack, best)
    return Search(choice, None if choice is None else best, bound, stop or "complete", nodes)


def _least_open(stack: list[_Open], best: Cost) -> Cost:
    """No assignment costs less: those of open nodes by their bounds, and the best one itself."""
    return min([best, *(node.children[0][0] for node in stack if node.children)])


def _node(
    given: PbqpInstance | None, constant: Cost, lifts: tuple[Lift, ...], best: Cost, passes: int
) -> _Open | tuple[Cost, Array] | None:
    """What is left to decide of an instance, or its answer, or None if it has none below ``best``."""
    while given is not None:
        smaller = reduced(given, Effort())
        assert isinstance(smaller, Eliminated), "an effort without limits is never stopped"
        if smaller.infeasible:
            return None
        # No bound yet while something is left: what is left may cost less than nothing.
        constant, lifts = constant + smaller.constant, (*lifts, smaller.lift)
        if smaller.core is None:
            break
        moved = bounded(smaller.core, passes)
        if moved.bound == given.infinity or constant + moved.bound >= best:
            return None
        constant += moved.bound
        core = moved.moved
        keep = (moved.least < given.infinity) & (constant + moved.least < best)
        if not np.logical_or.reduceat(keep, core.vertex_offset[:-1]).all():
            return None
        if keep.all():
            return _branching(core, constant, lifts, moved.least)
        part = restricted(core, keep)
        if part.constant == given.infinity:
            return None
        constant, lifts, given = constant + part.constant, (*lifts, part.lift), part.rest
    if constant >= best:
        return None
    choice = np.empty(0, np.int64)
    for lift in reversed(lifts):
        choice = lift(choice)
    return constant, choice


def _branching(core: PbqpInstance, constant: Cost, lifts: tuple[Lift, ...], least: Array) -> _Open:
    """Branch where all choices but the best add most, weighed with the edges that go; ties to the first vertex."""
    degree = np.bincount(core.edge_end.reshape(-1), minlength=core.vertices)
    start = core.vertex_offset[:-1]
    total = np.add.reduceat(least.astype(np.float64), start) / core.choices
    vertex = int(np.argmax((total + 1.0) * degree))
    own = least[core.vertex_offset[vertex] : core.vertex_offset[vertex + 1]].tolist()
    children = sorted((constant + cost, choice) for choice, cost in enumerate(own))
    return _Open(core, constant, lifts, vertex, children)
