"""What arrangements cost in any case, before tiles are looked at: the first bound, with which those of tiles begin."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from mapper.solver.hierarchy.exact.arrangement import Link, Outset
from mapper.solver.hierarchy.exact.expansion import Scale

Array = Any
OBJECTIVES = {"edp": 0, "energy": 1, "latency": 2}
SHY = 1 - 1e-12
"""Sums of floors are taken a little too low, so that rounding does not lift them above what they bound."""


class Opening:
    """Energy (pJ) and words moved at each level, in any case, of all arrangements of an outset."""

    def __init__(self, outset: Outset) -> None:
        self.outset = outset
        machine = outset.machine
        self.objective = OBJECTIVES[outset.problem.objective]
        most = outset.problem.max_cycles
        self.most = math.inf if most is None else float(most)
        self.leak = outset.leak_pj * np.ones(len(outset.spread))
        self.constant = outset.passes * outset.instances[:, -1] * (machine.compute.energy_pj or 0.0)
        self.moved = np.zeros((len(outset.spread), outset.levels, 2))
        for link in outset.links:
            self._move(link)
            self.constant = self.constant + np.where(link.rows[:, 12] == 0, priced_least(link), 0.0)
        self.rate = np.array(
            [
                [_rate(getattr(level.bandwidth, sort)) for sort in ("read", "write", "shared")]
                for level in machine.levels
            ]
        )

    def _move(self, link: Link) -> None:
        rows = link.rows
        arriving = rows[:, 10]
        read = np.maximum(0.0, rows[:, 0] * arriving - rows[:, 1])
        self.moved[:, link.outer, 0] += read
        self.moved[:, link.outer, 1] += rows[:, 3] * rows[:, 0] * arriving
        if link.inner < self.outset.levels:
            self.moved[:, link.inner, 1] += np.maximum(0.0, arriving - rows[:, 2])

    @cached_property
    def cycles(self) -> Array:
        """The fewest cycles of each arrangement."""
        together = self.moved.sum(axis=2)
        words = np.concatenate([self.moved, together[:, :, None]], axis=2)
        return np.maximum(self.outset.compute, np.ceil(words / self.rate - 1e-9).max(axis=(1, 2)))

    @cached_property
    def bound(self) -> Array:
        """The objective's least value for each arrangement, infinite if it takes more cycles than are allowed, or if
        what runs in space alone leaves no room for the tiles of a level."""
        inner = [np.where(link.rows[:, 12] == 1, priced_least(link), 0.0) for link in self.outset.links]
        energy = (self.constant + sum(inner)) * SHY
        cycles = self.cycles
        energy = energy + self.leak * cycles
        found = (energy * cycles, energy, cycles)[self.objective]
        return np.where((cycles <= self.most) & self.outset.fits, found, math.inf)

    def energy_below(self, limit: float) -> float:
        """What links inside the one arrangement must cost less than, together, for the objective to lie below a
        limit."""
        if self.objective == OBJECTIVES["latency"]:
            return math.inf
        cycles = float(self.cycles[0])
        whole = limit / cycles if self.objective == OBJECTIVES["edp"] else limit
        return whole - float(self.constant[0]) * SHY - float(self.leak[0]) * cycles

    def scale(self, limit: float, front: Array) -> Scale:
        """What paths of the one arrangement are measured by."""
        return Scale(
            self.rate,
            float(self.outset.compute[0]),
            float(self.constant[0]) * SHY,
            float(self.leak[0]),
            self.objective,
            limit,
            self.most,
            front,
        )


def priced_least(link: Link) -> Array:
    """The least energy of a link in each arrangement, as `kernel.priced` has it."""
    rows = link.rows
    moved = rows[:, 0] * rows[:, 10]
    energy: Array = np.ceil(np.maximum(0.0, moved - rows[:, 1]) / rows[:, 8]) * rows[:, 5]
    energy += rows[:, 3] * np.ceil(moved / rows[:, 8]) * rows[:, 6]
    return energy + np.ceil(np.maximum(0.0, rows[:, 10] - rows[:, 2]) / rows[:, 9]) * rows[:, 7]


def _rate(words: float | None) -> float:
    return math.inf if words is None else float(words)
