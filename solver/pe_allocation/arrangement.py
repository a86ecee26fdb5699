"""Placement by construction: blocks in flow order along a path through all PEs, then better orders and gaps.

Any order along a path is a placement, so that the search is free to exchange, shift and turn around blocks. PEs that
no block needs are gaps of 1, 2, 4, ... PEs that move like blocks.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mapper.arch.tcpa import Pe, TcpaMachine
from mapper.models.pe_allocation.stream_plan import StreamPlan
from mapper.models.pe_allocation.wiring import distances
from mapper.solver.pe_allocation.path import paths

WORK = 25_000_000
"""Pairs of PEs whose distance is taken at the most: well under a second."""
CALL = 2_000
"""What a distance of two regions costs by itself, in such pairs."""
CLIMBED = 2
"""Paths on which the order is improved, the best with the blocks in flow order."""
FARTHEST = 8
"""Places that a block is shifted by at the most."""
PATIENCE = 4_000
"""Changes in a row that find nothing better before a path is left."""


class Track:
    """One path, with the distances of the stretches that were asked for so far. ``work`` counts them."""

    def __init__(self, plan: StreamPlan, machine: TcpaMachine, path: tuple[Pe, ...]) -> None:
        self.plan, self.machine, self.path = plan, machine, path
        self.sizes = (*plan.sizes, *gaps(machine.pe_count - plan.pes))
        self.cells: NDArray[np.int64] = np.array(path, dtype=np.int64)
        border = distances(machine, sorted(machine.border_pes))
        self.to_border = [border[pe] for pe in path]
        self.work = 0
        self._ways: dict[tuple[int, int, int, int], int] = {}
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
            if key not in self._ways:
                self._ways[key] = self._way(starts[a], self.sizes[a], starts[b], self.sizes[b])
            total += streams * self._ways[key]
        for block, streams in enumerate(self.plan.outside):
            out = (block, starts[block])
            if out not in self._out:
                self._out[out] = min(self.to_border[starts[block] : starts[block] + self.sizes[block]])
            total += streams * self._out[out]
        return total

    def regions(self, order: Sequence[int]) -> tuple[tuple[Pe, ...], ...]:
        """The PEs of every block."""
        starts = self.starts(order)
        return tuple(
            tuple(sorted(self.path[starts[block] : starts[block] + size]))
            for block, size in enumerate(self.plan.sizes)
        )

    def _way(self, one: int, size: int, other: int, other_size: int) -> int:
        links = set(self.machine.links)
        if {"torus", "diagonal"} <= links:
            self.work += 100 * len(self.path)
            away = distances(self.machine, self.path[one : one + size])
            return min(away[pe] for pe in self.path[other : other + other_size])
        self.work += CALL + size * other_size
        first, second = self.cells[one : one + size], self.cells[other : other + other_size]
        down = np.abs(first[:, None, 0] - second[None, :, 0])
        across = np.abs(first[:, None, 1] - second[None, :, 1])
        if "torus" in links:
            down = np.minimum(down, self.machine.rows - down)
            across = np.minimum(across, self.machine.columns - across)
        return int(np.maximum(down, across).min() if "diagonal" in links else (down + across).min())


def gaps(spare: int) -> list[int]:
    """Sizes 1, 2, 4, ... and what is left, that sum to ``spare``."""
    found: list[int] = []
    while spare > 0:
        found.append(min(spare, 1 << len(found)))
        spare -= found[-1]
    return found


def arranged(
    plan: StreamPlan, machine: TcpaMachine, least: int, seed: int = 0
) -> tuple[tuple[tuple[Pe, ...], ...], int]:
    """The regions of every block and their wiring; the search ends at ``least`` or after a fixed amount of work.

    The blocks must have room (``has_room``).
    """
    tracks = [Track(plan, machine, path) for path in paths(machine.rows, machine.columns)]
    flow = list(range(len(tracks[0].sizes)))
    tracks.sort(key=lambda track: track.wiring(flow))
    best, order, value = tracks[0], flow, tracks[0].wiring(flow)
    draw = random.Random(seed)
    for track in tracks[:CLIMBED]:
        if value > least and len(flow) > 1:
            found, links = _climbed(track, flow, least, draw)
            if links < value:
                best, order, value = track, found, links
    return best.regions(order), value


def _climbed(track: Track, flow: list[int], least: int, draw: random.Random) -> tuple[list[int], int]:
    """Change the order at random places and keep what is no worse."""
    order, value = flow, track.wiring(flow)
    idle = 0
    limit = track.work + WORK // CLIMBED
    while value > least and idle < PATIENCE and track.work < limit:
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
