"""The order in which vertices are eliminated, and with which neighbours: a plan made from the graph alone.

Eliminating a vertex replaces its costs, its edges and the tables that hold it by one table over its neighbours, its
front. A vertex hangs below the member of its front that goes first; in postorder of that forest the tables a vertex
needs are the last that were made, so that they lie on a stack and memory stays near the largest of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mapper.models.compiled import compiled
from mapper.workloads.pbqp.instance import PbqpInstance

Array = NDArray[Any]


class Plan(NamedTuple):
    """Steps in postorder. ``vertex`` [S] that goes; ``front_start`` [S+1] into ``front``: its front, the member that
    goes first in front and those that stay at the end; ``below`` [S]: how many steps hang right below; ``edge_start``
    [S+1] into ``edge``: the edges of the instance that go with it; ``root`` [S]: its table stays."""

    vertex: Array
    front_start: Array
    front: Array
    below: Array
    edge_start: Array
    edge: Array
    root: Array


@dataclass(frozen=True)
class Size:
    """What a plan needs: ``table`` [S]: entries of each table (choices are found back by four bytes each),
    ``stack``: entries of the stack at its fullest, ``kept``: entries of the tables that stay, ``work`` [S]: additions.
    In floats, which do not wrap."""

    table: Array
    stack: float
    kept: float
    work: Array


def plan(problem: PbqpInstance, order: Array, front_start: Array, front: Array) -> Plan:
    """The plan that eliminates ``order``, whose i-th vertex has the front
    ``front[front_start[i]:front_start[i + 1]]``."""
    return Plan(*_plan(problem.vertices, problem.edge_end, order, front_start, front.copy()))


def size(problem: PbqpInstance, made: Plan) -> Size:
    """What the plan needs, without doing it."""
    return Size(*_size(problem.choices, made))


def _postorder(parent: Array, child: Array, sibling: Array) -> tuple[Array, Array]:
    """The steps of a forest in postorder, and how many hang right below each."""
    steps = len(parent)
    # Postorder without recursion: the first child is followed down, then the sibling.
    post = np.empty(steps, np.int64)
    below = np.zeros(steps, np.int64)
    count = 0
    for root in range(steps):
        if parent[root] != -1:
            continue
        at = root
        while child[at] != -1:
            at = child[at]
        while True:
            post[count] = at
            count += 1
            if at == root:
                break
            below[parent[at]] += 1
            if sibling[at] != -1:
                at = sibling[at]
                while child[at] != -1:
                    at = child[at]
            else:
                at = parent[at]
    return post, below


def _edges_of_steps(ends: Array, position: Array, rank: Array) -> tuple[Array, Array]:
    """The edges that go with each step, as starts and members; ``position`` [V] is the place of a vertex among those
    that go, ``rank`` [S] the step of that."""
    steps = len(rank)
    # An edge goes with the end that goes first.
    edge_start = np.zeros(steps + 1, np.int64)
    for edge in range(len(ends)):
        first = min(position[ends[edge, 0]], position[ends[edge, 1]])
        if first < steps:
            edge_start[rank[first] + 1] += 1
    for at in range(steps):
        edge_start[at + 1] += edge_start[at]
    edge_at = np.empty(edge_start[steps], np.int64)
    filled = edge_start[:-1].copy()
    for edge in range(len(ends)):
        first = min(position[ends[edge, 0]], position[ends[edge, 1]])
        if first < steps:
            owner = rank[first]
            edge_at[filled[owner]] = edge
            filled[owner] += 1
    return edge_start, edge_at


def _plan_steps(
    vertices: int, ends: Array, order: Array, front_start: Array, front: Array
) -> tuple[Array, Array, Array, Array, Array, Array, Array]:
    steps = len(order)
    position = np.empty(vertices, np.int64)
    for at in range(vertices):
        position[at] = steps + at
    for step in range(steps):
        position[order[step]] = step
    # Fronts by position: insertion sort, they are short.
    parent = np.full(steps, -1, np.int64)
    child = np.full(steps, -1, np.int64)
    sibling = np.full(steps, -1, np.int64)
    for step in range(steps - 1, -1, -1):
        low, high = front_start[step], front_start[step + 1]
        for at in range(low + 1, high):
            moved = front[at]
            back = at
            while back > low and position[front[back - 1]] > position[moved]:
                front[back] = front[back - 1]
                back -= 1
            front[back] = moved
        if high > low and position[front[low]] < steps:
            above = position[front[low]]
            parent[step] = above
            sibling[step] = child[above]
            child[above] = step
    post, below = postorder(parent, child, sibling)
    rank = np.empty(steps, np.int64)
    for at in range(steps):
        rank[post[at]] = at
    vertex = np.empty(steps, np.int64)
    start = np.zeros(steps + 1, np.int64)
    sorted_front = np.empty(len(front), np.int64)
    below_sorted = np.empty(steps, np.int64)
    root_sorted = np.zeros(steps, np.bool_)
    for at in range(steps):
        step = post[at]
        vertex[at] = order[step]
        below_sorted[at] = below[step]
        length = front_start[step + 1] - front_start[step]
        for offset in range(length):
            sorted_front[start[at] + offset] = front[front_start[step] + offset]
        start[at + 1] = start[at] + length
        root_sorted[at] = length > 0 and parent[step] == -1
    edge_start, edge_at = edges_of_steps(ends, position, rank)
    return vertex, start, sorted_front, below_sorted, edge_start, edge_at, root_sorted


def _plan_size(choices: Array, made: Plan) -> tuple[Array, float, float, Array]:
    steps = len(made.vertex)
    tables = np.empty(steps, np.float64)
    work = np.empty(steps, np.float64)
    held = np.empty(steps, np.float64)
    stack, fullest, kept = 0.0, 0.0, 0.0
    top = 0
    for step in range(steps):
        table = 1.0
        for at in range(made.front_start[step], made.front_start[step + 1]):
            table *= choices[made.front[at]]
        tables[step] = table
        work[step] = table * choices[made.vertex[step]]
        fullest = max(fullest, stack + table)
        for _ in range(made.below[step]):
            top -= 1
            stack -= held[top]
        if made.root[step]:
            kept += table
        elif made.front_start[step + 1] > made.front_start[step]:
            held[top] = table
            top += 1
            stack += table
    return tables, fullest, kept, work


postorder = compiled(_postorder)
edges_of_steps = compiled(_edges_of_steps)
_plan = compiled(_plan_steps)
_size = compiled(_plan_size)
