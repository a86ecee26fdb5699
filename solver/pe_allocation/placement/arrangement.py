"""Placement by construction: blocks in flow order along a path through all PEs, then better orders and gaps.

Any order along a path is a placement, so the search is free to exchange, shift and reverse blocks. PEs that no block
needs form gaps of 1, 2, 4, ... PEs that move like blocks.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import numpy as np

from mapper.arch.tcpa import Pe, TcpaMachine
from mapper.models.pe_allocation.configuration.wiring import distances
from mapper.models.pe_allocation.stream.plan import StreamPlan
from mapper.solver.pe_allocation.placement.path import paths
from mapper.solver.pe_allocation.placement.route_length import Cells, RouteLengths

WORK = 10_000_000
"""Pairs of PEs whose distance is taken at most: well under a second."""
CLIMBED = 2
"""Paths on which the order is improved, the best with the blocks in flow order."""
FARTHEST = 8
"""Places that a block is shifted by at most."""
PATIENCE = 4_000
"""Changes in a row that find nothing better before a path is left."""


class Track:
    """One path, with the distances of the stretches that were asked for so far."""

    def __init__(self, plan: StreamPlan, machine: TcpaMachine, border: Cells, path: tuple[Pe, ...]) -> None:
        self.plan, self.path = plan, path
        self.routes = RouteLengths(machine)
        self.sizes = (*plan.sizes, *gaps(len(path) - plan.pes))
        self.cells: Cells = np.array(path, dtype=np.int64)
        self.to_border = border[self.cells[:, 0], self.cells[:, 1]]
        self._lengths: dict[tuple[int, int, int, int], int] = {}
        self._out: dict[tuple[int, int], int] = {}

    def starts(self, order: Sequence[int]) -> list[int]:
        """Where on the path each block begins, by its number."""
        found, now = [0] * len(order), 0
        for block in order:
            found[block] = now
            now += self.sizes[block]
        return found

    def wiring(self, order: Sequence[int]) -> int:
        """Links of all streams with the blocks in this order."""
        starts = self.starts(order)
        total = 0
        for (a, b), streams in self.plan.feeds.items():
            key = (a, starts[a], b, starts[b])
            if key not in self._lengths:
                self._lengths[key] = self.routes.between(self._stretch(a, starts), self._stretch(b, starts))
            total += streams * self._lengths[key]
        for block, streams in enumerate(self.plan.outside):
            out = (block, starts[block])
            if out not in self._out:
                self._out[out] = int(self.to_border[starts[block] : starts[block] + self.sizes[block]].min())
            total += streams * self._out[out]
        return total

    def _stretch(self, block: int, starts: Sequence[int]) -> Cells:
        return self.cells[starts[block] : starts[block] + self.sizes[block]]

    def regions(self, order: Sequence[int]) -> tuple[tuple[Pe, ...], ...]:
        """The PEs of every block."""
        starts = self.starts(order)
        return tuple(
            tuple(sorted(self.path[starts[block] : starts[block] + size]))
            for block, size in enumerate(self.plan.sizes)
        )


def gaps(spare: int) -> list[int]:
    """Sizes 1, 2, 4, ... and what is left, that sum to ``spare``."""
    found: list[int] = []
    while spare > 0:
        found.append(min(spare, 1 << len(found)))
        spare -= found[-1]
    return found


def arranged(
    plan: StreamPlan, machine: TcpaMachine, least: int, work: int = WORK, seed: int = 0
) -> tuple[tuple[tuple[Pe, ...], ...], int]:
    """The regions of every block and their wiring; the search ends at ``least`` or after so much work.

    The blocks must have room (``has_room``).
    """
    away = distances(machine, sorted(machine.border_pes))
    border: Cells = np.array([away[pe] for pe in machine.all_pes]).reshape(machine.rows, machine.columns)
    tracks: list[tuple[int, int, Track]] = []
    for path in paths_of(plan, machine):
        track = Track(plan, machine, border, path)
        flow = list(range(len(track.sizes)))
        tracks.append((track.wiring(flow), len(tracks), track))
        if tracks[-1][0] == least:
            return track.regions(flow), least
    value, _, best = min(tracks)
    order = list(range(len(best.sizes)))
    draw = random.Random(seed)
    for _, _, track in sorted(tracks)[:CLIMBED]:
        if value > least and len(track.sizes) > 1:
            found, links = _climbed(track, least, draw, work // CLIMBED)
            if links < value:
                best, order, value = track, found, links
    return best.regions(order), value


def paths_of(plan: StreamPlan, machine: TcpaMachine) -> Iterator[tuple[Pe, ...]]:
    """Paths through flat and square parts of the grid that have enough PEs, in a corner whose sides have buffers if
    there is one, and through the whole grid."""
    rows, columns, sides = machine.rows, machine.columns, machine.border.sides
    top = 0 if "north" in sides or "south" not in sides else rows
    left = 0 if "west" in sides or "east" not in sides else columns
    parts: list[tuple[int, int]] = []
    least = -(-plan.pes // columns)
    for high in sorted({min(rows, least * grown // 4) for grown in (4, 6, 10, 16, 32)}):
        narrow = min(columns, -(-plan.pes // high))
        parts += [(high, min(columns, narrow + 3 - (narrow - 1) % 4)), (high, columns)]
    for high, wide in dict.fromkeys([*parts, (rows, columns)]):
        down, right = (top - high if top else 0), (left - wide if left else 0)
        yield from (tuple((down + r, right + c) for r, c in path) for path in paths(high, wide))


def _climbed(track: Track, least: int, draw: random.Random, work: int) -> tuple[list[int], int]:
    """Change the order at random places and keep what is no worse."""
    order = list(range(len(track.sizes)))
    value = track.wiring(order)
    idle = 0
    limit = track.routes.work + work
    while value > least and idle < PATIENCE and track.routes.work < limit:
        changed = _changed(order, draw)
        links = track.wiring(changed)
        idle = 0 if links < value else idle + 1
        if links <= value:
            order, value = changed, links
    return order, value


def _changed(order: list[int], draw: random.Random) -> list[int]:
    """Two blocks exchanged, one shifted, or a stretch turned around."""
    one = draw.randrange(len(order))
    other = min(len(order) - 1, max(0, one + draw.randint(-FARTHEST, FARTHEST)))
    low, high = min(one, other), max(one, other)
    changed = list(order)
    kind = draw.randrange(3)
    if kind == 0:
        changed[one], changed[other] = changed[other], changed[one]
    elif kind == 1:
        changed.insert(other, changed.pop(one))
    else:
        changed[low : high + 1] = changed[low : high + 1][::-1]
    return changed
