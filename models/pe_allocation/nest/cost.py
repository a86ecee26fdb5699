"""What a mapping of a loop nest costs: cycles from the first word that leaves a buffer to the last that is back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mapper.models.pe_allocation.nest.grid import Grid
from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.models.pe_allocation.nest.work import LINK_LATENCY, reductions, work_of, written
from mapper.workloads.nest.loop_nest import LoopNest, Operand
from mapper.workloads.nest.tensor import tensors
from mapper.workloads.recurrence.recurrence import Recurrence

Steps = NDArray[np.int64]


@dataclass(frozen=True)
class NestCost:
    """``cycles`` by cause: ``fill`` until every PE that is fed has its first words, ``wait`` until the tile that ends
    last begins, ``words`` that begin in it after its first one, ``pipeline`` of an iteration, and ``drain`` on the way
    to the border. ``streams`` enter or leave the array; ``registers`` hold what a PE keeps at once: partial sums, or
    values for later iterations."""

    fill: int
    wait: int
    words: int
    pipeline: int
    drain: int
    pes: int
    bytes_of: dict[str, int]
    streams: int
    registers: int
    clock_hz: int

    @property
    def cycles(self) -> int:
        return self.fill + self.wait + self.words + self.pipeline + self.drain

    @property
    def buffer_bytes(self) -> int:
        return sum(self.bytes_of.values())

    def cost_json(self) -> dict[str, Any]:
        return {
            "pes": self.pes,
            "throughput_fps": None,
            "cycles": self.cycles,
            "latency_ms": self.cycles * 1000 / self.clock_hz,
            "buffer_bytes": self.buffer_bytes,
        }

    def breakdown_json(self) -> dict[str, Any]:
        causes = ("fill", "wait", "words", "pipeline", "drain")
        return {
            "cycles": {cause: getattr(self, cause) for cause in causes},
            "bytes": dict(self.bytes_of),
            "streams": self.streams,
            "registers": self.registers,
        }


def tiles_of(nest: LoopNest | Recurrence, mapping: NestMapping) -> dict[str, int]:
    """Tiles along each loop; the last may be smaller."""
    return {loop: -(-bound // mapping.tile_of[loop]) for loop, bound in nest.bounds}


def grid_shape(nest: LoopNest, mapping: NestMapping) -> tuple[int, int]:
    """Rows and columns that have tiles."""
    tiles = tiles_of(nest, mapping)
    rows, columns = (1 if loop is None else tiles[loop] for loop in (mapping.rows, mapping.columns))
    return rows, columns


def held(nest: LoopNest, mapping: NestMapping, operand: Operand) -> tuple[bool, bool]:
    """Whether the operand's words differ from row to row, and from column to column."""
    return mapping.rows in operand.loops, mapping.columns in operand.loops


def evaluate(nest: LoopNest, grid: Grid, mapping: NestMapping) -> NestCost:
    """The cost of ``mapping``, whose tiles must fit the array."""
    shape = grid_shape(nest, mapping)
    distance = grid.to_border[: shape[0], : shape[1]]
    starts, ends = _times(nest, mapping, shape)
    fill = LINK_LATENCY * int(distance[_fed(nest, mapping, shape)].max(initial=0))
    work = work_of(nest, grid.machine)
    last = _leaving(nest, mapping, shape)
    back = np.where(last, ends + LINK_LATENCY * distance, -1)
    place = np.unravel_index(int(back.argmax()), shape)
    return NestCost(
        fill=fill,
        wait=int(starts[place]),
        words=int(ends[place] - starts[place]),
        pipeline=work.depth,
        drain=LINK_LATENCY * int(distance[place]),
        pes=shape[0] * shape[1],
        bytes_of={one.name: one.words * grid.machine.word_bytes for one in tensors(nest)},
        streams=streams(nest, (mapping.rows, mapping.columns), shape),
        registers=_registers(nest, mapping),
        clock_hz=grid.machine.clock_hz,
    )


def _times(nest: LoopNest, mapping: NestMapping, shape: tuple[int, int]) -> tuple[Steps, Steps]:
    """When the first and the last word of every tile begin, from the first tile's start on."""
    starts, ends = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    for loop, bound in nest.bounds:
        tile, inner = mapping.tile_of[loop], mapping.inner_of[loop]
        if loop in (mapping.rows, mapping.columns):
            along = 0 if loop == mapping.rows else 1
            index = np.arange(shape[along]).reshape((-1, 1) if along == 0 else (1, -1))
            starts = starts + mapping.outer_of[loop] * index
            sizes = np.minimum(tile, bound - tile * index)
            steps = -(-sizes // mapping.lanes) if loop == mapping.order[-1] else sizes
            ends = ends + inner * (steps - 1)
        else:
            ends = ends + inner * (mapping.words(loop, tile) - 1)
    return starts, starts + ends


def _fed(nest: LoopNest, mapping: NestMapping, shape: tuple[int, int]) -> NDArray[np.bool_]:
    """PEs to which a stream leads from the border: the first of those that hand a word on, or each that has words of
    its own. Sums that do not begin at 0 are fed to the tiles that begin them."""
    found = np.zeros(shape, np.bool_)
    for operand in nest.operands:
        if operand.access == "read" or (operand.is_updated and not operand.zero_initialised):
            rows, columns = held(nest, mapping, operand)
            found[: None if rows else 1, : None if columns else 1] = True
    return found


def _leaving(nest: LoopNest, mapping: NestMapping, shape: tuple[int, int]) -> NDArray[np.bool_]:
    """PEs that finish results: the last of those that hand a sum on, else each."""
    found = np.zeros(shape, np.bool_)
    rows, columns = held(nest, mapping, written(nest))
    found[0 if rows else -1 :, 0 if columns else -1 :] = True
    return found


def streams(nest: LoopNest, axes: tuple[str | None, str | None], shape: tuple[int, int]) -> int:
    """Streams that enter or leave the array, each of which an address generator makes, with these loops on so many rows
    and columns."""
    count = 0
    for operand in nest.operands:
        lines = math.prod(tiles for loop, tiles in zip(axes, shape, strict=True) if loop in operand.loops)
        begun = operand.is_updated and not operand.zero_initialised
        count += lines * (2 if begun else 1)
    return count


def _registers(nest: LoopNest, mapping: NestMapping) -> int:
    """Sums that a PE holds at once: the words of the written operand that come between two additions to one sum."""
    summing = [
        at
        for at, loop in enumerate(mapping.order)
        if loop in reductions(nest) and mapping.words(loop, mapping.tile_of[loop]) > 1
    ]
    if not summing:
        return 1
    return math.prod(
        mapping.tile_of[loop] for loop in mapping.order[summing[0] :] if loop not in reductions(nest)
    )
