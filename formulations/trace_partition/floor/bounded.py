"""Tiles of a family, or boxes of them, with the lower bounds of their ranks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mapper.formulations.trace_partition.floor.box import Boxes
from mapper.formulations.trace_partition.floor.option_floor import family_floor
from mapper.formulations.trace_partition.floor.span import Integers
from mapper.formulations.trace_partition.floor.step_floor import step_floors
from mapper.formulations.trace_partition.problem import PartitionProblem
from mapper.formulations.trace_partition.program.option import Family
from mapper.formulations.trace_partition.program.option_cost import Rank
from mapper.models.trace_partition.lowering.layer import TraceLayer

AT_ONCE = 1024
"""Bounds that are taken out of the arrays at a time."""
Place = tuple[int, int, int, int]


@dataclass(frozen=True)
class Bounded:
    """Tiles or boxes that may fit, with the bounds of their ranks and of words in buffers [T], their steps, and their
    places [4, T] in the family or the boxes that they are ``of``; ``was_run``: steps were followed for the bounds."""

    of: Family | Boxes
    values: Any
    cycles: Integers
    moved: Integers
    used: Integers
    steps: Integers
    places: Integers
    was_run: bool = False

    def kept(self, which: Any) -> Bounded:
        """Some of them: a mask or places."""
        columns = {
            name: getattr(self, name)[which] for name in ("values", "cycles", "moved", "used", "steps")
        }
        return replace(self, **columns, places=self.places[:, which])

    def within(self, end: int | None) -> Bounded:
        """Those whose objective's bound is below ``end`` (None: any)."""
        return self if end is None else self.kept(self.values < end)

    def at_least(self, least: int) -> Bounded:
        """The same where nothing is less than ``least`` for another reason."""
        return replace(self, values=np.maximum(self.values, least))

    def in_order(self) -> Iterator[tuple[Rank, int]]:
        """Bounds and where they are, in the order of the bounds."""
        order = np.lexsort((*self.places[::-1], self.moved, self.cycles, self.values))
        for start in range(0, len(order), AT_ONCE):
            some = order[start : start + AT_ONCE]
            columns = (column[some].tolist() for column in (self.values, self.cycles, self.moved))
            for value, cycles, moved, at in zip(*columns, some.tolist(), strict=True):
                yield (int(value), cycles, moved), at


def bounded(problem: PartitionProblem, layer: TraceLayer, of: Family | Boxes) -> Bounded:
    """The tiles or boxes that may fit, with bounds by argument alone."""
    family, boxes = (of.family, of) if isinstance(of, Boxes) else (of, None)
    floor = family_floor(problem, layer, family, boxes)
    at = np.nonzero(floor.fits)
    cycles, moved, used = floor.cycles[at], floor.dram_bytes[at], floor.buffer_words[at]
    values = _values(problem, layer, cycles, moved, used)
    return Bounded(of, values, cycles, moved, used, floor.steps[at], np.stack(at))


def run(problem: PartitionProblem, layer: TraceLayer, tiles: Bounded) -> Bounded:
    """The same tiles with the bounds that following their steps gives."""
    assert isinstance(tiles.of, Family)
    cycles, moved = step_floors(problem, layer, tiles.of, tiles.places)
    cycles, moved = np.maximum(cycles, tiles.cycles), np.maximum(moved, tiles.moved)
    values = np.maximum(tiles.values, _values(problem, layer, cycles, moved, tiles.used))
    return replace(tiles, values=values, cycles=cycles, moved=moved, was_run=True)


def _values(
    problem: PartitionProblem, layer: TraceLayer, cycles: Integers, moved: Integers, used: Integers
) -> Any:
    """Bounds of the objective: whole numbers, those of energies in floating point, which holds them whatever their
    size."""
    if problem.objective == "latency":
        return cycles
    if problem.objective == "traffic":
        return moved
    configuration = problem.configuration
    mac, word, byte, cycle = problem.machine.energy_pj.whole
    images = configuration.images // configuration.accelerators
    energy = (
        float(mac * layer.macs * images)
        + float(word) * used
        + float(byte) * moved
        + float(cycle * configuration.clusters) * cycles
    )
    # A little less, for what the floating point numbers lose.
    return np.floor(energy * (1 - 1e-12))
