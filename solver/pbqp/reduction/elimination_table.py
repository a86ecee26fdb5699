"""The table of a vertex over its front, in machine code: min-plus products of the tables that hold the vertex.

A table over the front (x1, ..., xk) of v is the least, over the choices of v, of the sum of all costs that hold v. The
last member of the front is the innermost dimension of every table that has it, so that the inner loop runs over
adjacent numbers. Sums are cut at infinity after each addition of two costs; a sum of three is below 2^63.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mapper.models.compiled import compiled, inlined

Array = NDArray[Any]
# Columns of a member of the front: where its costs with the vertex start, whether there are any, how many choices it
# has, and which of them the row of the vertex's table has that is being made.
PAIR, PAIRED, WIDTH, DIGIT = range(4)
# Columns of a table over three vertices and more: where it starts, its entries for each choice of the vertex, and from
# there on its stride for every member of the front (0: it does not hold that).
PLACE, ENTRIES, STRIDE = range(3)


class Scratch(NamedTuple):
    """Room for one step. ``own``, ``pay``: costs of the vertex's choices, without and with those of a row's members;
    ``best``, ``arg``: the least cost and the vertex's choice for each choice of the last member; ``pair``: costs of the
    vertex with one member; ``member`` [front][4] and ``wide`` [tables][2 + front]: columns as above."""

    own: Array
    pay: Array
    best: Array
    arg: Array
    pair: Array
    member: Array
    wide: Array


class Readers(NamedTuple):
    """The wide tables that hold the last member of the front: the first, the second (-1: none), and how many."""

    first: int
    second: int
    many: int


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


def _read_last(
    stack: Array, pair: Array, member: Array, wide: Array, mine: int, infinite: Any, limit: Any
) -> Readers:
    """Which tables hold the last member of the front: two at most are read at once. What the vertex pays with that
    member alone is added to the first: one product of the size of a child's table instead of one of the whole."""
    first, second, count = -1, -1, 0
    last = len(member) - 1
    for w in range(len(wide)):
        if wide[w, STRIDE + last] != 0:
            count += 1
            if first == -1:
                first = w
            elif second == -1:
                second = w
    if member[last, PAIRED] != 0 and first != -1:
        stride, width = wide[first, ENTRIES], member[last, WIDTH]
        source, target = member[last, PAIR], wide[first, PLACE]
        for v in range(mine):
            for at in range(stride):
                add(stack, target + v * stride + at, pair[source + v * width + at % width], infinite, limit)
    return Readers(first, second, count)


def _row_of(wide: Array, table: int, member: Array) -> int:
    """Where a wide table has what the members before the last choose, with the first choice of all others."""
    start: int = wide[table, PLACE]
    for i in range(len(member) - 1):
        start += member[i, DIGIT] * wide[table, STRIDE + i]
    return start


def _pay_for_row(
    own: Array, pair: Array, member: Array, stack: Array, wide: Array, pay: Array, infinite: Any, limit: Any
) -> None:
    """What each choice of the vertex pays without the last member, into ``pay``."""
    last = len(member) - 1
    for v in range(len(own)):
        pay[v] = own[v]
    for i in range(last):
        if member[i, PAIRED] != 0:
            across = member[i, WIDTH]
            source = member[i, PAIR] + member[i, DIGIT]
            for v in range(len(own)):
                add(pay, v, pair[source + v * across], infinite, limit)
    for w in range(len(wide)):
        if wide[w, STRIDE + last] == 0:
            source, entries = row_of(wide, w, member), wide[w, ENTRIES]
            for v in range(len(own)):
                add(pay, v, stack[source + v * entries], infinite, limit)


def _least_of_many(
    pay: Array, stack: Array, member: Array, wide: Array, best: Array, arg: Array, infinite: Any, limit: Any
) -> None:
    """The same as `_least_of_one` over the sum of all tables that hold the last member."""
    last = len(member) - 1
    for c in range(member[last, WIDTH]):
        best[c] = infinite
        arg[c] = 0
        for v in range(len(pay)):
            total = pay[v]
            for w in range(len(wide)):
                if wide[w, STRIDE + last] != 0:
                    total += stack[row_of(wide, w, member) + v * wide[w, ENTRIES] + c]
                    if total > limit:
                        total = infinite
            if total < best[c]:
                best[c] = total
                arg[c] = v


def _least_for_row(
    pay: Array, pair: Array, member: Array, stack: Array, wide: Array, readers: Readers, best: Array, arg: Array,
    infinite: Any, limit: Any,
) -> None:  # fmt: skip
    """The least cost for each choice of the last member, into ``best``, and the choice of the vertex, into ``arg``."""
    last = len(member) - 1
    width, first, second = member[last, WIDTH], readers.first, readers.second
    if first == -1:
        least_of_one(pay, pair, member[last, PAIR], width, width, best, arg, infinite)
    elif second == -1:
        start, entries = row_of(wide, first, member), wide[first, ENTRIES]
        least_of_one(pay, stack, start, entries, width, best, arg, infinite)
    elif readers.many == 2:
        start, other = row_of(wide, first, member), row_of(wide, second, member)
        entries, other_entries = wide[first, ENTRIES], wide[second, ENTRIES]
        least_of_two(pay, stack, start, entries, other, other_entries, width, best, arg, infinite)
    else:
        least_of_many(pay, stack, member, wide, best, arg, infinite, limit)


def _fill_table(
    own: Array, r: Scratch, member: Array, wide: Array, stack: Array, target: int, arg: Array, entry: int,
    infinite: Any, limit: Any,
) -> int:  # fmt: skip
    """The vertex's table over its front, row by row of the last member: costs onto the stack from ``target``, choices
    into ``arg`` from ``entry``; how many these are."""
    pay, pair, best, row_arg = r.pay[: len(own)], r.pair, r.best, r.arg
    last = len(member) - 1
    width = member[last, WIDTH]
    readers: Readers = read_last(stack, pair, member, wide, len(own), infinite, limit)
    filled: int = 0
    while True:
        pay_for_row(own, pair, member, stack, wide, pay, infinite, limit)
        least_for_row(pay, pair, member, stack, wide, readers, best, row_arg, infinite, limit)
        for c in range(width):
            cost = best[c]
            stack[target + filled + c] = infinite if cost > limit else cost
            arg[entry + filled + c] = row_arg[c]
        filled += width
        i = last - 1
        while i >= 0:
            member[i, DIGIT] += 1
            if member[i, DIGIT] < member[i, WIDTH]:
                break
            member[i, DIGIT] = 0
            i -= 1
        if i < 0:
            return filled


add = compiled(_add)
least_of_one = compiled(_least_of_one)
least_of_two = compiled(_least_of_two)
read_last = inlined(_read_last)
row_of = inlined(_row_of)
pay_for_row = inlined(_pay_for_row)
least_of_many = inlined(_least_of_many)
least_for_row = inlined(_least_for_row)
fill_table = inlined(_fill_table)
