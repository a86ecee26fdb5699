"""What crosses one boundary of the hierarchy: deltas of tiles, multicast, and words that neighbours hand on.

The rules are those of Timeloop's nest analysis (NVlabs/timeloop, ``nest-analysis.cpp``), which visits the first two
trips of each loop above the boundary and takes the second for all others. A tile is delivered whole at first. When the
innermost loop above moves it, only words that were not in the tile before are; when another loop does, the tile is
delivered whole, unless it moves by just as much as under the innermost loop. The sums over all these visits have closed
forms, in which each loop occurs once.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from mapper.models.hierarchy.tile import Box, Offset, Step

Shape = tuple[str, Offset]
WHOLE: Shape = ("whole", ())
NOTHING: Shape = ("nothing", ())


@dataclass(frozen=True)
class Visit:
    """Tiles that are brought at ``weight`` moments: ``words`` each, in the shape of what is new; ``before`` is the
    shape that the same instance got a moment earlier, when its tile lay ``moved`` behind."""

    weight: int
    words: int
    shape: Shape
    before: Shape | None = None
    moved: Offset = ()


@dataclass(frozen=True)
class Delivery:
    """``reads``: for each number of instances that take the same words, words read at the outer side, of one instance
    there. ``links``: words that instances inside take from their neighbours."""

    reads: tuple[tuple[int, int], ...]
    links: int = 0

    @property
    def total(self) -> int:
        """Words read at the outer side."""
        return sum(words for _, words in self.reads)

    @property
    def received(self) -> int:
        """Words that arrive inside, at all instances together."""
        return sum(sharing * words for sharing, words in self.reads)


def visits(box: Box, temporal: Sequence[Step], reused: bool) -> list[Visit]:
    """The moments at which a tile of this box changes under the loops above it, outer to inner. Without reuse, as at
    compute units, every moment brings it whole."""
    whole = math.prod(box)
    found = [Visit(1, whole, WHOLE)]
    if not temporal:
        return found
    *outer, innermost = temporal
    moves = _moves(temporal)
    shape, words = _new_words(box, innermost.offset) if reused else (WHOLE, whole)
    outside = 1
    earlier = [(1, WHOLE)]
    for step, moved in zip(outer, moves, strict=False):
        weight = (step.trips - 1) * outside
        outside *= step.trips
        steady = reused and moved == innermost.offset
        found.append(Visit(weight, words if steady else whole, shape if steady else WHOLE, shape, moved))
        earlier.append((weight, found[-1].shape))
    for weight, before in earlier:
        found.append(Visit((innermost.trips - 1) * weight, words, shape, before, innermost.offset))
    return found


def _moves(temporal: Sequence[Step]) -> list[Offset]:
    """By how much a tile moves from the second trip of all loops inside to the next trip of each loop."""
    moves: list[Offset] = []
    inside = (0,) * len(temporal[0].offset)
    for step in reversed(temporal):
        moves.append(tuple(own - back for own, back in zip(step.offset, inside, strict=True)))
        inside = tuple(own + back for own, back in zip(step.offset, inside, strict=True))
    return list(reversed(moves))


def _new_words(box: Box, offset: Offset) -> tuple[Shape, int]:
    """What a tile has that it had not before it moved by ``offset``: its shape, and its words."""
    if not any(offset):
        return NOTHING, 0
    kept = math.prod(max(0, extent - abs(by)) for extent, by in zip(box, offset, strict=True))
    return (("new", offset) if kept else WHOLE), math.prod(box) - kept


def delivery(
    box: Box,
    temporal: Sequence[Step],
    spatial: tuple[Step, ...],
    width: tuple[int, int],
    *,
    reused: bool,
    multicast: bool,
    links: bool,
) -> Delivery:
    """Words that cross a boundary into tiles of ``box``, under the loops in time above and those in space right above.
    ``width`` are the instances along X and Y that the fan-out has."""
    reads: Counter[int] = Counter()
    linked = 0
    usual = sharing(spatial, multicast)
    for visit in visits(box, temporal, reused):
        if not visit.words or not visit.weight:
            continue
        groups = usual
        if links and visit.before == visit.shape and may_link(spatial, visit.moved):
            fewer, handed = without_links(spatial, visit.moved, width, multicast)
            if sum(dict(fewer).values()) < sum(dict(usual).values()):
                groups, linked = fewer, linked + handed * visit.words * visit.weight
        for together, positions in groups:
            reads[together] += positions * visit.words * visit.weight
    return Delivery(tuple(sorted(reads.items())), linked)


Groups = tuple[tuple[int, int], ...]
"""How many positions there are that so many instances share, as (instances, positions)."""


@lru_cache(maxsize=4096)
def sharing(spatial: tuple[Step, ...], multicast: bool) -> Groups:
    """How instances below a fan-out share tiles."""
    instances = math.prod(step.trips for step in spatial)
    if not multicast:
        return ((1, instances),)
    moving = [step for step in spatial if any(step.offset)]
    same = math.prod(step.trips for step in spatial if not any(step.offset))
    if never_meet(moving):
        return ((same, instances // same),)
    at = Counter(positions(tuple(moving)))
    return tuple(sorted(Counter(same * count for count in at.values()).items()))


def never_meet(moving: Sequence[Step]) -> bool:
    """Whether no two values of these loops name the same position (sufficient, by mixed radix in each dimension)."""
    if any(sum(map(bool, step.offset)) > 1 for step in moving):
        return False
    for dimension in range(len(moving[0].offset) if moving else 0):
        reach = 0
        for step in sorted(
            (one for one in moving if one.offset[dimension]), key=lambda one: abs(one.offset[dimension])
        ):
            if abs(step.offset[dimension]) <= reach:
                return False
            reach += abs(step.offset[dimension]) * (step.trips - 1)
    return True


@lru_cache(maxsize=256)
def positions(spatial: tuple[Step, ...]) -> list[Offset]:
    """Where the tile of each instance lies, instances counted in the order of the loops."""
    places: list[Offset] = [()]
    if spatial:
        places = [(0,) * len(spatial[0].offset)]
    for step in spatial:
        places = [
            tuple(at + trip * by for at, by in zip(place, step.offset, strict=True))
            for place in places
            for trip in range(step.trips)
        ]
    return places


def may_link(spatial: tuple[Step, ...], moved: Offset) -> bool:
    """Whether some instance may have had, a moment earlier, what another takes now (necessary)."""
    if not spatial:
        return False
    if not any(moved):
        return any(not any(step.offset) for step in spatial) or not never_meet(spatial)
    reach = [sum(abs(step.offset[d]) * (step.trips - 1) for step in spatial) for d in range(len(moved))]
    return all(abs(by) <= span for by, span in zip(moved, reach, strict=True))


@lru_cache(maxsize=4096)
def without_links(
    spatial: tuple[Step, ...], moved: Offset, width: tuple[int, int], multicast: bool
) -> tuple[Groups, int]:
    """How the instances share tiles that no neighbour can hand them, and how many a neighbour can. Neighbours are next
    to each other along X or Y, instances laid out in rows as wide as the fan-out."""
    places = positions(spatial)
    across = math.prod(step.trips for step in spatial if step.axis != "y")
    down = math.prod(step.trips for step in spatial if step.axis == "y")
    columns, rows = max(width[0], across), max(width[1], down)
    left: list[Offset] = []
    for instance, place in enumerate(places):
        column, row = instance % columns, instance // columns
        earlier = tuple(at + by for at, by in zip(place, moved, strict=True))
        beside = ((column - 1, row), (column + 1, row), (column, row - 1), (column, row + 1))
        handed = any(
            0 <= x < columns
            and 0 <= y < rows
            and y * columns + x < len(places)
            and places[y * columns + x] == earlier
            for x, y in beside
        )
        if not handed:
            left.append(place)
    if not multicast:
        return ((1, len(left)),), len(places) - len(left)
    return tuple(sorted(Counter(Counter(left).values()).items())), len(places) - len(left)
