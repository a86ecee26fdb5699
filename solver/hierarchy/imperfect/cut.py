"""Every way to cut a loop whose trips in space are given, and what each says of the cost.

A cut is the trips in time at each level. From the digits of the last iteration (`models.hierarchy.imperfect.digit`)
follow the numbers of moments and instances that a loop contributes to a tensor that it does not move, as numbers of
digits that are reached, for every level from which inwards its turns may leave the tensor where it is. Loops are cut
independently of each other, so that these numbers multiply.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.solver.hierarchy.imperfect.cut_kernel import reached

Array = Any
MOST_CUTS = 400_000
"""Of one loop with one choice of trips in space."""


class Way(NamedTuple):
    """From level ``outer`` to ``inner`` (the number of levels: units), of the tensor with this number."""

    tensor: int
    outer: int
    inner: int


class Columns(NamedTuple):
    """Where the numbers of a loop stand in a row: by level tiles, trips in space, trips in time and their negatives (so
    that the least of them says the most trips), the innermost level down to there at which it turns, tiles that differ,
    and instances; moments of the units; and for each way the moments at which words leave, and arrive, by the level
    from which inwards turns leave the tensor where it is."""

    tile: int
    space: int
    trips: int
    most: int
    mover: int
    chunks: int
    instances: int
    moments: int
    leaving: tuple[int, ...]
    arriving: tuple[int, ...]
    width: int


def columns_of(levels: int, ways: Sequence[Way]) -> Columns:
    """The columns for these ways."""
    at = 7 * levels + 2
    leaving, arriving = [], []
    for way in ways:
        leaving.append(at)
        arriving.append(at + way.inner + 1)
        at += 2 * (way.inner + 1)
    tile, space, trips, most, mover, chunks, instances = (levels * number for number in range(7))
    moments = instances + levels + 1
    return Columns(
        tile, space, trips, most, mover, chunks, instances, moments, tuple(leaving), tuple(arriving), at
    )


def cuts_of(
    problem: HierarchyProblem, loop: str, space: Sequence[int], largest: Sequence[int]
) -> Array | None:
    """Trips in time by level of every cut [cuts, levels] whose tiles are no larger than ``largest`` by level, and in
    which each choice of trips in space is of use; None if there are too many."""
    bound = problem.bounds[loop]
    rows, chunk = np.zeros((1, 0), np.int64), np.ones(1, np.int64)
    for level in reversed(range(len(space))):
        if space[level] > 1:
            # Instances beyond the first would have nothing to do: that is a cut with other trips in space.
            rows, chunk = rows[chunk < bound], chunk[chunk < bound]
        chunk = chunk * space[level]
        need = np.maximum(1, -(-bound // chunk))
        given, most = problem.exact(level, "temporal", loop), problem.most(level, "temporal", loop)
        if given is not None or level == 0:
            own = need if given is None else np.full_like(need, given)
            fits = (own <= np.minimum(need, most)) & ((own >= need) | (level > 0))
            fits &= np.minimum(bound, chunk * own) <= largest[level]
            rows, chunk, own = rows[fits], chunk[fits], own[fits]
        else:
            many = np.minimum(need, most)
            if largest[level] < bound:
                many = np.minimum(many, largest[level] // chunk)
            if many.sum() > MOST_CUTS:
                return None
            rows, chunk = np.repeat(rows, many, axis=0), np.repeat(chunk, many)
            first = np.repeat(np.cumsum(many) - many, many)
            own = np.arange(len(rows)) - first + 1
        rows = np.concatenate([own[:, None], rows], axis=1)
        chunk = chunk * own
    return rows


def numbers_of(
    bound: int,
    rows: Array,
    space: Sequence[int],
    ways: Sequence[Way],
    shared: Sequence[Sequence[bool]],
    columns: Columns,
) -> Array:
    """The numbers of every cut [cuts, columns]; ``shared``: by tensor, the fan-outs at which instances share words."""
    levels = len(space)
    trips = np.empty((len(rows), 2 * levels), np.int64)
    trips[:, 0::2], trips[:, 1::2] = rows, space
    found = np.zeros((len(rows), columns.width), np.float64)
    inside = np.cumprod(trips[:, ::-1], axis=1, dtype=np.float64)[:, ::-1]
    found[:, columns.tile : columns.tile + levels] = np.minimum(bound, inside[:, 0::2])
    found[:, columns.space : columns.space + levels] = space
    found[:, columns.trips : columns.trips + levels] = rows
    found[:, columns.most : columns.most + levels] = -rows
    found[:, columns.instances : columns.instances + levels + 1] = [
        math.prod(space[:level]) for level in range(levels + 1)
    ]
    found[:, columns.chunks : columns.chunks + levels] = np.ceil(bound / inside[:, 0::2])
    turning = np.zeros(len(rows))
    for level in range(levels):
        turning = np.where(rows[:, level] > 1, level, turning)
        found[:, columns.mover + level] = turning
    asked, ends = _questions(levels, ways, shared)
    found[:, columns.moments :] = reached(bound, trips, asked, ends)
    return found


def _questions(levels: int, ways: Sequence[Way], shared: Sequence[Sequence[bool]]) -> tuple[Array, Array]:
    """Which digits are asked for [questions, digits], and how many of them count: by the moments of the units, and by
    each way's columns."""
    asked: list[list[bool]] = [[True, False] * levels]
    for way in ways:
        apart = [level < way.outer or not shared[way.tensor][level] for level in range(way.inner)]
        for space in (apart, [True] * way.inner):
            for mover in range(way.inner + 1):
                free = mover if way.inner < levels else levels
                time = [level <= free - 1 for level in range(way.inner)]
                asked.append([one for pair in zip(time, space, strict=True) for one in pair])
    found = np.zeros((len(asked), 2 * levels), np.bool_)
    for row, one in zip(found, asked, strict=True):
        row[: len(one)] = one
    return found, np.array([len(one) for one in asked], np.int64)


def least_numbers(
    bound: int,
    space: Sequence[int],
    ways: Sequence[Way],
    shared: Sequence[Sequence[bool]],
    columns: Columns,
) -> Array:
    """What no cut has less of [columns], without any of them."""
    levels = len(space)
    found = np.zeros(columns.width, np.float64)
    inside = [math.prod(space[level:]) for level in range(levels + 1)]
    found[columns.tile : columns.tile + levels] = [min(bound, one) for one in inside[:-1]]
    found[columns.space : columns.space + levels] = space
    found[columns.trips : columns.trips + levels] = 1
    found[columns.most : columns.most + levels] = -bound
    found[columns.instances : columns.instances + levels + 1] = [
        math.prod(space[:level]) for level in range(levels + 1)
    ]
    found[columns.chunks : columns.chunks + levels] = 1
    found[columns.moments] = -(-bound // inside[0])
    for way, leaving, arriving in zip(ways, columns.leaving, columns.arriving, strict=True):
        apart = [level < way.outer or not shared[way.tensor][level] for level in range(way.inner)]
        for first, asked in ((leaving, apart), (arriving, [True] * way.inner)):
            own = [space[level] for level in range(way.inner) if asked[level]]
            together = math.prod(own)
            # Of several slots the outermost may end with its first instance.
            least = together if sum(one > 1 for one in own) < 2 and not _may_split(own) else together // 2 + 1
            if way.inner == levels:
                least = max(least, -(-bound // (inside[0] // together)))
            found[first : first + way.inner + 1] = least
    return found


def _may_split(trips: Sequence[int]) -> bool:
    """Whether trips of a level may be those of two axes."""
    return any(one > 3 for one in trips)
