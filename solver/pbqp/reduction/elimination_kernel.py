"""Eliminating vertices in machine code: the costs that hold a vertex are gathered, its table takes their place, and the
way back."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mapper.models.compiled import borrowing, compiled, inlined
from mapper.solver.pbqp.reduction.cost_array import CostArrays
from mapper.solver.pbqp.reduction.elimination_plan import Plan
from mapper.solver.pbqp.reduction.elimination_table import (
    DIGIT,
    ENTRIES,
    PAIR,
    PAIRED,
    PLACE,
    STRIDE,
    WIDTH,
    Scratch,
    add,
    fill_table,
)

Array = NDArray[Any]
TOP, TABLES, ROOT = 0, 1, 2
"""State between calls: entries on the stack, tables on it, entries of root tables."""


class Work(NamedTuple):
    """What lasts from call to call. ``state`` [3]; ``stack``: table entries, ``place`` and ``owner`` [S]: where each
    table on it starts and whose it is; ``constant`` [1] sums what no vertex is left for; ``kept``: the tables that
    stay; ``arg`` from ``arg_start`` [S+1]: the choice of v for each entry of its table; ``where`` [V]: the place of a
    vertex in the front of the step."""

    state: Array
    stack: Array
    place: Array
    owner: Array
    constant: Array
    kept: Array
    arg_start: Array
    arg: Array
    where: Array


def _room(made: Plan, choices: Array) -> tuple[int, int, int, int]:
    """For the largest of the steps: choices of one vertex, pairs of the vertex's choices with those of its front, and
    members of a front; the most steps that hang below one."""
    widest, pairs, deepest, most_below = 0, 0, 1, 1
    for step in range(len(made.vertex)):
        mine = choices[made.vertex[step]]
        deepest = max(deepest, made.front_start[step + 1] - made.front_start[step])
        most_below = max(most_below, made.below[step])
        together = 0
        for at in range(made.front_start[step], made.front_start[step + 1]):
            widest = max(widest, choices[made.front[at]])
            together += choices[made.front[at]]
        widest = max(widest, mine)
        pairs = max(pairs, mine * together)
    return widest, pairs, deepest, most_below


def scratch(made: Plan, costs: CostArrays) -> Scratch:
    """Room for each of the steps."""
    widest, pairs, deepest, most_below = room(made, costs.choices)
    kind = costs.vertex_cost.dtype
    return Scratch(
        own=np.empty(widest, kind),
        pay=np.empty(widest, kind),
        best=np.empty(widest, kind),
        arg=np.empty(widest, np.int64),
        pair=np.empty(pairs, kind),
        member=np.empty((deepest, 4), np.int64),
        wide=np.empty((most_below, STRIDE + deepest), np.int64),
    )


def _gather_edges(made: Plan, costs: CostArrays, where: Array, r: Scratch, step: int) -> None:
    """The vertex's own costs into ``own``, those of its edges into ``pair``; parallel edges are added."""
    choices, ends, edge_cost, infinite, limit = (
        costs.choices, costs.ends, costs.edge_cost, costs.infinite, costs.limit
    )  # fmt: skip
    own, pair, member = r.own, r.pair, r.member
    vertex, low = made.vertex[step], made.front_start[step]
    mine = choices[vertex]
    for v in range(mine):
        own[v] = costs.vertex_cost[costs.vertex_offset[vertex] + v]
    start = 0
    for i in range(made.front_start[step + 1] - low):
        at = made.front[low + i]
        where[at] = i
        member[i, PAIR], member[i, PAIRED], member[i, WIDTH], member[i, DIGIT] = start, 0, choices[at], 0
        start += mine * choices[at]
    for at in range(made.edge_start[step], made.edge_start[step + 1]):
        edge = made.edge[at]
        turned = ends[edge, 0] != vertex
        i = where[ends[edge, 0] if turned else ends[edge, 1]]
        width, paired = member[i, WIDTH], member[i, PAIRED] != 0
        source, target = costs.edge_offset[edge], member[i, PAIR]
        for v in range(mine):
            for c in range(width):
                cost = edge_cost[source + (c * mine + v if turned else v * width + c)]
                if paired:
                    add(pair, target + v * width + c, cost, infinite, limit)
                else:
                    pair[target + v * width + c] = cost
        member[i, PAIRED] = 1


def _gather_table(
    own: Array, pair: Array, member: Array, stack: Array, table: int, i: int, infinite: Any, limit: Any
) -> None:
    """Add a table over the vertex alone (``i`` is -1) to ``own``, one over it and the i-th member to ``pair``."""
    if i < 0:
        for v in range(len(own)):
            add(own, v, stack[table + v], infinite, limit)
        return
    target, paired = member[i, PAIR], member[i, PAIRED] != 0
    for at in range(len(own) * member[i, WIDTH]):
        if paired:
            add(pair, target + at, stack[table + at], infinite, limit)
        else:
            pair[target + at] = stack[table + at]
    member[i, PAIRED] = 1


