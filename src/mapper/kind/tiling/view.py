"""Tilings for people: the loops at each level, and where energy and stalls come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mapper.arch.dataflow import DataflowMachine
from mapper.models.tiling.mapping import AXES, LEVELS, ORDERED_LEVELS, TilingMapping


def tiling_lines(mapping: TilingMapping, breakdown: Mapping[str, Any]) -> list[str]:
    """The loops of every level, outer to inner, and the shares of the energy."""
    lines = []
    for level in LEVELS:
        counts = mapping.trip_counts(level)
        order = mapping.order(level) if level in ORDERED_LEVELS else mapping.loops
        runs = " ".join(f"{loop}={counts[loop]}" for loop in order if counts[loop] > 1)
        note = "  (outer to inner)" if level in ORDERED_LEVELS and " " in runs else ""
        lines.append(f"  {level:8} {runs or '–'}{note}")
    for axis in AXES if mapping.axes else ():
        along = " ".join(f"{loop}={count}" for loop, count in mapping.along(axis).items())
        lines.append(f"  {axis:8} {along or '–'}")
    energy = breakdown["energy_pj"]
    whole = sum(energy.values()) or 1.0
    shares = ", ".join(f"{name} {value / whole:.1%}" for name, value in energy.items())
    stalls = ", ".join(f"{cause} {cycles:,}" for cause, cycles in breakdown["stall_cycles"].items())
    return [*lines, f"  energy   {shares}", f"  stalls   {stalls} cycles"]


def one_line(mapping: TilingMapping) -> str:
    """The loops of every level in one line, outer to inner: DRAM | scratch-pad | register file | space, the last as
    rows x columns where the machine tells these apart."""

    def listed(counts: Mapping[str, int], order: Sequence[str]) -> str:
        return " ".join(f"{loop}{counts[loop]}" for loop in order if counts.get(loop, 1) > 1) or "–"

    levels = []
    for level in LEVELS:
        order = mapping.order(level) if level in ORDERED_LEVELS else mapping.loops
        levels.append(listed(mapping.trip_counts(level), order))
    if mapping.axes:
        levels[-1] = " x ".join(listed(mapping.along(axis), mapping.loops) for axis in AXES)
    return " | ".join(levels)


def processing_line(breakdown: Mapping[str, Any], machine: DataflowMachine) -> str:
    """What the layer takes without DMA, as chips' publications often say it."""
    cycles = breakdown["processing_cycles"]
    return f"  processing {cycles:,} cycles, {cycles / (machine.clock_mhz * 1e3):.2f} ms without DMA"
