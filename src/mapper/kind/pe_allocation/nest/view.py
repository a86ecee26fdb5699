"""Mappings of loop nests and their simulation for people."""

from __future__ import annotations

from typing import Any

from mapper.kind.text_table import text_table
from mapper.models.pe_allocation.nest.cost import tiles_of
from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.recurrence.recurrence import Recurrence


def nest_lines(nest: LoopNest | Recurrence, mapping: NestMapping, breakdown: dict[str, Any]) -> list[str]:
    """A line for each loop, how words follow one another, and what the cycles are made of."""
    tiles = tiles_of(nest, mapping)
    on = {mapping.rows: "rows", mapping.columns: "columns"}
    rows = [
        (
            loop,
            bound,
            mapping.tile_of[loop],
            tiles[loop],
            on.get(loop, "–"),
            mapping.inner_of[loop],
            mapping.outer_of[loop],
        )
        for loop, bound in nest.bounds
    ]
    words = ("on",)
    lines = text_table(("loop", "bound", "tile", "tiles", "on", "step", "tile starts after"), rows, words)
    joined = "" if mapping.lanes == 1 else f", {mapping.lanes} iterations of {mapping.order[-1]} a word"
    lines.append(f"within a tile {' > '.join(mapping.order)}; a word every {mapping.interval} cycles{joined}")
    causes = ", ".join(f"{cause} {cycles:,}" for cause, cycles in breakdown["cycles"].items())
    lines.append(f"cycles: {causes}; {breakdown['streams']:,} streams at the border")
    lines.append(f"words that wait on a PE at once: {breakdown['registers']:,}")
    return [f"  {line}".rstrip() for line in lines]


def nest_notes(result: dict[str, Any]) -> list[str]:
    """What was executed, and what went wrong."""
    simulated = result["cost_simulated"]
    lines = [
        f"  {result['iterations']:,} iterations on {simulated['pes']:,} PEs in {simulated['cycles']:,} cycles"
    ]
    lines += [
        f"  {one['rule']}: {one['place']} ({one['times']:,} times, by {one['size']:,})"
        for one in result["violations"]
    ]
    return lines
