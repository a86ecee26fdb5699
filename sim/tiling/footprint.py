"""What tiles take of a machine, counted by the simulator itself: boxes, runs of addresses, copies in PEs.

Nothing here is shared with ``mapper.models.tiling``; the two are held against each other by the tests.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from mapper.arch.dataflow import DataflowMachine
from mapper.models.tiling.mapping import TilingMapping
from mapper.workloads.document import InputError
from mapper.workloads.nest.loop_nest import LoopNest, Operand
from mapper.workloads.nest.tensor import bounds_of


@dataclass(frozen=True)
class Shape:
    """Trip counts of every loop within each kind of tile: of one PE's register file, of the whole array's,
    of the scratch-pad's, and of the PEs alone."""

    rf: dict[str, int]
    array: dict[str, int]
    spm: dict[str, int]
    pes: dict[str, int]


@dataclass(frozen=True)
class Footprint:
    """What moving one tile of an operand takes: words and cycles, of every level."""

    array_words: int
    """Words the scratch-pad gives or takes, each counted once."""
    delivered_words: int
    """Words the network hands to register files, or collects from those that hold a result."""
    noc_cycles: int
    """Cycles on the narrowest network that the operand uses."""
    additions: int
    """Words that PEs add to those of another PE when partial sums meet."""
    reduction_cycles: int
    spm_words: int
    bursts: int
    """Runs of consecutive addresses of one scratch-pad tile as the tensor is stored."""
    dma_cycles: int


def shape_of(nest: LoopNest, mapping: TilingMapping) -> Shape:
    """Trip counts of the tiles of ``mapping``.

    Raises: InputError if the factors of a loop do not multiply to its bound.
    """
    by_loop = dict(zip(mapping.loops, mapping.factors, strict=True))
    for loop, bound in nest.bounds:
        if loop not in by_loop or math.prod(by_loop[loop]) != bound:
            raise InputError("mapping", f"tiling.{loop}", f"factors must multiply to the bound {bound}")
    rf = {loop: by_loop[loop][2] for loop in nest.loops}
    pes = {loop: by_loop[loop][3] for loop in nest.loops}
    array = {loop: rf[loop] * pes[loop] for loop in nest.loops}
    spm = {loop: array[loop] * by_loop[loop][1] for loop in nest.loops}
    return Shape(rf, array, spm, pes)


def box(operand: Operand, trip_counts: Mapping[str, int]) -> tuple[int, ...]:
    """Words per dimension between the least and the largest index that loops of these counts touch."""
    ranges = (bounds_of(dimension, trip_counts) for dimension in operand.index)
    return tuple(most - least + 1 for least, most in ranges)


def runs(tile: tuple[int, ...], stored: tuple[int, ...]) -> int:
    """Runs of consecutive addresses that a box of ``tile`` words takes in a tensor of ``stored`` words.

    The addresses at which rows of the box begin are written down and the gaps between rows counted.
    """
    starts = np.zeros(1, np.int64)
    pitch = math.prod(stored[1:])
    for depth, width in enumerate(tile[:-1]):
        starts = (starts[:, None] + np.arange(width, dtype=np.int64) * pitch).reshape(-1)
        pitch //= stored[depth + 1]
    return 1 + int(np.count_nonzero(np.diff(starts) != tile[-1]))


def footprints(nest: LoopNest, machine: DataflowMachine, shape: Shape) -> tuple[Footprint, ...]:
    """The footprint of every operand's tiles, in operand order."""
    widths = [
        min(machine.noc.networks[network].width_words for network in used if network is not None)
        for used in networks(nest, machine)
    ]
    return tuple(
        _footprint(nest, machine, operand, shape, width)
        for operand, width in zip(nest.operands, widths, strict=True)
    )


def _footprint(
    nest: LoopNest, machine: DataflowMachine, operand: Operand, shape: Shape, width: int
) -> Footprint:
    in_rf, in_array = math.prod(box(operand, shape.rf)), math.prod(box(operand, shape.array))
    tile = box(operand, shape.spm)
    pes = math.prod(shape.pes.values())
    results = math.prod(count for loop, count in shape.pes.items() if loop in operand.loops)
    additions = in_rf * (pes - results) if operand.is_updated else 0
    reduction = additions // results if machine.noc.reduction == "mesh" else additions
    declared = machine.rules.stored_extent == "declared"
    bursts = runs(tile, operand.extents if declared else box(operand, nest.trip_counts))
    spm_words = math.prod(tile)
    return Footprint(
        array_words=in_array,
        delivered_words=in_rf * (results if operand.writes else pes),
        noc_cycles=-(-in_array // width),
        additions=additions,
        reduction_cycles=0 if machine.streams or machine.noc.reduction == "systolic" else reduction,
        spm_words=spm_words,
        bursts=bursts,
        dma_cycles=bursts * burst_cycles(machine, spm_words // bursts),
    )


def burst_cycles(machine: DataflowMachine, words: int) -> int:
    """Accelerator cycles of one DMA burst: ``DMA_Model`` of [Dave2019, sec. 4.3.3], begun cycles count whole."""
    dma = machine.dma
    latency = written(dma.initiation_cycles) + written(dma.cycles_per_byte) * words * machine.word_bytes
    return math.ceil(latency * written(machine.clock_mhz) / written(dma.clock_mhz))


def written(number: float) -> Fraction:
    """The decimal number that stands in the machine file, which the float is only near to."""
    return Fraction(Decimal(repr(number)))


def networks(nest: LoopNest, machine: DataflowMachine) -> tuple[tuple[int | None, int | None], ...]:
    """The networks (read, write) that operands take, dealt out in turn in operand order [Dave2019, sec. 4.3.3]."""
    lanes = {
        way: [n for n, network in enumerate(machine.noc.networks) if network.carries == way]
        for way in ("read", "write")
    }
    readers = [operand.name for operand in nest.operands if operand.reads]
    writers = [operand.name for operand in nest.operands if operand.writes]
    dealt = {
        way: {name: lanes[way][turn % len(lanes[way])] for turn, name in enumerate(names)}
        for way, names in (("read", readers), ("write", writers))
    }
    return tuple((dealt["read"].get(op.name), dealt["write"].get(op.name)) for op in nest.operands)
