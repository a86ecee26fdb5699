"""What the timeline of a mapping consists of: the loops that run, and what every move takes of the machine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mapper.arch.dataflow import DataflowMachine
from mapper.models.tiling import tile
from mapper.models.tiling.mapping import ORDERED_LEVELS, TilingMapping
from mapper.models.tiling.timeline import (
    ALWAYS,
    CAUSES,
    NEVER,
    WITH_VALUE,
    Loops,
    Paths,
    Times,
    timeline_compiled,
    walk_compiled,
)
from mapper.workloads.nest.loop_nest import LoopNest


def run(
    nest: LoopNest, machine: DataflowMachine, mapping: TilingMapping, times: Times
) -> tuple[int, dict[str, int]]:
    """Cycles of ``mapping``, and what PEs wait for by cause; with the useful cycles these add up to the first."""
    stalls = np.zeros(len(CAUSES), np.int64)
    dram, spm = ([nest.loops.index(loop) for loop in mapping.order(level)] for level in ORDERED_LEVELS)
    outer, inner = ([*mapping.trip_counts(level).values()] for level in ORDERED_LEVELS)
    room, again = np.empty((2, 2 * len(nest.loops)), np.int64), np.empty(2 * len(nest.loops), np.bool_)
    levels = (np.array(numbers) for numbers in (dram, outer, spm, inner))
    walk = walk_compiled(loops_of(nest), *levels, room, again)
    cycles = int(timeline_compiled(walk, times, paths_of(nest, machine), stalls))
    return cycles, dict(zip(CAUSES, (int(stall) for stall in stalls), strict=True))


def loops_of(nest: LoopNest) -> Loops:
    """What moves with every loop of a nest."""
    written = nest.operands[written_by(nest)]
    operands = [
        sum(1 << k for k, operand in enumerate(nest.operands) if loop in operand.loops) for loop in nest.loops
    ]
    return Loops(np.array(operands), np.array([loop not in written.loops for loop in nest.loops]))


def written_by(nest: LoopNest) -> int:
    """The operand that is written."""
    return next(k for k, operand in enumerate(nest.operands) if operand.writes)


def paths_of(nest: LoopNest, machine: DataflowMachine) -> Paths:
    """Who brings what, and when: see ``Paths``."""
    read, write, _ = tile.networks_of(nest, machine)
    written = written_by(nest)
    result = nest.operands[written]
    brought = [ALWAYS] * len(nest.operands)
    if not result.is_updated:
        brought[written] = NEVER
    elif result.zero_initialised:
        brought[written] = WITH_VALUE
    name = result.tensor or result.name
    reads_result = sum((operand.tensor or operand.name) == name for operand in nest.operands) > 1
    return Paths(
        written,
        np.array(brought),
        np.array(read),
        write[written],
        len(machine.noc.networks),
        machine.rf.double_buffered and not reads_result,
        machine.spm.double_buffered and not reads_result,
        reads_result,
    )


def carried(
    nest: LoopNest, machine: DataflowMachine, array_words: Sequence[tile.Numbers]
) -> tuple[list[tile.Numbers], tile.Numbers]:
    """Cycles of every operand's tile (``array_words`` each) into the PEs (0: it is never read), and of the result out
    of them: each network is as wide as it is."""
    read, write, _ = tile.networks_of(nest, machine)
    widths = [network.width_words for network in machine.noc.networks]
    into = [
        -(-words // widths[network]) if network >= 0 else 0 * words
        for words, network in zip(array_words, read, strict=True)
    ]
    written = written_by(nest)
    return into, -(-array_words[written] // widths[write[written]])
