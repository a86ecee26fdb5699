"""The compiled inner loops of branch and bound over tiles (the argument is in branch_and_bound).

Tiles are counted in trips of loops in time: ``c`` from a level inwards, ``f`` at a level. A loop's coefficient in a
dimension of a tensor times the trips inside it is the step by which it moves the tensor's tile.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mapper.models.compiled import compiled

Array = Any


def _arriving(
    first: int, last: int, coefficient: Array, relevant: Array, c: Array, spaces: Array, f: Array,
    orders: Array, boundary: int, box: int, total: float,
) -> float:  # fmt: skip
    """The least words that arrive at an instance of level ``box`` in ``total`` moments, if no loop inside ``boundary``
    moves its tile: levels from there outwards, loops innermost first. Exact unless another loop moves the tile as the
    innermost one does while tiles overlap, or a loop between turns."""
    words = 1.0
    inside = spaces[box]
    for d in range(first, last):
        extent = 1.0
        for j in range(len(c)):
            extent += coefficient[d, j] * (c[j] * inside[j] - 1)
        words *= extent
    free = 1.0
    begun = False
    for level in range(boundary, -1, -1):
        for place in range(orders.shape[1]):
            j = orders[level, place]
            if j < 0 or f[level, j] == 1:
                continue
            if not relevant[j]:
                free *= f[level, j]
                begun = True
                continue
            if begun:
                return words * (total / free)
            kept = 1.0
            for d in range(first, last):
                extent = 1.0
                for k in range(len(c)):
                    extent += coefficient[d, k] * (c[k] * inside[k] - 1)
                left = extent - coefficient[d, j] * c[j] * spaces[level + 1, j]
                kept *= left if left > 0 else 0.0
            if kept == 0:
                return words * total
            if _may_continue(first, last, coefficient, c, spaces, f, boundary, level, j):
                return words + (total - 1) * (words - kept)
            passes: float = total / f[level, j] * (words + (f[level, j] - 1) * (words - kept))
            return passes
    return words * (total / free)


def _may_continue(
    first: int,
    last: int,
    coefficient: Array,
    c: Array,
    spaces: Array,
    f: Array,
    boundary: int,
    level: int,
    j: int,
) -> bool:
    """Whether some loop outside loop ``j`` of ``level`` may move the tile by just as much as that does, which takes an
    offset twice as large, or others between (necessary)."""
    for d in range(first, last):
        step = coefficient[d, j] * c[j] * spaces[level + 1, j]
        if step == 0:
            continue
        others = 0
        for k in range(len(c)):
            if coefficient[d, k] == 0:
                continue
            inner = c[k]
            for outer in range(level, -1, -1):
                if f[outer, k] > 1 and not (outer == level and k == j):
                    others += 1
                    if coefficient[d, k] * inner * spaces[outer + 1, k] == 2 * step:
                        return True
                inner *= f[outer, k]
        if others > 1:
            return True
    return False


def _priced(link: Array, arriving: float) -> float:
    """Energy of a link in pJ: reads and updates outside, fills inside, in whole blocks."""
    moved = link[0] * arriving
    energy: float = 0.0
    if link[4] == 0:
        energy += np.ceil(max(0.0, moved - link[1]) / link[8]) * link[5]
    if link[3] != 0:
        energy += np.ceil(moved / link[8]) * link[6]
    energy += np.ceil(max(0.0, arriving - link[2]) / link[9]) * link[7]
    return energy


priced = compiled(_priced)
may_continue = compiled(_may_continue)
arriving_words = compiled(_arriving, _may_continue=may_continue)


def _floors(
    boundary: int, values: Array, counts: Array, radix: Array, starts: Array, targets: Array, allowed: Array,
    below: Array, labels: Array, index: Array, own: int, shape: Array, dimension: Array, relevant: Array,
    spaces: Array, rest: Array, tensors: Array, boxes: Array, links: Array, classes: Array, floor: Array,
) -> None:  # fmt: skip
    """For every tile from a level inwards and every label, the least energy of the links from its boundary inwards.

    A label is a set of links (bits) that are left out, because no loop from the level inwards moves their tensor: what
    they cost depends on loops further outside. ``below`` is the same one level further in, by ``labels``, infinite
    where a tile is not possible; ``own`` are the links that end at the boundary, ``index`` the places of new labels."""
    loops = len(counts)
    c = np.zeros(loops, np.int64)
    digit = np.zeros(loops, np.int64)
    at = np.zeros(loops, np.int64)
    f = np.ones((boundary + 1, loops), np.int64)
    orders = np.full((boundary + 1, loops), -1, np.int64)
    price = np.zeros(len(links), np.float64)
    reach = own
    for label in labels:
        reach |= label
    for node in range(floor.shape[1]):
        for label in range(floor.shape[0]):
            floor[label, node] = np.inf
        if not allowed[node]:
            continue
        empty = False
        for j in range(loops):
            digit[j] = (node // radix[j]) % counts[j]
            at[j] = starts[j, digit[j]]
            empty = empty or starts[j, digit[j]] == starts[j, digit[j] + 1]
        while not empty:
            child = 0
            total = 1.0
            for j in range(loops):
                to = targets[j, at[j]]
                child += to * radix[j]
                c[j] = values[j, to]
                f[boundary, j] = values[j, digit[j]] // c[j]
                total *= rest[j] // c[j]
            settled = 0
            for k in range(len(links)):
                if (reach >> k) & 1:
                    for j in range(loops):
                        if relevant[tensors[k], j] and f[boundary, j] > 1:
                            settled |= 1 << k
            possible = False
            for label in range(len(labels)):
                possible = possible or below[label, child] < np.inf
            for order in range(len(classes)):
                if not possible:
                    break
                orders[boundary] = classes[order]
                for k in range(len(links)):
                    if (settled >> k) & 1:
                        t = tensors[k]
                        price[k] = _priced(links[k], _arriving(
                            dimension[t], dimension[t + 1], shape, relevant[t], c, spaces, f,
                            orders, boundary, boxes[k], total,
                        ))  # fmt: skip
                for label in range(len(labels)):
                    together = labels[label] | own
                    energy = below[label, child]
                    for k in range(len(links)):
                        if ((together & settled) >> k) & 1:
                            energy += price[k]
                    place = index[together & ~settled]
                    if energy < floor[place, node]:
                        floor[place, node] = energy
                if settled == 0:
                    break
            j = 0
            while j < loops:
                at[j] += 1
                if at[j] < starts[j, digit[j] + 1]:
                    break
                at[j] = starts[j, digit[j]]
                j += 1
            empty = j == loops


floors = compiled(_floors, _arriving=arriving_words, _priced=priced)


def _expanded(
    boundary: int, node: Array, values: Array, counts: Array, radix: Array, starts: Array, targets: Array,
    below: Array, labels: Array, own: int, shape: Array, dimension: Array, relevant: Array, spaces: Array, rest: Array,
    tensors: Array, ends: Array, links: Array, classes: Array, f: Array, orders: Array, energy: float, moved: Array,
    rate: Array, compute: float, constant: float, leak: float, objective: int, limit: float, out: Array,
    order_out: Array,
) -> int:  # fmt: skip
    """The children of a tile (``node``: a digit for each loop) that may lie below ``limit``: rows of the bound on the
    objective, energy so far, words so far (read and written by level) and digits; returns how many there are, which may
    be more than fit ``out``."""
    loops = len(counts)
    levels = len(rate)
    c = np.zeros(loops, np.int64)
    at = np.zeros(loops, np.int64)
    now = np.zeros((levels, 2), np.float64)
    price = np.zeros(len(links), np.float64)
    reach = own
    for label in labels:
        reach |= label
    found = 0
    for j in range(loops):
        at[j] = starts[j, node[j]]
        if starts[j, node[j]] == starts[j, node[j] + 1]:
            return 0
    while True:
        child = 0
        total = 1.0
        for j in range(loops):
            to = targets[j, at[j]]
            child += to * radix[j]
            c[j] = values[j, to]
            f[boundary, j] = values[j, node[j]] // c[j]
            total *= rest[j] // c[j]
        possible = False
        for label in range(len(labels)):
            possible = possible or below[label, child] < np.inf
        if possible:
            for order in range(len(classes)):
                orders[boundary] = classes[order]
                paid = energy
                for level in range(levels):
                    now[level, 0] = moved[level, 0]
                    now[level, 1] = moved[level, 1]
                for k in range(len(links)):
                    if not (reach >> k) & 1:
                        continue
                    t = tensors[k]
                    arriving = _arriving(
                        dimension[t], dimension[t + 1], shape, relevant[t], c, spaces, f,
                        orders, boundary, ends[k, 1], total,
                    )  # fmt: skip
                    price[k] = _priced(links[k], arriving)
                    if (own >> k) & 1:
                        paid += price[k]
                        # What is moved at least has been counted before.
                        least = links[k, 10]
                        if links[k, 4] == 0:
                            read = max(0.0, links[k, 0] * arriving - links[k, 1])
                            now[ends[k, 0], 0] += read - max(0.0, links[k, 0] * least - links[k, 1])
                        if links[k, 3] != 0:
                            now[ends[k, 0], 1] += links[k, 0] * (arriving - least)
                        filled = max(0.0, arriving - links[k, 2])
                        now[ends[k, 1], 1] += filled - max(0.0, least - links[k, 2])
                inner = np.inf
                for label in range(len(labels)):
                    ahead = below[label, child]
                    for k in range(len(links)):
                        if (labels[label] >> k) & 1:
                            ahead += price[k]
                    inner = min(inner, ahead)
                cycles = compute
                for level in range(levels):
                    cycles = max(cycles, np.ceil(now[level, 0] / rate[level, 0] - 1e-9))
                    cycles = max(cycles, np.ceil(now[level, 1] / rate[level, 1] - 1e-9))
                    cycles = max(cycles, np.ceil((now[level, 0] + now[level, 1]) / rate[level, 2] - 1e-9))
                whole = paid + inner + constant + leak * cycles
                bound = whole * cycles if objective == 0 else whole if objective == 1 else cycles
                if bound < limit:
                    if found < len(out):
                        out[found, 0] = bound
                        out[found, 1] = paid
                        out[found, 2] = whole * cycles
                        for level in range(levels):
                            out[found, 3 + 2 * level] = now[level, 0]
                            out[found, 4 + 2 * level] = now[level, 1]
                        for j in range(loops):
                            order_out[found, j] = targets[j, at[j]]
                        order_out[found, loops] = order
                    found += 1
        j = 0
        while j < loops:
            at[j] += 1
            if at[j] < starts[j, node[j] + 1]:
                break
            at[j] = starts[j, node[j]]
            j += 1
        if j == loops:
            return found


expanded = compiled(_expanded, _arriving=arriving_words, _priced=priced)
