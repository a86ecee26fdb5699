"""The numbers: every level has a buffer for each tensor that it keeps, filled from the next one outside that keeps it.

The outermost loops turn one after another. Of the loops inside, all turns are looked at together: a buffer then has a
tile for each of them, brought word by word from the tile outside that holds it. Results are added to the tile outside.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.sim.hierarchy.loop import Loop, Place, Tile, shift, tile
from mapper.sim.hierarchy.statement import value_of
from mapper.sim.hierarchy.traffic import Layout
from mapper.workloads.nest.loop_nest import Operand

Array = NDArray[Any]
MOST_WORDS = 1 << 22
"""Words of a tensor that the buffers of one level have together, at most."""
MOST_TURNS = 1 << 24
MOST_OPERATIONS = 1 << 32
"""Executions of the statement looked at together, at most: where more than two tensors are read, and elsewhere."""


class Dataflow:
    """A mapping on real tensors, ``data`` in the order of the nest's operands, as they lie in the outermost level."""

    def __init__(
        self, own: Layout, mapping: HierarchyMapping, data: Sequence[Array], lows: Sequence[Place]
    ) -> None:
        self._own = own
        self._serial = _one_by_one(own)
        self._paths = [
            _Path(own, operand, _stations(mapping, operand), array, low, self._serial)
            for operand, array, low in zip(own.nest.operands, data, lows, strict=True)
        ]
        self._written = next(k for k, one in enumerate(own.nest.operands) if one.writes)

    def run(self) -> None:
        """Execute every iteration of the nest."""
        nest, together = self._own.nest, self._own.loops[self._serial :]
        names = [[at for at, loop in enumerate(together) if loop.name in one.loops] for one in nest.operands]
        counts = [loop.trips for loop in together]
        result = self._paths[self._written]
        updated = nest.operands[self._written].is_updated
        for digits in product(*(range(loop.trips) for loop in self._own.loops[: self._serial])):
            parts = [
                (path.bring(digits).reshape([counts[at] for at in names[k]]), names[k])
                for k, path in enumerate(self._paths)
                if nest.operands[k].access == "read"
            ]
            value = value_of(nest.operation, parts, counts, names[self._written])
            result.take_away(digits, value, updated)


def _one_by_one(own: Layout) -> int:
    """How many of the outermost loops turn one after another, so that the rest is small enough."""
    operands = own.nest.operands
    # The product of more than two tensors is computed pair by pair, with a word for every execution in between.
    most = MOST_TURNS if sum(one.access == "read" for one in operands) > 2 else MOST_OPERATIONS
    for serial in range(len(own.loops)):
        rest = own.loops[serial:]
        words = [math.prod(loop.trips for loop in rest if loop.name in one.loops) for one in operands]
        if max(words) <= MOST_WORDS and math.prod(loop.trips for loop in rest) <= most:
            return serial
    return len(own.loops)


def _stations(mapping: HierarchyMapping, operand: Operand) -> list[int]:
    """Levels that keep the tensor, the outermost of which is where it lies. Results that are written and not added to
    go straight there: words between those of a tile must stay as they are."""
    if operand.access == "write":
        return [0]
    return [0, *(place for place, level in enumerate(mapping.levels) if place and operand.name in level.keep)]


class _Path:
    """The way of one tensor from the outermost level to the units, through the buffers that keep it."""

    def __init__(
        self, own: Layout, operand: Operand, stations: Sequence[int], data: Array, low: Place, serial: int
    ) -> None:
        self._hops = []
        outer = Tile(low, data.shape)
        ends = [*stations[1:], own.levels]
        before = 0
        for level in ends:
            inner = tile(own.nest, operand, own.inside(level))
            after = next((at for at, loop in enumerate(own.loops) if loop.level >= level), len(own.loops))
            self._hops.append(_Hop(own.loops, operand, (before, after), serial, outer, inner))
            outer, before = inner, after
        self._data = data.reshape(1, -1)
        self._held: list[tuple[tuple[int, ...], Array] | None] = [None] * len(ends)

    def bring(self, digits: Sequence[int]) -> Array:
        """The word of every turn of the loops that are looked at together; tiles that stay are not brought again."""
        source = self._data
        for number, hop in enumerate(self._hops):
            own = hop.own_digits(digits)
            held = self._held[number]
            if held is None or held[0] != own:
                held = self._held[number] = (own, hop.filled(source, digits))
            source = held[1]
        return source

    def take_away(self, digits: Sequence[int], value: Array, updated: bool) -> None:
        """Results of these turns on their way outwards, added up wherever they meet."""
        tiles = [self._data]
        for hop in self._hops[:-1]:
            tiles.append(np.zeros((len(tiles[-1]) * hop.turns, hop.words), self._data.dtype))
        inner = value.reshape(-1, 1)
        for hop, outer in zip(reversed(self._hops), reversed(tiles), strict=True):
            hop.emptied(inner, outer, digits, updated)
            inner = outer


class _Hop:
    """From the tiles of one buffer to those of the next one inside, between which the loops of ``span`` turn; the first
    ``serial`` of all loops are at given digits."""

    def __init__(
        self,
        loops: Sequence[Loop],
        operand: Operand,
        span: tuple[int, int],
        serial: int,
        outer: Tile,
        inner: Tile,
    ) -> None:
        pitches = [math.prod(outer.size[axis + 1 :]) for axis in range(len(outer.size))]

        def words(by: Sequence[int]) -> int:
            return sum(count * pitch for count, pitch in zip(by, pitches, strict=True))

        moving = [at for at, loop in enumerate(loops) if loop.name in operand.loops]
        self._above = [at for at in moving if at < min(span[1], serial)]
        self._given = [(at, words(shift(operand, loops[at]))) for at in self._above if at >= span[0]]
        self._first = words([a - b for a, b in zip(inner.low, outer.low, strict=True)])
        address = np.zeros((), np.int64)
        for at in moving:
            if max(span[0], serial) <= at < span[1]:
                steps = np.arange(loops[at].trips) * words(shift(operand, loops[at]))
                address = address[..., None] + steps
        turns = address.size
        for extent, pitch in zip(inner.size, pitches, strict=True):
            address = address[..., None] + np.arange(extent) * pitch
        self._address = address.reshape(turns, -1)
        self.turns, self.words = self._address.shape
        self._apart = len(np.unique(self._address)) == self._address.size

    def own_digits(self, digits: Sequence[int]) -> tuple[int, ...]:
        """The digits that say which tile the inner buffer holds."""
        return tuple(digits[at] for at in self._above)

    def _start(self, digits: Sequence[int]) -> int:
        return self._first + sum(digits[at] * by for at, by in self._given)

    def filled(self, outer: Array, digits: Sequence[int]) -> Array:
        """The inner tiles, one after another, from the outer ones."""
        taken: Array = outer[:, self._address + self._start(digits)]
        return taken.reshape(-1, self.words)

    def emptied(self, inner: Array, outer: Array, digits: Sequence[int], added: bool) -> None:
        """Put the inner tiles back into the outer ones, or add them to what is there."""
        address = self._address + self._start(digits)
        given = inner.reshape(len(outer), *address.shape)
        if not added:
            outer[:, address] = given
        elif self._apart:
            outer[:, address] += given
        else:
            where: Any = (slice(None), address)
            np.add.at(outer, where, given)
