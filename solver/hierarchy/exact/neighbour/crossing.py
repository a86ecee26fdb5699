"""What neighbours may hand on at one boundary of the hierarchy, and what is read outside in any case.

An instance takes from a neighbour what that had a moment before, so the neighbour lies where the instance's tile has
moved to. Of several places, some are furthest in the direction of the move, and nobody can hand them their new words:
one place at least reads whenever the tile moves. That is not so where two instances may lie at one place, and a tile
may come to lie where it was (by steps of loops that share a dimension); then nothing is counted as read in any case.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Array = Any


class Crossing(NamedTuple):
    """A boundary, by arrangement: at how many ``positions`` words are read for each that arrives at an instance, as far
    as it is certain. ``handed``: 0 if no neighbour hands any on, 2 if none does but at the moments that `handing`
    counts, else 1. ``tiled`` if words arrive at units only when these need others."""

    positions: Array
    handed: Array
    tiled: Array


class Side(NamedTuple):
    """Instances below a boundary as a tensor sees them: the coefficients of its dimensions, the loops that move it,
    loops that turn in space (by arrangement), places that differ, and whether it is only read."""

    rows: Array
    relevant: Array
    turning: Array
    apart: Array
    read_only: bool

    @property
    def windows(self) -> bool:
        """Whether loops share a dimension."""
        return bool(((self.rows != 0).sum(axis=1) > 1).any())

    @property
    def several(self) -> Array:
        """Whether there is more than one instance."""
        return self.turning.any(axis=1)

    @property
    def same(self) -> Array:
        """Whether loops in space leave the tensor where it is."""
        return self.turning[:, ~self.relevant].any(axis=1)

    @property
    def meet(self) -> Array:
        """Whether two loops in space move one dimension."""
        found = np.zeros(len(self.turning), np.bool_)
        for row in self.rows:
            found |= self.turning[:, row != 0].sum(axis=1) > 1
        return found

    @property
    def edge(self) -> Array:
        """Places that read in any case whenever a tile with windows moves."""
        return np.where(self.several, np.where(self.same | self.meet, 0.0, 1.0), self.apart)


def no_links(apart: Array) -> Crossing:
    """Neighbours hand nothing on."""
    none = np.zeros(len(apart), np.int64)
    return Crossing(apart, none, none)


def below_the_last(side: Side) -> Crossing:
    """Units ask for words of all their operations, and neighbours had them if a moment before the same place did.

    A tensor without windows is at the same place only while loops turn that do not move it. If all units are at one
    place, that is exact; else neighbours may lie elsewhere. Windows may also move to where a neighbour was."""
    spread = side.turning[:, side.relevant].any(axis=1)
    if not side.windows:
        return Crossing(side.apart, (side.same & spread).astype(np.int64), side.same)
    at_one_place = side.several & ~spread & side.read_only
    handed = np.where(at_one_place, 2, side.several)
    return Crossing(side.edge, handed, at_one_place | (side.several & (side.edge > 0)))


def to_the_next(side: Side) -> Crossing:
    """Into a level that keeps the tensor: without windows, a new part of a tile is never a neighbour's."""
    if not side.windows:
        return no_links(side.apart)
    return Crossing(side.edge, side.several * (2 if side.read_only else 1), side.several)


def to_further(side: Side) -> Crossing:
    """Into a level that the tensor bypasses. Where no dimension is moved by two loops in space, all places have as many
    instances: what is asked for inside is read once for that many, however little neighbours leave to be read. Else it
    is for no more instances than there are."""
    if not side.windows:
        return no_links(side.apart)
    return Crossing(np.where(side.meet, 1.0, side.apart), side.meet.astype(np.int64), side.meet)
