"""The compiled inner loops of branch and bound over tiles (the argument is in branch_and_bound).

Tiles are counted in trips of loops in time: ``c`` from a level inwards, ``f`` at a level. A loop's coefficient in a
dimension of a tensor times the trips inside it is the step by which it moves the tensor's tile.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mapper.models.compiled import compiled

Array = Any


class Tiles(NamedTuple):
    """The lattice of tiles: divisors of each loop (``values``), how many, the weights of a node's digits, what is left
    of each loop in time, and instances of each loop in space from every level inwards."""

    values: Array
    counts: Array
    radix: Array
    rest: Array
    spaces: Array


class Tensors(NamedTuple):
    """Coefficients of loops in all tensors' dimensions, where each tensor's begin, and the loops that move it."""

    coefficient: Array
    dimension: Array
    relevant: Array


class Links(NamedTuple):
    """The links inside the machine: tensor, outer and inner level, and a row of numbers each (``branch.row``)."""

    tensors: Array
    ends: Array
    rows: Array


class Stage(NamedTuple):
    """The boundary below a level: digits that may follow further in (``starts``, ``targets``), the floors one level
    further in (``below``, by ``labels``, infinite where a tile is not possible), the links that end here as bits
    (``own``), those with links of labels (``reach``), and orders of the level's loops, innermost first."""

    boundary: int
    starts: Array
    targets: Array
    below: Array
    labels: Array
    own: int
    reach: int
    classes: Array


class Path(NamedTuple):
    """What is decided: digits of the tile, trips and orders of the levels outside, energy so far, and words moved at
    each level (read, written), those that are moved in any case included."""

    node: Array
    f: Array
    orders: Array
    energy: float
    moved: Array


class Scale(NamedTuple):
    """What a path is measured by: words a cycle of each level (read, written, together), cycles and energy in any case,
    energy that leaks in a cycle, the objective (0: EDP, 1: energy, 2: cycles) and the limit on it."""

    rate: Array
    compute: float
    constant: float
    leak: float
    objective: int
    limit: float


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


def _descended(tiles: Tiles, stage: Stage, digit: Array, at: Array, c: Array, f: Array) -> tuple[int, float]:
    """The node that digits ``at`` lead to, with its trips ``c`` and those at the level, ``f``; and in how many moments
    its tile is brought without any reuse."""
    child = 0
    total = 1.0
    for j in range(len(c)):
        to = stage.targets[j, at[j]]
        child += to * tiles.radix[j]
        c[j] = tiles.values[j, to]
        f[stage.boundary, j] = tiles.values[j, digit[j]] // c[j]
        total *= tiles.rest[j] // c[j]
    return child, total


def _advanced(starts: Array, digit: Array, at: Array) -> bool:
    """Go on to the next digits, False behind the last ones."""
    for j in range(len(at)):
        at[j] += 1
        if at[j] < starts[j, digit[j] + 1]:
            return True
        at[j] = starts[j, digit[j]]
    return False


def _begun(starts: Array, digit: Array, at: Array) -> bool:
    """Set the first digits, False if there are none."""
    for j in range(len(at)):
        at[j] = starts[j, digit[j]]
        if starts[j, digit[j]] == starts[j, digit[j] + 1]:
            return False
    return True


def _settled(stage: Stage, tensors: Tensors, links: Links, f: Array) -> int:
    """The links, as bits, whose tensors a loop at the level moves."""
    settled = 0
    for k in range(len(links.tensors)):
        if (stage.reach >> k) & 1:
            for j in range(f.shape[1]):
                if tensors.relevant[links.tensors[k], j] and f[stage.boundary, j] > 1:
                    settled |= 1 << k
    return settled


def _arrive(
    k: int,
    boundary: int,
    tiles: Tiles,
    tensors: Tensors,
    links: Links,
    c: Array,
    f: Array,
    orders: Array,
    total: float,
) -> float:
    """Words that arrive at an instance of the inner level of a link."""
    t = links.tensors[k]
    words: float = _arriving(
        tensors.dimension[t], tensors.dimension[t + 1], tensors.coefficient, tensors.relevant[t], c, tiles.spaces, f,
        orders, boundary, links.ends[k, 1], total,
    )  # fmt: skip
    return words


def _lower(
    stage: Stage, links: Links, settled: int, child: int, price: Array, index: Array, node: int, floor: Array
) -> None:
    """Lower the floors of a node by what a child costs with every label."""
    for label in range(len(stage.labels)):
        together = stage.labels[label] | stage.own
        energy = stage.below[label, child]
        for k in range(len(links.tensors)):
            if ((together & settled) >> k) & 1:
                energy += price[k]
        place = index[together & ~settled]
        if energy < floor[place, node]:
            floor[place, node] = energy


def _possible(below: Array, child: int) -> bool:
    """Whether a tile is possible, whatever the label."""
    least = np.inf
    for label in range(len(below)):
        least = min(least, below[label, child])
    return least < np.inf


