"""Words that arrive at an instance of a level under loops in time: the model's deltas in closed form, compiled.

A tile is brought whole at first. When the innermost loop moves it, only new words are brought; other loops bring it
whole, unless it moves by just as much as under the innermost loop, which only loops of one chain can do. Loops that do
not move the tile bring nothing as long as they are innermost.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from mapper.models.compiled import compiled

Array = Any


class Tiles(NamedTuple):
    """The lattice of tiles: divisors of each group of loops (``values``), how many, the weights of a node's digits,
    what is left of each in time, and its instances in space from every level inwards."""

    values: Array
    counts: Array
    radix: Array
    rest: Array
    spaces: Array


class Tensors(NamedTuple):
    """Coefficients of groups in all tensors' dimensions, where each tensor's begin, the groups that move it, and their
    chains (`group.Shape`)."""

    coefficient: Array
    dimension: Array
    relevant: Array
    chain: Array


class Way(NamedTuple):
    """Trips in time from a level inwards (``c``), trips at the levels outside it and their orders, innermost first, and
    room for a vector of steps."""

    c: Array
    f: Array
    orders: Array
    shift: Array


def _words(t: int, box: int, tiles: Tiles, tensors: Tensors, c: Array) -> float:
    """Words of a tensor's tile at level ``box``."""
    words = 1.0
    for d in range(tensors.dimension[t], tensors.dimension[t + 1]):
        extent = 1.0
        for j in range(len(c)):
            extent += abs(tensors.coefficient[d, j]) * (c[j] * tiles.spaces[box, j] - 1.0)
        words *= extent
    return words


def _kept(t: int, box: int, level: int, j: int, tiles: Tiles, tensors: Tensors, c: Array) -> float:
    """Words of a tile that it still has when group ``j`` of ``level``, with trips ``c`` inside, has moved it."""
    kept = 1.0
    for d in range(tensors.dimension[t], tensors.dimension[t + 1]):
        extent = 1.0
        for k in range(len(c)):
            extent += abs(tensors.coefficient[d, k]) * (c[k] * tiles.spaces[box, k] - 1.0)
        extent -= abs(tensors.coefficient[d, j]) * c[j] * tiles.spaces[level, j]
        if extent <= 0:
            return 0.0
        kept *= extent
    return kept


def _steadily(
    t: int, level: int, j: int, inner: float, begun: bool, tiles: Tiles, tensors: Tensors, way: Way
) -> bool:
    """Whether a group, with trips ``inner`` inside, moves a tile by just as much as the innermost loop does, whose
    steps are the first half of ``shift`` (by nothing, if ``begun``). Adds its step to those of all loops inside."""
    same = True
    width = len(way.shift) // 2
    for d in range(tensors.dimension[t], tensors.dimension[t + 1]):
        step = tensors.coefficient[d, j] * inner * tiles.spaces[level, j]
        moved = step - way.shift[width + d]
        if moved != (0.0 if begun else way.shift[d]):
            same = False
        way.shift[width + d] += step
    return same


def _steady_outside(
    t: int, level: int, group: int, begun: bool, out: float, tiles: Tiles, tensors: Tensors, way: Way
) -> float:
    """The most moments at which loops outside ``level``, of which only the product of trips is known, may move a tile
    as the innermost loop does."""
    width = len(way.shift) // 2
    together = 1.0
    waiting = 0
    early = False
    for j in range(len(way.c)):
        if tensors.chain[t, j] != group:
            continue
        inner = way.c[j] * way.f[level, j]
        if tiles.rest[j] == inner:
            continue
        waiting += 1
        together *= tiles.rest[j] // inner
        reached = True
        for d in range(tensors.dimension[t], tensors.dimension[t + 1]):
            step = tensors.coefficient[d, j] * inner * tiles.spaces[level, j]
            inside = way.shift[width + d] + (0.0 if begun else way.shift[d])
            if step > 0 and inside >= 0 and step > inside:
                reached = False
        early = early or reached
    # One loop alone whose first step is longer than all steps inside together never meets them.
    return out - out / together if waiting > 1 or early else 0.0


def _arriving(
    t: int, box: int, boundary: int, known: int, begun: bool, total: float, tiles: Tiles, tensors: Tensors, way: Way
) -> float:  # fmt: skip
    """Words that arrive at an instance of level ``box`` in ``total`` moments, if no loop inside ``boundary`` moves its
    tile, but some turn if ``begun``. Loops are known from ``boundary`` to level ``known``; with others outside it is
    the least that they leave."""
    words = _words(t, box, tiles, tensors, way.c)
    width = len(way.shift) // 2
    free, out, turned, steady, kept = 1.0, total, 0.0, 0.0, 0.0
    mover = group = -1
    for level in range(boundary, known - 1, -1):
        for place in range(way.orders.shape[1]):
            j = way.orders[level, place]
            if j < 0:
                break
            if way.f[level, j] == 1:
                continue
            out /= way.f[level, j]
            if mover < 0 and not tensors.relevant[t, j]:
                free *= way.f[level, j]
                begun = True
                continue
            inner = float(way.c[j])
            for between in range(level + 1, boundary + 1):
                inner *= way.f[between, j]
            if mover < 0:
                mover, group = j, tensors.chain[t, j]
                turned = (way.f[level, j] - 1) * out
                if not begun:
                    kept = _kept(t, box, level, j, tiles, tensors, way.c)
                    if kept == 0:
                        return words * total
                if group < 0:
                    return words * (total / free) if begun else words * total - kept * turned
                for d in range(tensors.dimension[t], tensors.dimension[t + 1]):
                    step = tensors.coefficient[d, j] * inner * tiles.spaces[level, j]
                    way.shift[d] = step
                    way.shift[width + d] = step
                continue
            if tensors.relevant[t, j] and tensors.chain[t, j] != group:
                group = -1
                break
            if _steadily(t, level, j, inner, begun, tiles, tensors, way):
                steady += (way.f[level, j] - 1) * out
        if mover >= 0 and group < 0:
            break
    if group >= 0 and known > 0 and out > 1:
        steady += _steady_outside(t, boundary, group, begun, out, tiles, tensors, way)
    if begun:
        return words * (total / free - steady)
    return words * total - kept * (turned + steady)


tile_words = compiled(_words)
kept_words = compiled(_kept)
steadily = compiled(_steadily)
steady_outside = compiled(_steady_outside)
arriving_words = compiled(
    _arriving, _words=tile_words, _kept=kept_words, _steadily=steadily, _steady_outside=steady_outside
)
