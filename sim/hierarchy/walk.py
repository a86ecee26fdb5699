"""A walk through all moments at which the loops above a level turn, and what is brought at each of them.

Of the two trips before and after a turn of a loop, all loops inside it count as in their second trip, and later trips
as the second one, as Timeloop samples them [Parashar2019, sec. V].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mapper.sim.hierarchy.loop import Place
from mapper.workloads.document import InputError

MOST_MOMENTS = 1 << 28
"""Moments at one level that are walked through at most; more would take many seconds."""
BLOCK = 1 << 20


def turns(trips: Sequence[int], what: str) -> list[int]:
    """How often each of these loops, outer to inner, is the one that turns: those inside begin again. The first moment
    of all is left out.

    Raises: InputError if there are too many moments.
    """
    moments = math.prod(trips)
    if moments > MOST_MOMENTS:
        remedy = f"{moments} tiles to walk through at one level, more than {MOST_MOMENTS}; lower the bounds"
        raise InputError(what, "loops", remedy)
    found = [0] * len(trips)
    for start in range(1, moments, BLOCK):
        still = np.arange(start, min(start + BLOCK, moments), dtype=np.int64)
        for place in reversed(range(len(trips))):
            still, digits = np.divmod(still, trips[place])
            found[place] += int(np.count_nonzero(digits))
            still = still[digits == 0]
    return found


@dataclass(frozen=True)
class Brought:
    """Tiles that come at ``moments`` moments: ``words`` of each, of the shape ``part`` (None: the whole tile).
    ``before`` is the shape of what came a moment earlier, when tiles lay ``moved`` behind (``moved`` None: the first
    tile of all)."""

    moments: int
    words: int
    part: Place | None
    before: Place | None = None
    moved: Place | None = None


def brought(size: Place, shifts: Sequence[Place], counts: Sequence[int], keeps: bool) -> list[Brought]:
    """What comes as a tile of ``size`` is moved by loops, outer to inner, that turn so often. A unit that ``keeps`` has
    what it had a moment before; others take every tile whole."""
    whole = math.prod(size)
    found = [Brought(1, whole, None)]
    if not shifts:
        return found
    inmost = shifts[-1]
    words, part = (_fresh(size, inmost), inmost) if keeps else (whole, None)
    if words == whole:
        part = None
    outer = sum(counts[:-1])
    opened: list[tuple[int, Place | None]] = [(1, None)]
    for place, count in enumerate(counts[:-1]):
        moved = tuple(
            own - sum(inner[axis] for inner in shifts[place + 1 :]) for axis, own in enumerate(shifts[place])
        )
        alike = keeps and moved == inmost
        found.append(Brought(count, words if alike else whole, part if alike else None, part, moved))
        opened.append((count, found[-1].part))
    repeated = counts[-1] // (1 + outer)
    found += [Brought(repeated * count, words, part, before, inmost) for count, before in opened]
    return found


def _fresh(size: Place, moved: Place) -> int:
    """Words of a tile that it did not have before it moved."""
    both = math.prod(max(0, extent - abs(by)) for extent, by in zip(size, moved, strict=True))
    return math.prod(size) - both
