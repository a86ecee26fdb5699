"""Eliminating vertices in machine code: min-plus products of the tables that hold a vertex, and the way back.

A table over the front (x1, ..., xk) of v is the least, over the choices of v, of the sum of all costs that hold v. The
last member of the front is the innermost dimension of every table that has it, so that the inner loop runs over
adjacent numbers. Sums are cut at infinity after each addition of two costs; a sum of three is below 2^63.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mapper.models.compiled import compiled
from mapper.solver.pbqp.reduction.elimination_plan import Plan

Array = NDArray[Any]
TOP, TABLES, ROOT = 0, 1, 2
"""State between calls: entries on the stack, tables on it, entries of root tables."""


def _add(target: Array, at: int, cost: Any, infinite: Any, limit: Any) -> None:
    total = target[at] + cost
    target[at] = infinite if total > limit else total


def _least_of_one(
    own: Array, table: Array, start: int, stride: int, width: int, best: Array, arg: Array, infinite: Any
) -> None:
    """best[c] = min_v own[v] + table[start + v * stride + c], and the least v that reaches it."""
    first = np.uint64(start)
    step = np.uint64(stride)
    for c in range(width):
        best[c] = infinite
        arg[c] = 0
    for v in range(len(own)):
        pay = own[v]
        if pay < infinite:
            for c in range(width):
                total = pay + table[first + np.uint64(c)]
                if total < best[c]:
                    best[c] = total
                    arg[c] = v
        first += step


def _least_of_two(
    own: Array, table: Array, start: int, stride: int, other_start: int, other_stride: int, width: int,
    best: Array, arg: Array, infinite: Any,
) -> None:  # fmt: skip
    """The same over the sum of two tables."""
    first, second = np.uint64(start), np.uint64(other_start)
    step, other_step = np.uint64(stride), np.uint64(other_stride)
    for c in range(width):
        best[c] = infinite
        arg[c] = 0
    for v in range(len(own)):
        pay = own[v]
        if pay < infinite:
            for c in range(width):
                total = pay + table[first + np.uint64(c)] + table[second + np.uint64(c)]
                if total < best[c]:
                    best[c] = total
                    arg[c] = v
        first += step
        second += other_step


def _eliminate_steps(
    made: Plan, start: int, stop: int, choices: Array, vertex_offset: Array, vertex_cost: Array, ends: Array,
    edge_offset: Array, edge_cost: Array, infinite: Any, limit: Any, state: Array, constant: Array, stack: Array,
    place: Array, owner: Array, root_table: Array, arg_start: Array, arg: Array, where: Array,
) -> None:  # fmt: skip
    """Do the steps ``start`` to ``stop``. ``stack``: table entries, ``place`` and ``owner`` [S]: where each table on it
    starts and whose it is; ``constant`` [1] sums what no vertex is left for; ``arg`` from ``arg_start`` [S+1]: the
    choice of v after each entry; ``where`` [V]: scratch."""
    widest = 0
    pairs = 0
    deepest = 1
    for step in range(start, stop):
        own = choices[made.vertex[step]]
        deepest = max(deepest, made.front_start[step + 1] - made.front_start[step])
        together = 0
        for at in range(made.front_start[step], made.front_start[step + 1]):
            widest = max(widest, choices[made.front[at]])
            together += choices[made.front[at]]
        widest = max(widest, own)
        pairs = max(pairs, own * together)
    pair = np.empty(pairs, vertex_cost.dtype)
    pair_start = np.zeros(deepest + 1, np.int64)
    pair_used = np.zeros(deepest, np.bool_)
    own_buffer = np.empty(widest, vertex_cost.dtype)
    pay_buffer = np.empty(widest, vertex_cost.dtype)
    best_buffer = np.empty(widest, vertex_cost.dtype)
    arg_buffer = np.empty(widest, np.int64)
    digit = np.zeros(deepest, np.int64)
    # Tables over three vertices and more that hold v: their places and, for every front member, their strides.
    most_wide = 64
    wide_place = np.empty(most_wide, np.int64)
    wide_own = np.empty(most_wide, np.int64)
    wide_stride = np.zeros((most_wide, deepest), np.int64)
    for step in range(start, stop):
        vertex = made.vertex[step]
        mine = choices[vertex]
        low, high = made.front_start[step], made.front_start[step + 1]
        depth = high - low
        own = own_buffer[:mine]
        for v in range(mine):
            own[v] = vertex_cost[vertex_offset[vertex] + v]
        for i in range(depth):
            where[made.front[low + i]] = i
            pair_used[i] = False
            pair_start[i + 1] = pair_start[i] + mine * choices[made.front[low + i]]
        for at in range(made.edge_start[step], made.edge_start[step + 1]):
            edge = made.edge[at]
            turned = ends[edge, 0] != vertex
            i = where[ends[edge, 0] if turned else ends[edge, 1]]
            width = choices[made.front[low + i]]
            source, target = edge_offset[edge], pair_start[i]
            for v in range(mine):
                for c in range(width):
                    cost = edge_cost[source + (c * mine + v if turned else v * width + c)]
                    if pair_used[i]:
                        add(pair, target + v * width + c, cost, infinite, limit)
                    else:
                        pair[target + v * width + c] = cost
            pair_used[i] = True
        wide = 0
        top_before = state[TOP]
        bottom = top_before
        for _ in range(made.below[step]):
            state[TABLES] -= 1
            child = owner[state[TABLES]]
            table = place[state[TABLES]]
            bottom = table
            child_low = made.front_start[child]
            arity = made.front_start[child + 1] - child_low
            if arity == 1:
                for v in range(mine):
                    add(own, v, stack[table + v], infinite, limit)
            elif arity == 2:
                i = where[made.front[child_low + 1]]
                target = pair_start[i]
                for at in range(mine * choices[made.front[low + i]]):
                    if pair_used[i]:
                        add(pair, target + at, stack[table + at], infinite, limit)
                    else:
                        pair[target + at] = stack[table + at]
                pair_used[i] = True
            else:
                if wide == most_wide:
                    most_wide *= 2
                    wide_place = np.append(wide_place, wide_place)
                    wide_own = np.append(wide_own, wide_own)
                    longer = np.zeros((most_wide, deepest), np.int64)
                    longer[:wide] = wide_stride
                    wide_stride = longer
                for i in range(depth):
                    wide_stride[wide, i] = 0
                stride = 1
                for at in range(arity - 1, 0, -1):
                    member = made.front[child_low + at]
                    wide_stride[wide, where[member]] = stride
                    stride *= choices[member]
                wide_place[wide], wide_own[wide] = table, stride
                same = 0
                while same < wide:
                    equal = wide_own[same] == stride
                    for i in range(depth):
                        equal = equal and wide_stride[same, i] == wide_stride[wide, i]
                    if equal:
                        break
                    same += 1
                if same < wide:
                    target = wide_place[same]
                    for at in range(mine * stride):
                        add(stack, target + at, stack[table + at], infinite, limit)
                else:
                    wide += 1
        entry = arg_start[step]
        if depth == 0:
            least = 0
            for v in range(mine):
                if own[v] < own[least]:
                    least = v
            arg[entry] = least
            add(constant, 0, own[least], infinite, limit)
            state[TOP] = bottom
            continue
        last = depth - 1
        width = choices[made.front[low + last]]
        # Which tables hold the last member: two at most are read at once, the others are added to the second.
        with_last = 0
        first_wide, second_wide = -1, -1
        for w in range(wide):
            if wide_stride[w, last] != 0:
                with_last += 1
                if first_wide == -1:
                    first_wide = w
                elif second_wide == -1:
                    second_wide = w
        if pair_used[last] and first_wide != -1:
            # One product of the size of a child's table instead of one of the size of the whole.
            stride = wide_own[first_wide]
            for v in range(mine):
                for at in range(stride):
                    add(stack, wide_place[first_wide] + v * stride + at,
                        pair[pair_start[last] + v * width + at % width], infinite, limit)  # fmt: skip
        outer = 1
        for i in range(last):
            outer *= choices[made.front[low + i]]
            digit[i] = 0
        pay = pay_buffer[:mine]
        for index in range(outer):
            for v in range(mine):
                pay[v] = own[v]
            for i in range(last):
                if pair_used[i]:
                    across = choices[made.front[low + i]]
                    source = pair_start[i] + digit[i]
                    for v in range(mine):
                        add(pay, v, pair[source + v * across], infinite, limit)
            for w in range(wide):
                if wide_stride[w, last] == 0:
                    source = wide_place[w]
                    for i in range(last):
                        source += digit[i] * wide_stride[w, i]
                    for v in range(mine):
                        add(pay, v, stack[source + v * wide_own[w]], infinite, limit)
            if first_wide == -1:
                least_of_one(pay, pair, pair_start[last], width, width, best_buffer, arg_buffer, infinite)
            else:
                source = wide_place[first_wide]
                for i in range(last):
                    source += digit[i] * wide_stride[first_wide, i]
                if second_wide == -1:
                    least_of_one(
                        pay, stack, source, wide_own[first_wide], width, best_buffer, arg_buffer, infinite
                    )
                elif with_last == 2:
                    other = wide_place[second_wide]
                    for i in range(last):
                        other += digit[i] * wide_stride[second_wide, i]
                    least_of_two(
                        pay, stack, source, wide_own[first_wide], other, wide_own[second_wide], width,
                        best_buffer, arg_buffer, infinite,
                    )  # fmt: skip
                else:
                    for c in range(width):
                        best_buffer[c] = infinite
                        arg_buffer[c] = 0
                    for v in range(mine):
                        for c in range(width):
                            total = pay[v]
                            for w in range(wide):
                                if wide_stride[w, last] != 0:
                                    source = wide_place[w] + v * wide_own[w] + c
                                    for i in range(last):
                                        source += digit[i] * wide_stride[w, i]
                                    total += stack[source]
                                    if total > limit:
                                        total = infinite
                            if total < best_buffer[c]:
                                best_buffer[c] = total
                                arg_buffer[c] = v
            target = top_before + index * width
            for c in range(width):
                best = best_buffer[c]
                stack[target + c] = infinite if best > limit else best
                arg[entry + c] = arg_buffer[c]
            entry += width
            i = last - 1
            while i >= 0:
                digit[i] += 1
                if digit[i] < choices[made.front[low + i]]:
                    break
                digit[i] = 0
                i -= 1
        length = outer * width
        if made.root[step]:
            for at in range(length):
                root_table[state[ROOT] + at] = stack[top_before + at]
            state[ROOT] += length
            state[TOP] = bottom
        else:
            for at in range(length):
                stack[bottom + at] = stack[top_before + at]
            place[state[TABLES]] = bottom
            owner[state[TABLES]] = step
            state[TABLES] += 1
            state[TOP] = bottom + length


def _choose_back(made: Plan, choices: Array, arg_start: Array, arg: Array, choice: Array) -> None:
    """Fill in the choices of all vertices that went, from those that stay: the last to go is the first to choose."""
    for step in range(len(made.vertex) - 1, -1, -1):
        index = 0
        for at in range(made.front_start[step], made.front_start[step + 1]):
            member = made.front[at]
            index = index * choices[member] + choice[member]
        choice[made.vertex[step]] = arg[arg_start[step] + index]


add = compiled(_add)
least_of_one = compiled(_least_of_one)
least_of_two = compiled(_least_of_two)
eliminate_steps = compiled(_eliminate_steps, add=add, least_of_one=least_of_one, least_of_two=least_of_two)
choose_back = compiled(_choose_back)
