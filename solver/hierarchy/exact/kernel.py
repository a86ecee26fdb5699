"""The compiled inner loops of branch and bound over tiles (the argument is in branch_and_bound).

Tiles are counted in trips of groups of loops in time: ``c`` from a level inwards, ``f`` at a level.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mapper.models.compiled import compiled
from mapper.solver.hierarchy.exact.arrival import Tensors, Tiles, Way, arriving_words

Array = Any


class Links(NamedTuple):
    """The links inside the machine: tensor, outer and inner level, and a row of numbers each (`outset`)."""

    tensors: Array
    ends: Array
    rows: Array


class Orders(NamedTuple):
    """Orders of a level's loops, innermost first and filled up with -1: ``table[begin[m]:end[m]]`` for the set ``m`` of
    groups (bits) that run more than once."""

    table: Array
    begin: Array
    end: Array


class Stage(NamedTuple):
    """The boundary below a level: digits that may follow further in (``starts``, ``targets``), the floors one level
    further in (``below``, by ``labels``, infinite where a tile is not possible), the links that end here as bits
    (``own``), those with links of labels (``reach``), and orders of the level's loops."""

    boundary: int
    starts: Array
    targets: Array
    below: Array
    labels: Array
    own: int
    reach: int
    classes: Orders


def _priced(link: Array, arriving: float) -> float:
    """Energy of a link in pJ: reads and updates outside, fills inside, in whole blocks."""
    moved = link[0] * arriving
    energy: float = np.ceil(max(0.0, moved - link[1]) / link[8]) * link[5]
    if link[3] != 0:
        energy += np.ceil(moved / link[8]) * link[6]
    energy += np.ceil(max(0.0, arriving - link[2]) / link[9]) * link[7]
    return energy


def _descended(tiles: Tiles, stage: Stage, digit: Array, at: Array, way: Way) -> tuple[int, float, int]:
    """The node that digits ``at`` lead to, with its trips ``c`` and those at the level, ``f``; in how many moments its
    tile is brought without any reuse; and the groups that run more than once at the level, as bits."""
    child = 0
    total = 1.0
    turning = 0
    for j in range(len(way.c)):
        to = stage.targets[j, at[j]]
        child += to * tiles.radix[j]
        way.c[j] = tiles.values[j, to]
        way.f[stage.boundary, j] = tiles.values[j, digit[j]] // way.c[j]
        if way.f[stage.boundary, j] > 1:
            turning |= 1 << j
        total *= tiles.rest[j] // way.c[j]
    return child, total, turning


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


def _least_price(
    k: int, boundary: int, known: int, own: bool, total: float, tiles: Tiles, tensors: Tensors, links: Links, way: Way
) -> float:  # fmt: skip
    """The least energy of a link whose tensor no loop between ``boundary`` and its inner level moves; exact if the link
    is the boundary's ``own``. Else loops between may turn without moving it, or may not."""
    t = links.tensors[k]
    box = links.ends[k, 1]
    words = arriving_words(t, box, boundary, known, False, total, tiles, tensors, way)
    price: float = _priced(links.rows[k], words)
    if not own:
        turned = False
        for j in range(len(way.c)):
            turned = turned or (way.c[j] > 1 and not tensors.relevant[t, j])
        if turned:
            words = arriving_words(t, box, boundary, known, True, total, tiles, tensors, way)
            price = min(price, _priced(links.rows[k], words))
    return price


def _possible(below: Array, child: int) -> bool:
    """Whether a tile is possible, whatever the label."""
    least = np.inf
    for label in range(len(below)):
        least = min(least, below[label, child])
    return least < np.inf


priced = compiled(_priced)
possible = compiled(_possible)
descended = compiled(_descended)
advanced = compiled(_advanced)
begun = compiled(_begun)
least_price = compiled(_least_price, _priced=priced)
