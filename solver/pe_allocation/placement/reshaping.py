"""Better placements by local moves: blocks exchange PEs along their rims, or creep into free ones."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mapper.arch.tcpa import Pe, TcpaMachine
from mapper.models.pe_allocation.configuration.wiring import distances
from mapper.models.pe_allocation.stream.plan import StreamPlan
from mapper.solver.pe_allocation.placement.route_length import CALL, Cells, RouteLengths

WORK = 100_000_000
"""Pairs of PEs whose distance is taken at most: about a second."""
WORK_OF_A_PE = 1_500_000
"""And for each PE of the array: small ones are soon looked through."""
VISIT = 100
"""What a PE visited to see whether a region is connected costs, in such pairs."""
SWAPPED = 0.08
"""Share of the moves that exchange two blocks as they stand."""
TRIES = 8
"""PEs that are looked at for one that the other block can take."""
STRAYED = 4
"""Moves for each block that lead to another placement."""
WARMTH = (0.4, 0.1)
"""Links that a move may well lose at the beginning, and at the end."""

Regions = tuple[tuple[Pe, ...], ...]


@dataclass(frozen=True)
class Move:
    """``block`` gives up ``leaves`` and gets ``enters``; ``other``, which had that, gets what it leaves (None: it was
    free)."""

    block: int
    leaves: Pe
    enters: Pe
    other: int | None


@dataclass(frozen=True)
class Swap:
    """Two blocks of as many PEs change places."""

    block: int
    other: int


class Shapes:
    """Regions that change, with the lengths of all routes as they stand."""

    def __init__(self, plan: StreamPlan, machine: TcpaMachine, regions: Regions) -> None:
        self.plan, self.machine = plan, machine
        self.routes = RouteLengths(machine)
        self.cells = [set(region) for region in regions]
        self.arrays = [_array(region) for region in self.cells]
        self.owner = {pe: block for block, region in enumerate(regions) for pe in region}
        self.border = distances(machine, sorted(machine.border_pes))
        self.alike: list[list[int]] = [
            [other for other, size in enumerate(plan.sizes) if size == plan.sizes[block] and other != block]
            for block in range(len(regions))
        ]
        self.tied: list[list[tuple[int, int]]] = [[] for _ in regions]
        for (a, b), streams in plan.feeds.items():
            self.tied[a].append((b, streams))
            self.tied[b].append((a, streams))
        self.links = self._links(range(len(regions)))
        self._before = self.links

    def drawn(self, draw: random.Random) -> Move | Swap | None:
        """A move at a random place, or None if what it leads to is not connected."""
        self.routes.work += CALL // 4
        block = draw.randrange(len(self.cells))
        if self.alike[block] and draw.random() < SWAPPED:
            return Swap(block, draw.choice(self.alike[block]))
        beside = self.machine.neighbours[self._any(block, draw)]
        if not beside:
            return None
        enters = draw.choice(beside)
        other = self.owner.get(enters)
        if other == block:
            return None
        rest = None if other is None else self.cells[other] - {enters}
        for _ in range(TRIES):
            leaves = self._any(block, draw)
            if not rest or any(near in rest for near in self.machine.neighbours[leaves]):
                break
        else:
            return None
        if not self._holds(self.cells[block] - {leaves} | {enters}, leaves):
            return None
        if rest is not None and not self._holds(rest | {leaves}, enters):
            return None
        return Move(block, leaves, enters, other)

    def _any(self, block: int, draw: random.Random) -> Pe:
        region = self.arrays[block]
        row, column = region[draw.randrange(len(region))]
        return int(row), int(column)

    def gain(self, move: Move | Swap) -> int:
        """Do ``move``; how many links less there are then."""
        self._exchange(move)
        fresh = self._links([move.block] if move.other is None else [move.block, move.other])
        self._before = {pair: self.links[pair] for pair in fresh}
        self.links.update(fresh)
        return sum(self._before.values()) - sum(fresh.values())

    def undo(self, move: Move | Swap) -> None:
        """Take back ``move``, the last one that was done."""
        if isinstance(move, Move):
            move = Move(move.block, move.enters, move.leaves, move.other)
        self._exchange(move)
        self.links.update(self._before)

    def regions(self) -> Regions:
        return tuple(tuple(sorted(region)) for region in self.cells)

    def _exchange(self, move: Move | Swap) -> None:
        if isinstance(move, Swap):
            a, b = move.block, move.other
            self.cells[a], self.cells[b] = self.cells[b], self.cells[a]
            self.arrays[a], self.arrays[b] = self.arrays[b], self.arrays[a]
            for block in (a, b):
                self.owner.update(dict.fromkeys(self.cells[block], block))
            return
        self.cells[move.block] = self.cells[move.block] - {move.leaves} | {move.enters}
        self.arrays[move.block] = _array(self.cells[move.block])
        self.owner[move.enters] = move.block
        if move.other is None:
            del self.owner[move.leaves]
        else:
            self.cells[move.other] = self.cells[move.other] - {move.enters} | {move.leaves}
            self.arrays[move.other] = _array(self.cells[move.other])
            self.owner[move.leaves] = move.other

    def _links(self, blocks: Sequence[int]) -> dict[tuple[int, int], int]:
        """Links of all streams from and to ``blocks``, by pairs; those to the buffers by a block twice."""
        found: dict[tuple[int, int], int] = {}
        for block in blocks:
            nearest = min(map(self.border.__getitem__, self.cells[block]))
            found[block, block] = self.plan.outside[block] * nearest
            for other, streams in self.tied[block]:
                pair = (min(block, other), max(block, other))
                if pair not in found:
                    found[pair] = streams * self.routes.between(self.arrays[block], self.arrays[other])
        return found

    def _holds(self, region: set[Pe], gone: Pe) -> bool:
        """Whether ``region``, which is connected together with ``gone``, is so without."""
        neighbours = self.machine.neighbours
        ends = [near for near in neighbours[gone] if near in region]
        if len(ends) < 2:
            return True
        around = set(ends).union(near for end in ends for near in neighbours[end] if near in region)
        if self._reached(around, ends[0]).issuperset(ends):
            return True
        self.routes.work += VISIT * len(region)
        return len(self._reached(region, ends[0])) == len(region)

    def _reached(self, region: set[Pe], start: Pe) -> set[Pe]:
        """The PEs of ``region`` that links within it join with ``start``."""
        reached, open_ends = {start}, [start]
        while open_ends:
            for near in self.machine.neighbours[open_ends.pop()]:
                if near in region and near not in reached:
                    reached.add(near)
                    open_ends.append(near)
        return reached


def wiring_of(plan: StreamPlan, machine: TcpaMachine, regions: Regions) -> int:
    """Links of all streams."""
    return sum(Shapes(plan, machine, regions).links.values())


def reshaped(
    plan: StreamPlan,
    machine: TcpaMachine,
    regions: Regions,
    links: int,
    least: int,
    work: int = WORK,
    seed: int = 0,
) -> tuple[Regions, int]:
    """A placement that is no worse than ``regions`` with their wiring of ``links``; the search ends at ``least`` or
    after so much work."""
    shapes = Shapes(plan, machine, regions)
    draw = random.Random(seed)
    best, fewest = regions, links
    limit = min(work, WORK_OF_A_PE * machine.pe_count)
    while fewest > least and shapes.routes.work < limit:
        move = shapes.drawn(draw)
        if move is None:
            continue
        gain = shapes.gain(move)
        done = shapes.routes.work / limit
        warmth = WARMTH[0] * (1 - done) + WARMTH[1] * done
        if gain < 0 and draw.random() >= math.exp(gain / warmth):
            shapes.undo(move)
            continue
        links -= gain
        if links < fewest:
            best, fewest = shapes.regions(), links
    return best, fewest


def strayed(plan: StreamPlan, machine: TcpaMachine, regions: Regions, links: int, seed: int) -> Regions:
    """Another placement near ``regions``: local moves that lose as much as they like, then such that win it back."""
    shapes = Shapes(plan, machine, regions)
    draw = random.Random(seed)
    for _ in range(STRAYED * len(regions)):
        move = shapes.drawn(draw)
        if move is not None:
            links -= shapes.gain(move)
    work = min(WORK, WORK_OF_A_PE * machine.pe_count) // 4
    return reshaped(plan, machine, shapes.regions(), links, 0, work, seed)[0]


def _array(region: Sequence[Pe] | set[Pe]) -> Cells:
    return np.array(sorted(region), dtype=np.int64)
