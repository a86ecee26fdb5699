"""Links between two regions of a grid, from arrays of their PEs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mapper.arch.tcpa import TcpaMachine
from mapper.models.pe_allocation.configuration.wiring import route

Cells = NDArray[np.int64]
"""PEs by row and column, n x 2."""

CALL = 2_000
"""What a call costs by itself, in pairs of PEs whose distance is taken."""


class RouteLengths:
    """Distances on one machine; ``work`` counts the pairs of PEs whose distance was taken."""

    def __init__(self, machine: TcpaMachine) -> None:
        self.machine = machine
        self.links = set(machine.links)
        self.work = 0

    def between(self, first: Cells, second: Cells) -> int:
        """Links of a shortest route between two regions."""
        if {"torus", "diagonal"} <= self.links:
            # Slanted links end at the border and straight ones do not: no formula, so the links are followed.
            one, other = ([(int(row), int(column)) for row, column in cells] for cells in (first, second))
            links = route(self.machine, one, other)
            self.work += CALL * (1 + len(first) + links * links)
            return links
        self.work += CALL + len(first) * len(second)
        down = np.abs(first[:, None, 0] - second[None, :, 0])
        across = np.abs(first[:, None, 1] - second[None, :, 1])
        if "torus" in self.links:
            down = np.minimum(down, self.machine.rows - down)
            across = np.minimum(across, self.machine.columns - across)
        return int(np.maximum(down, across).min() if "diagonal" in self.links else (down + across).min())
