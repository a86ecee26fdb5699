"""Better placements by local moves: blocks exchange PEs along their rims, or creep into free ones."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mapper.arch.tcpa import Pe, TcpaMachine
from mapper.models.pe_allocation.stream_plan import StreamPlan
from mapper.models.pe_allocation.wiring import distances
from mapper.solver.pe_allocation.way import CALL, Cells, Ways

WORK = 120_000_000
"""Pairs of PEs whose distance is taken at the most: about a second."""
WORK_OF_A_PE = 2_000_000
"""And for each PE of the array: small ones are soon looked through."""
VISIT = 100
"""What a PE visited to see whether a region is connected costs, in such pairs."""
WARMTH = (0.5, 0.15)
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


class Shapes:
    """Regions that change, with the lengths of all ways as they stand."""

    def __init__(self, plan: StreamPlan, machine: TcpaMachine, regions: Regions) -> None:
        self.plan, self.machine = plan, machine
        self.ways = Ways(machine)
        self.cells = [set(region) for region in regions]
        self.arrays = [_array(region) for region in self.cells]
        self.owner = {pe: block for block, region in enumerate(regions) for pe in region}
        self.border = distances(machine, sorted(machine.border_pes))
        self.tied: list[list[tuple[int, int]]] = [[] for _ in regions]
        for (a, b), streams in plan.feeds.items():
            self.tied[a].append((b, streams))
            self.tied[b].append((a, streams))
        self.links = self._links(range(len(regions)))
        self._before = self.links

    def drawn(self, draw: random.Random) -> Move | None:
        """A move at a random place, or None if what it leads to is not connected."""
        block = draw.randrange(len(self.cells))
        region = self.arrays[block]
        row, column = region[draw.randrange(len(region))]
        enters = draw.choice(self.machine.neighbours[int(row), int(column)] or ((int(row), int(column)),))
        other = self.owner.get(enters)
        if other == block:
            return None
        grown = self.cells[block] | {enters}
        able = grown - {enters}
        if other is not None:
            rest = self.cells[other] - {enters}
            if rest:
                able = {pe for pe in able if not rest.isdisjoint(self.machine.neighbours[pe])}
        if not able:
            return None
        leaves = draw.choice(sorted(able))
        if not self._connected(grown - {leaves}):
            return None
        if other is not None and not self._connected(rest | {leaves}):
            return None
        return Move(block, leaves, enters, other)

    def gain(self, move: Move) -> int:
        """Do ``move``; how many links less there are then."""
        self._exchange(move)
        fresh = self._links([move.block] if move.other is None else [move.block, move.other])
        self._before = {pair: self.links[pair] for pair in fresh}
        self.links.update(fresh)
        return sum(self._before.values()) - sum(fresh.values())

    def undo(self, move: Move) -> None:
        """Take back ``move``, the last one that was done."""
        self._exchange(Move(move.block, move.enters, move.leaves, move.other))
        self.links.update(self._before)

    def regions(self) -> Regions:
        return tuple(tuple(sorted(region)) for region in self.cells)

    def _exchange(self, move: Move) -> None:
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
                    found[pair] = streams * self.ways.between(self.arrays[block], self.arrays[other])
        return found

    def _connected(self, region: set[Pe]) -> bool:
        self.ways.work += VISIT * len(region) + CALL // 4
        start = next(iter(region))
        reached, ends = {start}, [start]
        while ends:
            for near in self.machine.neighbours[ends.pop()]:
                if near in region and near not in reached:
                    reached.add(near)
                    ends.append(near)
        return len(reached) == len(region)


def reshaped(
    plan: StreamPlan, machine: TcpaMachine, regions: Regions, links: int, least: int, seed: int = 0
) -> tuple[Regions, int]:
    """A placement that is no worse than ``regions`` with their wiring of ``links``; the search ends at ``least`` or
    after a fixed amount of work."""
    shapes = Shapes(plan, machine, regions)
    draw = random.Random(seed)
    best, fewest = regions, links
    limit = min(WORK, WORK_OF_A_PE * machine.pe_count)
    while fewest > least and shapes.ways.work < limit:
        shapes.ways.work += CALL // 4
        move = shapes.drawn(draw)
        if move is None:
            continue
        gain = shapes.gain(move)
        done = shapes.ways.work / limit
        warmth = WARMTH[0] * (1 - done) + WARMTH[1] * done
        if gain < 0 and draw.random() >= math.exp(gain / warmth):
            shapes.undo(move)
            continue
        links -= gain
        if links < fewest:
            best, fewest = shapes.regions(), links
    return best, fewest


def _array(region: Sequence[Pe] | set[Pe]) -> Cells:
    return np.array(sorted(region), dtype=np.int64)
