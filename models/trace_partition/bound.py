"""Lower bounds by argument of what a layer costs under any mapping: cycles, bytes, energy.

Compute: a vector instruction of a unit works on 4 (COOP), 64 (INDP) or up to 64 (LANE, MAX: 16 a cycle) channels of one
position, and the four units either have four rows or four ranges of channels of it. So a layer's channels take at least
ceil(channels / (4 or 64, times 4 where units share channels)) instructions for each product of the window, whatever the
tiles; a line holds 16 words. Products whose input lies beyond the edge, or is a zero between spread pixels, are not
counted, as a plan may leave them out. COOP, LANE and MAX leave the port of Buf no free cycle, so that each of their
results takes cycles of its own (the last one of a layer excepted, which drains when the unit is done). Of results that
go through a look-up table as many as it maps in a cycle take one more.

Memory: every pixel of the input that some window reads, every weight, every word of the residual and of the output
crosses the port once, unless it stays in Buf. Computation and memory may overlap fully; no more is assumed than that
the first word computed on must have come.

Several clusters share compute and bandwidth at best evenly, and the slowest has no less than the mean.
"""

from __future__ import annotations

from dataclasses import dataclass

from mapper.arch.snowflake import BLOCK, LANES, TABLE_WORDS, UNITS, VMACS, WORD_BYTES, SnowflakeMachine
from mapper.models.trace_partition.configuration import Configuration
from mapper.models.trace_partition.lowering.layer import TraceLayer
from mapper.models.trace_partition.mapping import Mode, Split
from mapper.models.trace_partition.product import pixels_read, window_taps


@dataclass(frozen=True)
class Bound:
    """A layer takes at least so many cycles, bytes and energy on one accelerator for all its images; ``parts`` of the
    energy are a pJ."""

    cycles: int
    dram_bytes: int
    energy_parts: int
    parts: int

    @property
    def energy_pj(self) -> float:
        return self.energy_parts / self.parts


def layer_bound(
    layer: TraceLayer,
    machine: SnowflakeMachine,
    configuration: Configuration,
    input_may_stay: bool = False,
    output_may_stay: bool = False,
) -> Bound:
    """The least that ``layer`` takes under any mapping, with maps that stay in Buf where they may."""
    splits: tuple[Split, ...] = ("rows", "out_channels")
    modes: tuple[Mode, ...] = ("coop", "indp") if layer.work == "convolution" else ("indp",)
    options = [
        option_bound(layer, machine, configuration, mode, split, input_may_stay, output_may_stay)
        for mode in modes
        for split in splits
    ]
    return Bound(
        min(bound.cycles for bound in options),
        min(bound.dram_bytes for bound in options),
        min(bound.energy_parts for bound in options),
        machine.energy_pj.parts,
    )


def option_bound(
    layer: TraceLayer,
    machine: SnowflakeMachine,
    configuration: Configuration,
    mode: Mode,
    unit_split: Split,
    input_stays: bool = False,
    output_stays: bool = False,
) -> Bound:
    """The least that ``layer`` takes in ``mode`` with units that share as ``unit_split`` says, whatever its tile,
    its order and how clusters share it."""
    sharing, images = configuration.sharing, configuration.images // configuration.accelerators
    vector = -(-(_vector_cycles(layer, mode, unit_split) + _table_cycles(layer, machine)) // sharing)
    words = _moved_words(layer, input_stays, output_stays)
    moved = images * words * WORD_BYTES
    cycles, scale = machine.cycles_per_byte
    latency = machine.timing.memory_latency
    memory = -(-moved * cycles // scale)
    brought = words - (0 if output_stays else _results(layer))
    if brought:
        memory, vector = memory + (latency if output_stays else 0), vector + latency
    total = max(vector + machine.timing.vector_latency, memory)
    mac, word, byte, cycle = machine.energy_pj.whole
    energy = (
        mac * layer.macs * images
        + word * images * (words + _buffer_words(layer, mode))
        + byte * moved
        + cycle * total * configuration.clusters
    )
    return Bound(total, moved, energy, machine.energy_pj.parts)


def _vector_cycles(layer: TraceLayer, mode: Mode, unit_split: Split) -> int:
    """Cycles of the vector units of all clusters together."""
    taps = window_taps(layer)
    points = layer.rows * layer.columns
    apart = UNITS if unit_split == "rows" else 1
    together = UNITS // apart
    if layer.work != "convolution":
        lines = -(-layer.output.channels // (LANES * together))
        return -(-lines * (int(taps.sum()) + points) // apart) - -(-layer.output.channels // LANES)
    filters, inputs = layer.filters // layer.groups, layer.group_inputs
    if mode == "coop":
        blocks = layer.groups * -(-filters // (VMACS * together))
        lines = int((-(-taps * inputs // LANES)).sum())
        return -(-blocks * (lines + points) // apart) - 1
    blocks = layer.groups * -(-filters // (BLOCK * together))
    return -(-blocks * int(taps.sum()) * inputs // apart)


def _table_cycles(layer: TraceLayer, machine: SnowflakeMachine) -> int:
    """Cycles of the four units for what goes through their look-up tables."""
    return 0 if layer.table is None else -(-_results(layer) // (UNITS * machine.timing.table_words))


def _moved_words(layer: TraceLayer, input_stays: bool, output_stays: bool) -> int:
    """Words that cross the external memory's port for one image."""
    results = _results(layer)
    words = 0 if output_stays else results
    if layer.residual is not None:
        words += results
    if layer.table is not None:
        words += TABLE_WORDS
    if not input_stays:
        words += pixels_read(layer, 0) * pixels_read(layer, 1) * layer.input.channels
    window = layer.kernel[0] * layer.kernel[1]
    if layer.work == "convolution":
        words += layer.filters * layer.group_inputs * window
    return words


def _results(layer: TraceLayer) -> int:
    return layer.rows * layer.columns * layer.output.channels


def _buffer_words(layer: TraceLayer, mode: Mode) -> int:
    """Words read and written in buffers for one image, transfers apart: for each product a weight, and its input once
    for the products that share it."""
    if layer.work != "convolution":
        return int(window_taps(layer).sum()) * layer.output.channels + _results(layer)
    products = int(window_taps(layer).sum()) * layer.group_inputs * layer.filters
    return products + products // (VMACS if mode == "coop" else BLOCK) + _results(layer)
