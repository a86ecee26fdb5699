"""The array at work: every iteration reads what is on its PE by then, and adds it where its sum stands.

An input comes from the border, or from the neighbour that had it before. A sum stands on the PE that added to it last
and takes the links to the next one. Whoever reads before a word is there, or begins a word while another takes the
units, is a violation.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mapper.arch.tcpa import Pe, TcpaMachine
from mapper.models.pe_allocation.nest.grid import Grid
from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.sim.pe_allocation.nest.execution import Block, Tile, addresses, blocks_of, tiles_of_array
from mapper.sim.pe_allocation.violation import Violation
from mapper.workloads.nest.loop_nest import LoopNest, Operand
from mapper.workloads.nest.tensor import Tensor, tensors

Numbers = NDArray[np.int64]
LINK = UNIT = 1
UNSENT = "an input is read before its neighbour has handed it on"
EARLY_SUM = "a sum is read before it is there"
CROWDED = "a word begins before the units have taken the one before"
WIDE = "a word has more iterations than lanes"


@dataclass
class NestRun:
    """What came out: the written tensor, the cycle at which the last result was back in a buffer, PEs that worked, and
    what went wrong."""

    output: Numbers
    cycles: int = 0
    pes: int = 0
    iterations: int = 0
    violations: list[Violation] = field(default_factory=list)


class Array:
    """The PEs, the buffers, and where every sum stands."""

    def __init__(
        self, nest: LoopNest, machine: TcpaMachine, mapping: NestMapping, data: dict[str, NDArray[Any]]
    ) -> None:
        self.nest, self.mapping, self.grid = nest, mapping, Grid(machine)
        self.units = machine.functional_units
        named = {at: one for one in tensors(nest) for at in one.operands}
        self.reads: list[tuple[Operand, Tensor]] = [
            (one, named[at]) for at, one in enumerate(nest.operands) if one.access == "read"
        ]
        self.target, self.tensor = next(
            (one, named[at]) for at, one in enumerate(nest.operands) if one.writes
        )
        self.words = {name: values.reshape(-1) for name, values in data.items()}
        self.sums = self.words[self.tensor.name].astype(np.int64)
        self.run = NestRun(self.sums)
        self.ready = np.full(self.sums.shape, -1, np.int64)
        self.holder = np.full(self.sums.shape, -1, np.int64)
        self.tiles = {tile.pe: tile for tile in tiles_of_array(nest, mapping)}
        self.begin = self._begin()

    def work(self) -> NestRun:
        """All tiles, in the order in which sums go through them."""
        for tile in self.tiles.values():
            self._check_inputs(tile)
            latest = -1
            for block in blocks_of(self.mapping, tile):
                self._check_units(tile, block, latest)
                self._execute(tile, block)
                latest = int(block.times[-1])
            self.run.pes += 1
        self._drain()
        return self.run

    def _source(self, operand: Operand, tile: Tile) -> Pe:
        """The PE at which the operand's words for this tile enter the array."""
        loops = (self.mapping.rows, self.mapping.columns)
        row, column = (at if loop in operand.loops else 0 for loop, at in zip(loops, tile.pe, strict=True))
        return row, column

    def _begin(self) -> int:
        """The cycle of the first word, if every stream leaves its buffer in cycle 0 and all wait for the farthest."""
        fed = {self._source(operand, tile) for operand, _ in self.reads for tile in self.tiles.values()}
        if self.target.is_updated and not self.target.zero_initialised:
            fed |= {self._source(self.target, tile) for tile in self.tiles.values()}
        return LINK * max((int(self.grid.to_border[pe]) for pe in fed), default=0)

    def _check_inputs(self, tile: Tile) -> None:
        """A word that is handed on reaches each tile over the links no later than it is read there."""
        for operand, _ in self.reads:
            source = self._source(operand, tile)
            while source != tile.pe:
                row, column = source
                step = (row, column + 1) if column < tile.pe[1] else (row + 1, column)
                late = self.tiles[source].start + LINK - self.tiles[step].start
                if late > 0:
                    self._violated(UNSENT, operand.name, self.tiles[step], 1, late)
                source = step

    def _check_units(self, tile: Tile, block: Block, latest: int) -> None:
        """Words begin in turn, an interval apart at the least, and none has more iterations than lanes."""
        gaps = np.diff(block.times, prepend=latest) if latest >= 0 else np.diff(block.times)
        early = gaps[(gaps != 0) & (gaps < self.mapping.interval)]
        if early.size:
            late = self.mapping.interval - int(early.min())
            self._violated(CROWDED, "units", tile, int(early.size), late)
        _, counts = np.unique(block.times, return_counts=True)
        if int(counts.max()) > self.mapping.lanes:
            more = counts[counts > self.mapping.lanes]
            self._violated(WIDE, "units", tile, len(more), int(more.max()) - self.mapping.lanes)

    def _execute(self, tile: Tile, block: Block) -> None:
        values = self._values(tile, block)
        where = addresses(self.target, self.tensor, tile.first, block.offsets)
        number = tile.pe[0] * self.grid.machine.columns + tile.pe[1]
        added = block.times + self.begin + self._depth() - UNIT
        order = np.lexsort((added, where))
        where, added, values = where[order], added[order], values[order]
        heads = np.flatnonzero(np.diff(where, prepend=-1))
        self._check_sums(tile, where[heads], added[heads], number)
        ends = np.append(heads[1:], len(where)) - 1
        if self.target.is_updated:
            self.sums[where[heads]] += np.add.reduceat(values, heads)
        else:
            self.sums[where[heads]] = values[ends]
        self.ready[where[heads]] = added[ends] + UNIT
        self.holder[where[heads]] = number
        self.run.iterations += len(where)

    def _check_sums(self, tile: Tile, where: Numbers, added: Numbers, number: int) -> None:
        """What stands elsewhere has come over the links, and what stands here is ready."""
        if not self.target.is_updated:
            return
        before = self.holder[where]
        for holder in np.unique(before):
            if holder < 0:
                continue
            row, column = divmod(int(holder), self.grid.machine.columns)
            links = 0 if holder == number else self.grid.between((row, column), tile.pe)
            waits = (self.ready[where] + LINK * links - added)[before == holder]
            late = int(waits.max())
            if late > 0:
                self._violated(EARLY_SUM, self.target.name, tile, int((waits > 0).sum()), late)

    def _values(self, tile: Tile, block: Block) -> Numbers:
        """What the iterations compute from the words that the tile's streams carry. A word that is handed on was read
        for the tile where it entered, at the same place within it."""
        found: Numbers | None = None
        for operand, tensor in self.reads:
            first = self.tiles[self._source(operand, tile)].first
            at = addresses(operand, tensor, first, block.offsets)
            words = self.words[tensor.name][at].astype(np.int64)
            if found is None:
                found = words
            else:
                found = found * words if self.nest.operation == "multiply_add" else found + words
        if found is None:
            return np.full(len(block.times), int(self.nest.operation == "multiply_add"), np.int64)
        return found

    def _depth(self) -> int:
        """Cycles of an iteration: its operations one after another."""
        operations = len(self.reads) - 1
        if self.nest.operation == "add" and self.target.is_updated:
            operations += 1
        return UNIT * max(1, operations)

    def _drain(self) -> None:
        """Results leave over the links from the PEs on which they stand."""
        done = self.holder >= 0
        rows, columns = np.divmod(self.holder[done], self.grid.machine.columns)
        back = self.ready[done] + LINK * self.grid.to_border[rows, columns]
        self.run.cycles = int(back.max())

    def _violated(self, rule: str, name: str, tile: Tile, times: int, size: int) -> None:
        place = f"{name} at {tile.pe[0]},{tile.pe[1]}"
        self.run.violations.append(Violation(rule, place, tile.start + self.begin, times, size))


def simulate_nest(
    nest: LoopNest, machine: TcpaMachine, mapping: NestMapping, data: dict[str, NDArray[Any]]
) -> NestRun:
    """Execute ``mapping`` on ``data``, which is left as it is."""
    return Array(nest, machine, mapping, data).work()
