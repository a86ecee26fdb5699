"""The children of a tile, with bounds on all mappings that they begin."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mapper.models.compiled import compiled
from mapper.solver.hierarchy.exact.arrival import Tensors, Tiles, Way, arriving_words, tile_words
from mapper.solver.hierarchy.exact.kernel import (
    Links,
    Stage,
    advanced,
    begun,
    descended,
    least_price,
    possible,
    priced,
)
from mapper.solver.hierarchy.exact.neighbour.handing import handed_moments

Array = Any


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
    energy that leaks in a cycle, the objective (0: EDP, 1: energy, 2: cycles), what it must lie below, the cycles that
    are allowed, and points of a front, cycles ascending and energies descending, that children must not be worse than
    (none unless the objective is energy)."""

    rate: Array
    compute: float
    constant: float
    leak: float
    objective: int
    limit: float
    most: float
    front: Array


def _move(link: Array, ends: Array, arriving: float, now: Array) -> None:
    """Count the words that a link moves beyond those that have been counted as moved at least."""
    least = link[10]
    read = max(0.0, link[0] * arriving - link[1])
    now[ends[0], 0] += read - max(0.0, link[0] * least - link[1])
    if link[3] != 0:
        now[ends[0], 1] += link[0] * (arriving - least)
    if ends[1] < len(now):
        now[ends[1], 1] += max(0.0, arriving - link[2]) - max(0.0, least - link[2])


def _cycles(now: Array, scale: Scale) -> float:
    """Cycles that a path takes at least."""
    cycles: float = scale.compute
    for level in range(len(now)):
        cycles = max(cycles, np.ceil(now[level, 0] / scale.rate[level, 0] - 1e-9))
        cycles = max(cycles, np.ceil(now[level, 1] / scale.rate[level, 1] - 1e-9))
        cycles = max(cycles, np.ceil((now[level, 0] + now[level, 1]) / scale.rate[level, 2] - 1e-9))
    return cycles


def _limit(scale: Scale, cycles: float) -> float:
    """What the objective must lie below, if it takes so many cycles."""
    if cycles > scale.most:
        return -np.inf
    limit: float = scale.limit
    place = np.searchsorted(scale.front[:, 0], cycles, side="right")
    if place > 0:
        limit = min(limit, scale.front[place - 1, 1])
    return limit


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
    energy times cycles, cycles, words that neighbours may hand on, words by level) and of ``order_out`` (digits, and
    the order of the level's loops). Returns how many there are, which may be more than fit."""
    groups, boundary = len(tiles.counts), stage.boundary
    at = np.zeros(groups, np.int64)
    way = Way(
        np.zeros(groups, np.int64), path.f, path.orders, np.zeros(2 * len(tensors.coefficient), np.float64)
    )
    now = np.zeros(path.moved.shape, np.float64)
    price = np.zeros(len(links.tensors), np.float64)
    handed = np.zeros(len(links.tensors), np.float64)
    found = 0
    going = begun(stage.starts, path.node, at)
    while going:
        child, total, turning = descended(tiles, stage, path.node, at, way)
        if possible(stage.below, child):
            maybe = 0.0
            for k in range(len(price)):
                if (stage.own >> k) & 1 and links.rows[k, 4] == 2:
                    t, box = links.tensors[k], links.ends[k, 1]
                    moments = handed_moments(t, boundary, tiles, tensors, way)
                    handed[k] = moments * tile_words(t, box, tiles, tensors, way.c)
                    maybe += handed[k]
            for order in range(stage.classes.begin[turning], stage.classes.end[turning]):
                path.orders[boundary] = stage.classes.table[order]
                paid = path.energy
                now[:] = path.moved
                for k in range(len(price)):
                    if (stage.own >> k) & 1:
                        words = arriving_words(
                            links.tensors[k], links.ends[k, 1], boundary, 0, False, total, tiles, tensors, way
                        )
                        paid += priced(links.rows[k], words)
                        _move(links.rows[k], links.ends[k], words, now)
                        if links.rows[k, 4] == 2:
                            least = links.rows[k, 0] * words
                            more = (links.rows[k, 11] - links.rows[k, 0]) * max(0.0, words - handed[k])
                            block, pj = links.rows[k, 8], links.rows[k, 5]
                            paid += (np.ceil((least + more) / block) - np.ceil(least / block)) * pj
                            now[links.ends[k, 0], 0] += more
                    elif (stage.reach >> k) & 1:
                        price[k] = least_price(k, boundary, 0, False, total, tiles, tensors, links, way)
                cycles = _cycles(now, scale)
                whole = paid + _inner(stage, child, price) + scale.constant + scale.leak * cycles
                bound = whole * cycles if scale.objective == 0 else whole if scale.objective == 1 else cycles
                if bound >= _limit(scale, cycles):
                    continue
                if found < len(out):
                    out[found, 0] = bound
                    out[found, 1] = paid
                    out[found, 2] = whole * cycles
                    out[found, 3] = cycles
                    out[found, 4] = maybe
                    out[found, 5:] = now.ravel()
                    for j in range(groups):
                        order_out[found, j] = stage.targets[j, at[j]]
                    order_out[found, groups] = order
                found += 1
        going = advanced(stage.starts, path.node, at)
    return found


move = compiled(_move)
least_cycles = compiled(_cycles)
inner_least = compiled(_inner)
limit_at = compiled(_limit)
expanded = compiled(_expanded, _move=move, _cycles=least_cycles, _inner=inner_least, _limit=limit_at)