def _gather_wide(
    stack: Array, wide: Array, count: int, front: Array, where: Array, choices: Array, table: int, mine: int,
    infinite: Any, limit: Any,
) -> int:  # fmt: skip
    """Note a table over the vertex and several members, ``front``, in ``wide`` behind the ``count`` that are there, or
    add it to one of these over the same vertices; how many there are then."""
    for i in range(STRIDE, wide.shape[1]):
        wide[count, i] = 0
    stride = 1
    for at in range(len(front) - 1, -1, -1):
        wide[count, STRIDE + where[front[at]]] = stride
        stride *= choices[front[at]]
    wide[count, PLACE], wide[count, ENTRIES] = table, stride
    for other in range(count):
        equal = True
        for i in range(ENTRIES, wide.shape[1]):
            equal = equal and wide[other, i] == wide[count, i]
        if equal:
            for at in range(mine * stride):
                add(stack, wide[other, PLACE] + at, stack[table + at], infinite, limit)
            return count
    return count + 1


def _gather_tables(made: Plan, costs: CostArrays, w: Work, r: Scratch, step: int) -> int:
    """Take the tables that hold the vertex off the stack: those over at most one member are added to ``own`` and
    ``pair``, the others are noted in ``wide``. How many of these there are."""
    mine = costs.choices[made.vertex[step]]
    depth = made.front_start[step + 1] - made.front_start[step]
    count = 0
    for _ in range(made.below[step]):
        w.state[TABLES] -= 1
        child, table = w.owner[w.state[TABLES]], w.place[w.state[TABLES]]
        # The vertex itself is the first of the front.
        others = made.front[made.front_start[child] + 1 : made.front_start[child + 1]]
        if len(others) < 2:
            i = w.where[others[0]] if len(others) == 1 else -1
            gather_table(r.own[:mine], r.pair, r.member, w.stack, table, i, costs.infinite, costs.limit)
        else:
            count = gather_wide(
                w.stack, r.wide[:, : STRIDE + depth], count, others, w.where, costs.choices, table, mine,
                costs.infinite, costs.limit,
            )  # fmt: skip
    return count


def _keep_table(w: Work, step: int, source: int, length: int, root: bool) -> None:
    """Move the new table from ``source`` to the end of the stack, or to those that stay."""
    state, stack, kept = w.state, w.stack, w.kept
    top, end = state[TOP], state[ROOT]
    if root:
        for at in range(length):
            kept[end + at] = stack[source + at]
        state[ROOT] = end + length
    else:
        for at in range(length):
            stack[top + at] = stack[source + at]
        w.place[state[TABLES]], w.owner[state[TABLES]] = top, step
        state[TABLES] += 1
        state[TOP] = top + length


def _settle(own: Array) -> int:
    """The cheapest choice of a vertex without front."""
    choice = 0
    for v in range(len(own)):
        if own[v] < own[choice]:
            choice = v
    return choice


def _eliminate_steps(made: Plan, costs: CostArrays, w: Work, r: Scratch, start: int, stop: int) -> None:
    """Do the steps ``start`` to ``stop``."""
    for step in range(start, stop):
        gather_edges(made, costs, w.where, r, step)
        count = gather_tables(made, costs, w, r, step)
        # The new table is made behind those it is made of; then it takes their place.
        top = w.state[TOP]
        if made.below[step] > 0:
            w.state[TOP] = w.place[w.state[TABLES]]
        own, entry = r.own[: costs.choices[made.vertex[step]]], w.arg_start[step]
        depth = made.front_start[step + 1] - made.front_start[step]
        if depth == 0:
            w.arg[entry] = settle(own)
            add(w.constant, 0, own[w.arg[entry]], costs.infinite, costs.limit)
        else:
            length = fill_table(
                own, r, r.member[:depth], r.wide[:count, : STRIDE + depth], w.stack, top, w.arg, entry,
                costs.infinite, costs.limit,
            )  # fmt: skip
            keep_table(w, step, top, length, made.root[step])


def _choose_back(made: Plan, choices: Array, arg_start: Array, arg: Array, choice: Array) -> None:
    """Fill in the choices of all vertices that went, from those that stay: the last to go is the first to choose."""
    for step in range(len(made.vertex) - 1, -1, -1):
        index = 0
        for at in range(made.front_start[step], made.front_start[step + 1]):
            member = made.front[at]
            index = index * choices[member] + choice[member]
        choice[made.vertex[step]] = arg[arg_start[step] + index]


room = compiled(_room)
gather_edges = inlined(_gather_edges)
gather_table = inlined(_gather_table)
gather_wide = inlined(_gather_wide)
gather_tables = inlined(_gather_tables)
keep_table = inlined(_keep_table)
settle = inlined(_settle)
eliminate_steps = borrowing(_eliminate_steps)
choose_back = compiled(_choose_back)
