"""Which instances below a fan-out take the same words, and which are handed theirs by a neighbour."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from mapper.sim.hierarchy.loop import Loop, Place
from mapper.sim.hierarchy.walk import Brought

Takers = Counter[int]
"""How many different tiles so many instances take together."""


@dataclass(frozen=True)
class Array:
    """The instances below one instance of a level: where the tile of each lies, one after another in the order of the
    loops in space, in rows of ``columns``."""

    places: tuple[Place, ...]
    columns: int
    rows: int


def array(loops: Sequence[Loop], shifts: Sequence[Place], rank: int, fanout: tuple[int, int]) -> Array:
    """The instances that ``loops`` in space make; each turn moves tiles of ``rank`` dimensions by ``shifts``."""
    places = [
        tuple(sum(digit * by[axis] for digit, by in zip(digits, shifts, strict=True)) for axis in range(rank))
        for digits in product(*(range(loop.trips) for loop in loops))
    ]
    across = down = 1
    for loop in loops:
        across *= 1 if loop.axis == "y" else loop.trips
        down *= loop.trips if loop.axis == "y" else 1
    return Array(tuple(places), max(fanout[0], across), max(fanout[1], down))


def takers(places: Sequence[Place], shared: bool) -> Takers:
    """How instances come by their tiles: one access for all that take the same one, or one for each."""
    return Counter(Counter(places).values()) if shared else Counter({1: len(places)})


def without_neighbours(own: Array, moved: Place) -> list[Place]:
    """The instances of which no neighbour had, a moment before, what they take now."""
    left = []
    for number, place in enumerate(own.places):
        row, column = divmod(number, own.columns)
        sought = tuple(at + by for at, by in zip(place, moved, strict=True))
        around = ((row, column - 1), (row, column + 1), (row - 1, column), (row + 1, column))
        inside = [r * own.columns + c for r, c in around if 0 <= r < own.rows and 0 <= c < own.columns]
        if not any(one < len(own.places) and own.places[one] == sought for one in inside):
            left.append(place)
    return left


@dataclass(frozen=True)
class Crossing:
    """What crosses the boundary below one instance of a level in the whole run: ``served`` words that so many instances
    take together, and words that they hand to each other."""

    served: dict[int, int]
    handed: int

    @property
    def arriving(self) -> int:
        """Words that all instances inside take from outside."""
        return sum(together * words for together, words in self.served.items())


def crossing(comes: Sequence[Brought], own: Array, shared: bool, links: bool) -> Crossing:
    """Bring every tile to every instance; with ``links`` from a neighbour, if fewer accesses are left then."""
    served: Counter[int] = Counter()
    handed = 0
    usual = takers(own.places, shared)
    for one in comes:
        words = one.moments * one.words
        chosen = usual
        if links and words and one.moved is not None and one.before == one.part:
            left = without_neighbours(own, one.moved)
            fewer = takers(left, shared)
            if fewer.total() < usual.total():
                chosen, handed = fewer, handed + (len(own.places) - len(left)) * words
        for together, tiles in chosen.items():
            served[together] += tiles * words
    return Crossing({together: words for together, words in served.items() if words}, handed)
