"""Floors: for every tile, the least energy of all links from its level inwards, from the innermost level outwards."""

from __future__ import annotations

from typing import Any

import numpy as np

from mapper.models.compiled import compiled
from mapper.solver.hierarchy.exact.arrival import Tensors, Tiles, Way, tile_words
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

Array = Any


def _settled(stage: Stage, tensors: Tensors, links: Links, turning: int) -> int:
    """The links, as bits, whose tensors a loop at the level moves."""
    settled = 0
    for k in range(len(links.tensors)):
        if (stage.reach >> k) & 1:
            for j in range(tensors.relevant.shape[1]):
                if tensors.relevant[links.tensors[k], j] and (turning >> j) & 1:
                    settled |= 1 << k
    return settled


def _lower(
    stage: Stage, links: Links, settled: int, child: int, price: Array, index: Array, node: int, floor: Array
) -> None:  # fmt: skip
    """Lower the floors of a node by what a child costs with every label."""
    for label in range(len(stage.labels)):
        together = stage.labels[label] | stage.own
        energy = stage.below[label, child]
        if energy == np.inf:
            continue
        for k in range(len(links.tensors)):
            if ((together & settled) >> k) & 1:
                energy += price[k]
        place = index[together & ~settled]
        if energy < floor[place, node]:
            floor[place, node] = energy


def _promising(
    stage: Stage, links: Links, settled: int, child: int, price: Array, index: Array, node: int, floor: Array
) -> bool:  # fmt: skip
    """Whether a child may lower a floor, if links cost no more than ``price``."""
    for label in range(len(stage.labels)):
        together = stage.labels[label] | stage.own
        energy = stage.below[label, child]
        for k in range(len(links.tensors)):
            if ((together & settled) >> k) & 1:
                energy += price[k]
        if energy < floor[index[together & ~settled], node]:
            return True
    return False


def _at_best(
    k: int, boundary: int, total: float, tiles: Tiles, tensors: Tensors, links: Links, way: Way
) -> float:
    """What a link costs at least, whatever the order: as if all loops that do not move its tensor were innermost."""
    t = links.tensors[k]
    for j in range(len(way.c)):
        if tensors.chain[t, j] >= 0 and way.c[j] < tiles.rest[j]:
            least: float = priced(links.rows[k], links.rows[k, 10])
            return least
    moments = total
    for j in range(len(way.c)):
        if not tensors.relevant[t, j]:
            moments /= way.f[boundary, j]
    words = tile_words(t, links.ends[k, 1], tiles, tensors, way.c) * moments
    price: float = priced(links.rows[k], words)
    return price


def _floors(
    tiles: Tiles, tensors: Tensors, links: Links, stage: Stage, allowed: Array, index: Array, room: Array, floor: Array,
    first: int, last: int,
) -> None:  # fmt: skip
    """For tiles from a level inwards, nodes ``first`` to ``last``, and every label, the least energy of the links from
    its boundary inwards; infinite where that is not less than the label's ``room``.

    A label is a set of links (bits) that are left out, because no loop from the level inwards moves their tensor: what
    they cost depends on loops further outside. ``index``: the places of labels in ``floor``."""
    groups = len(tiles.counts)
    digit, at = np.zeros(groups, np.int64), np.zeros(groups, np.int64)
    boundary = stage.boundary
    way = Way(
        np.zeros(groups, np.int64),
        np.ones((boundary + 1, groups), np.int64),
        np.full((boundary + 1, groups), -1, np.int64),
        np.zeros(2 * len(tensors.coefficient), np.float64),
    )
    price, best = np.zeros(len(links.tensors), np.float64), np.zeros(len(links.tensors), np.float64)
    for node in range(first, last):
        if not allowed[node]:
            floor[:, node] = np.inf
            continue
        floor[:, node] = room
        for j in range(groups):
            digit[j] = (node // tiles.radix[j]) % tiles.counts[j]
        going = begun(stage.starts, digit, at)
        while going:
            child, total, turning = descended(tiles, stage, digit, at, way)
            if possible(stage.below, child):
                settled = _settled(stage, tensors, links, turning)
                for k in range(len(price)):
                    if (settled >> k) & 1:
                        best[k] = _at_best(k, boundary, total, tiles, tensors, links, way)
                if _promising(stage, links, settled, child, best, index, node, floor):
                    for order in range(stage.classes.begin[turning], stage.classes.end[turning]):
                        way.orders[boundary] = stage.classes.table[order]
                        price[:] = best
                        for k in range(len(price)):
                            if (settled >> k) & 1 and _promising(
                                stage, links, settled, child, price, index, node, floor
                            ):
                                own = bool((stage.own >> k) & 1)
                                price[k] = least_price(
                                    k, boundary, boundary, own, total, tiles, tensors, links, way
                                )
                        _lower(stage, links, settled, child, price, index, node, floor)
            going = advanced(stage.starts, digit, at)
        for label in range(len(room)):
            if floor[label, node] >= room[label]:
                floor[label, node] = np.inf


settled_links = compiled(_settled)
lower = compiled(_lower)
promising = compiled(_promising)
at_best = compiled(_at_best)
floors = compiled(_floors, _settled=settled_links, _at_best=at_best, _promising=promising, _lower=lower)
