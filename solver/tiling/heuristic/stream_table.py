"""What tiles that follow each other take, of many mappings at once, whichever scratch-pad loop steps."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mapper.arch.dataflow import DataflowMachine
from mapper.models.tiling import tile
from mapper.models.tiling.mapping import LEVELS
from mapper.models.tiling.stream import may_slide, new_words, waits
from mapper.solver.tiling.exact.float_price import FloatPrices
from mapper.workloads.nest.loop_nest import LoopNest

Integers = NDArray[np.int64]
RF, SPATIAL = LEVELS.index("rf"), LEVELS.index("spatial")


class Stream(NamedTuple):
    """Of each mapping, operand and loop [mapping][operand][loop]: whether the tile that follows when the loop steps is
    held in part, and what it takes then: cycles on the network, and the energy that is saved. Per operand, whether PEs
    wait for it."""

    held: Any
    noc_cycles: Any
    saved: Any
    waited_for: Any


def stream_of(nest: LoopNest, machine: DataflowMachine, factors: Integers, prices: FloatPrices) -> Stream:
    """The streams of P mappings, or none of a machine that has whole tiles."""
    waited_for = np.array([waits(op, machine) for op in nest.operands])
    shape = (len(factors), len(nest.operands), len(nest.loops)) if machine.streams else (1, 1, 1)
    held, cycles, saved = np.zeros(shape, bool), np.zeros(shape, np.int64), np.zeros(shape)
    if not machine.streams:
        return Stream(held, cycles, saved, waited_for)
    rf, spatial = trip_counts(nest, factors[:, :, RF]), trip_counts(nest, factors[:, :, SPATIAL])
    array = trip_counts(nest, factors[:, :, RF:].prod(axis=2))
    _, _, widths = tile.networks_of(nest, machine)
    for k, operand in enumerate(nest.operands):
        own, whole = tile.words(operand, rf), tile.words(operand, array)
        copies = tile.noc_words(operand, nest, rf, spatial) // own
        for place, loop in enumerate(nest.loops):
            words = new_words(operand, loop, array, array)
            held[:, k, place] = may_slide(operand, loop, rf, spatial)
            cycles[:, k, place] = -(-words // widths[k])
            fewer = copies * (own - new_words(operand, loop, array, rf)) * prices.noc
            saved[:, k, place] = fewer + (whole - words) * prices.spm
    return Stream(held, cycles, saved, waited_for)


def trip_counts(nest: LoopNest, columns: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Columns (P, loops) as trip counts by loop."""
    return {loop: np.ascontiguousarray(columns[:, position]) for position, loop in enumerate(nest.loops)}
