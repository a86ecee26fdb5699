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


def sliding_loops(operand: Operand) -> frozenset[str]:
    """The loops along which an operand's tiles may share words with those that they follow: in every dimension that
    they index there are others beside them."""
    if not slides(operand):
        return frozenset()
    alone = {
        loop
        for dimension in operand.index
        if len(dimension.coefficients) == 1
        for loop, _ in dimension.coefficients
    }
    return operand.loops - alone


def _sliding_loop(operand: Operand, mapping: TilingMapping) -> str | None:
    """The innermost scratch-pad loop that moves the operand's tiles, if PEs hold a part of the tile that follows."""
    inner = mapping.trip_counts("spm")
    moving = [loop for loop in mapping.spm_order if inner[loop] > 1 and loop in operand.loops]
    rf, spatial = mapping.trip_counts("rf"), mapping.trip_counts("spatial")
    return moving[-1] if moving and may_slide(operand, moving[-1], rf, spatial) else None


def new_words(
    operand: Operand, loop: str, array: Mapping[str, tile.Numbers], counts: Mapping[str, tile.Numbers]
) -> tile.Numbers:
    """Words of a tile of ``counts`` (one PE's, or the array's) that it does not share with the one that it follows,
    when ``loop`` steps by the array's tile; of integers or of arrays of them."""
    kept: tile.Numbers = 1
    for dimension in operand.index:
        span: tile.Numbers = 1
        for own, factor in dimension.coefficients:
            span = span + abs(factor) * (counts[own] - 1 - (array[own] if own == loop else 0))
        kept = kept * ((span > 0) * span)
    return tile.words(operand, counts) - kept


def may_slide(
    operand: Operand, loop: str, rf: Mapping[str, tile.Numbers], spatial: Mapping[str, tile.Numbers]
) -> tile.Numbers:
    """Whether PEs hold a part of the tile that follows when ``loop`` steps: an operand that slides, of which no loop of
    the dimensions along which it does so runs in space, where the part would lie in another PE."""
    if not slides(operand) or loop not in operand.loops:
        return 0 * rf[loop] > 0
    held = new_words(operand, loop, rf, rf) < tile.words(operand, rf)
    for dimension in operand.index:
        for own, _ in dimension.coefficients if loop in dict(dimension.coefficients) else ():
            held = held & (spatial[own] == 1)
    return held
