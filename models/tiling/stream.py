"""What memories that are filled as streams take [Dave2019, sec. 5, "Validation against Eyeriss"].

A tile follows another one if only the innermost loop that moves it has stepped. Of a window that slides, only the words
come that the PE's register file does not hold yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mapper.arch.dataflow import DataflowMachine
from mapper.models.tiling import tile
from mapper.models.tiling.mapping import TilingMapping
from mapper.models.tiling.transfer import Passes
from mapper.workloads.nest.loop_nest import LoopNest, Operand


@dataclass(frozen=True)
class Streams:
    """Per operand, in operand order: how many tiles follow each other, the first of which comes whole (``turns``, 1
    where none follows), what one that follows takes (words delivered to PEs, words of the scratch-pad, cycles on the
    network), and whether PEs wait for a tile although the work before it still goes on."""

    turns: tuple[int, ...]
    delivered: tuple[int, ...]
    array_words: tuple[int, ...]
    noc_cycles: tuple[int, ...]
    waited_for: tuple[bool, ...]

    def saved(self, passes: Passes, k: int, delivered: int, array_words: int) -> tuple[int, int]:
        """Words of operand ``k`` that PEs need not take, and the scratch-pad need not give, in the layer, for which a
        whole tile takes so many."""
        visits = (passes.rf // passes.spm_reuse[k]) * passes.spm
        follow = visits - visits // self.turns[k]
        return follow * (delivered - self.delivered[k]), follow * (array_words - self.array_words[k])

    def without_networks(self) -> Streams:
        """The same on networks that take no time."""
        nothing = (0,) * len(self.turns)
        return Streams(self.turns, self.delivered, self.array_words, nothing, self.waited_for)


def streams_of(nest: LoopNest, machine: DataflowMachine, mapping: TilingMapping) -> Streams:
    """The streams of ``mapping`` on a machine that has them."""
    rf, spatial = mapping.trip_counts("rf"), mapping.trip_counts("spatial")
    array, inner = mapping.trip_counts("rf", "spatial"), mapping.trip_counts("spm")
    _, _, widths = tile.networks_of(nest, machine)
    turns, delivered, words = [], [], []
    for operand in nest.operands:
        whole = tile.noc_words(operand, nest, rf, spatial)
        loop = _sliding_loop(operand, mapping)
        turns.append(1 if loop is None else inner[loop])
        words.append(tile.words(operand, array) if loop is None else new_words(operand, loop, array, array))
        copies = whole // tile.words(operand, rf)
        delivered.append(whole if loop is None else copies * new_words(operand, loop, array, rf))
    return Streams(
        tuple(turns),
        tuple(delivered),
        tuple(words),
        tuple(-(-moved // width) for moved, width in zip(words, widths, strict=True)),
        tuple(waits(operand, machine) for operand in nest.operands),
    )


def waits(operand: Operand, machine: DataflowMachine) -> bool:
    """Whether PEs wait for the operand's tiles: they have one buffer, and it does not stream through a queue."""
    streamed = machine.streams and (operand.writes or slides(operand))
    return not machine.rf.double_buffered and not streamed


def slides(operand: Operand) -> bool:
    """Whether an operand is read along a window: more than one loop indexes one of its dimensions."""
    return operand.access == "read" and any(len(dimension.coefficients) > 1 for dimension in operand.index)


def _sliding_loop(operand: Operand, mapping: TilingMapping) -> str | None:
    """The innermost scratch-pad loop that moves the operand's tiles, if PEs hold a part of the tile that follows: no
    loop of the dimensions along which it slides runs in space, where the part would lie in another PE."""
    spatial, inner = mapping.trip_counts("spatial"), mapping.trip_counts("spm")
    moving = [loop for loop in mapping.spm_order if inner[loop] > 1 and loop in operand.loops]
    if not moving or not slides(operand):
        return None
    rf, loop = mapping.trip_counts("rf"), moving[-1]
    along = [dimension for dimension in operand.index if loop in dict(dimension.coefficients)]
    in_space = any(spatial[own] > 1 for dimension in along for own, _ in dimension.coefficients)
    return None if in_space or new_words(operand, loop, rf, rf) == tile.words(operand, rf) else loop


def new_words(operand: Operand, loop: str, array: Mapping[str, int], counts: Mapping[str, int]) -> int:
    """Words of a tile of ``counts`` (one PE's, or the array's) that it does not share with the one that it follows,
    when ``loop`` steps by the array's tile."""
    kept = 1
    for dimension in operand.index:
        shift = sum(abs(factor) * array[own] for own, factor in dimension.coefficients if own == loop)
        kept *= max(0, dimension.span(counts) - shift)
    whole: int = tile.words(operand, counts)
    return whole - kept


def streamed_pass_cycles(
    compute: int,
    passes: Passes,
    noc_cycles: tuple[int, ...],
    streams: Streams,
    read: list[int],
    write: list[int],
) -> tuple[int, int]:
    """Cycles of one SPM pass, and those of the networks in every RF pass of it.

    Each RF pass takes the longer of its work and what comes for it, or their sum if PEs wait for any of that. What
    comes in it depends on the longest interval, of those in which tiles change or come whole, that ends with it.
    """
    operands = range(len(noc_cycles))
    moving = [k for k in operands if not (passes.spm_reuse[k] == passes.rf and passes.dram_reuse[k] > 1)]
    whole_every = [passes.spm_reuse[k] * streams.turns[k] for k in operands]
    intervals = sorted({passes.spm_reuse[k] for k in moving} | {whole_every[k] for k in moving})
    cycles, taken, every_pass_noc = compute * passes.rf, compute, 0
    for every in intervals:
        busy = [0] * (1 + max(*read, *write))
        waits = False
        for k in moving:
            if passes.spm_reuse[k] <= every:
                load = noc_cycles[k] if whole_every[k] <= every else streams.noc_cycles[k]
                for network in {read[k], write[k]} - {-1}:
                    busy[network] += load
                waits = waits or streams.waited_for[k]
        load = max(busy)
        if every == 1:
            every_pass_noc = load
        longer = compute + load if waits else max(compute, load)
        cycles += (longer - taken) * (passes.rf // every)
        taken = longer
    return cycles, every_pass_noc