def _floors(
    tiles: Tiles, tensors: Tensors, links: Links, stage: Stage, allowed: Array, index: Array, floor: Array
) -> None:
    """For every tile from a level inwards and every label, the least energy of the links from its boundary inwards.

    A label is a set of links (bits) that are left out, because no loop from the level inwards moves their tensor: what
    they cost depends on loops further outside. ``index``: the places of labels in ``floor``."""
    loops = len(tiles.counts)
    c, digit, at = np.zeros(loops, np.int64), np.zeros(loops, np.int64), np.zeros(loops, np.int64)
    f = np.ones((stage.boundary + 1, loops), np.int64)
    orders = np.full((stage.boundary + 1, loops), -1, np.int64)
    price = np.zeros(len(links.tensors), np.float64)
    for node in range(floor.shape[1]):
        for label in range(floor.shape[0]):
            floor[label, node] = np.inf
        if not allowed[node]:
            continue
        for j in range(loops):
            digit[j] = (node // tiles.radix[j]) % tiles.counts[j]
        going = _begun(stage.starts, digit, at)
        while going:
            child, total = _descended(tiles, stage, digit, at, c, f)
            settled = _settled(stage, tensors, links, f)
            if _possible(stage.below, child):
                for order in range(len(stage.classes)):
                    orders[stage.boundary] = stage.classes[order]
                    for k in range(len(price)):
                        if (settled >> k) & 1:
                            words = _arrive(k, stage.boundary, tiles, tensors, links, c, f, orders, total)
                            price[k] = _priced(links.rows[k], words)
                    _lower(stage, links, settled, child, price, index, node, floor)
                    if settled == 0:
                        break
            going = _advanced(stage.starts, digit, at)


def _move(link: Array, ends: Array, arriving: float, now: Array) -> None:
    """Count the words that a link moves beyond those that have been counted as moved at least."""
    least = link[10]
    if link[4] == 0:
        read = max(0.0, link[0] * arriving - link[1])
        now[ends[0], 0] += read - max(0.0, link[0] * least - link[1])
    if link[3] != 0:
        now[ends[0], 1] += link[0] * (arriving - least)
    now[ends[1], 1] += max(0.0, arriving - link[2]) - max(0.0, least - link[2])


def _cycles(now: Array, scale: Scale) -> float:
    """Cycles that a path takes at least."""
    cycles: float = scale.compute
    for level in range(len(now)):
        cycles = max(cycles, np.ceil(now[level, 0] / scale.rate[level, 0] - 1e-9))
        cycles = max(cycles, np.ceil(now[level, 1] / scale.rate[level, 1] - 1e-9))
        cycles = max(cycles, np.ceil((now[level, 0] + now[level, 1]) / scale.rate[level, 2] - 1e-9))
    return cycles


def _inner(stage: Stage, child: int, price: Array) -> float:
    """The least that links further in cost: a floor, and the links that its label leaves out."""
    least: float = np.inf
    for label in range(len(stage.labels)):
        ahead = stage.below[label, child]
        for k in range(len(price)):
            if (stage.labels[label] >> k) & 1:
                ahead += price[k]
        least = min(least, ahead)
    return least


def _expanded(
    tiles: Tiles,
    tensors: Tensors,
    links: Links,
    stage: Stage,
    path: Path,
    scale: Scale,
    out: Array,
    order_out: Array,
) -> int:
    """The children of a tile that may lie below the limit, as rows of ``out`` (bound on the objective, energy so far,
    energy times cycles, words by level) and of ``order_out`` (digits, and the order of the level's loops). Returns how
    many there are, which may be more than fit."""
    loops = len(tiles.counts)
    c, at = np.zeros(loops, np.int64), np.zeros(loops, np.int64)
    now = np.zeros(path.moved.shape, np.float64)
    price = np.zeros(len(links.tensors), np.float64)
    found = 0
    going = _begun(stage.starts, path.node, at)
    while going:
        child, total = _descended(tiles, stage, path.node, at, c, path.f)
        if _possible(stage.below, child):
            for order in range(len(stage.classes)):
                path.orders[stage.boundary] = stage.classes[order]
                paid = path.energy
                now[:] = path.moved
                for k in range(len(price)):
                    if not (stage.reach >> k) & 1:
                        continue
                    words = _arrive(k, stage.boundary, tiles, tensors, links, c, path.f, path.orders, total)
                    price[k] = _priced(links.rows[k], words)
                    if (stage.own >> k) & 1:
                        paid += price[k]
                        _move(links.rows[k], links.ends[k], words, now)
                cycles = _cycles(now, scale)
                whole = paid + _inner(stage, child, price) + scale.constant + scale.leak * cycles
                bound = whole * cycles if scale.objective == 0 else whole if scale.objective == 1 else cycles
                if bound >= scale.limit:
                    continue
                if found < len(out):
                    out[found, 0] = bound
                    out[found, 1] = paid
                    out[found, 2] = whole * cycles
                    out[found, 3:] = now.ravel()
                    for j in range(loops):
                        order_out[found, j] = stage.targets[j, at[j]]
                    order_out[found, loops] = order
                found += 1
        going = _advanced(stage.starts, path.node, at)
    return found


descended = compiled(_descended)
advanced = compiled(_advanced)
begun = compiled(_begun)
settled_links = compiled(_settled)
arrive = compiled(_arrive, _arriving=arriving_words)
lower = compiled(_lower)
possible = compiled(_possible)
move = compiled(_move)
least_cycles = compiled(_cycles)
inner_least = compiled(_inner)
floors = compiled(
    _floors,
    _descended=descended,
    _advanced=advanced,
    _begun=begun,
    _settled=settled_links,
    _arrive=arrive,
    _priced=priced,
    _lower=lower,
    _possible=possible,
)
expanded = compiled(
    _expanded,
    _descended=descended,
    _advanced=advanced,
    _begun=begun,
    _arrive=arrive,
    _priced=priced,
    _possible=possible,
    _move=move,
    _cycles=least_cycles,
    _inner=inner_least,
)
