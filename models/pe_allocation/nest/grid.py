"""Distances on the array: how many links lie between a PE and the border's buffers, or between two PEs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mapper.arch.tcpa import Pe, TcpaMachine


@dataclass(frozen=True)
class Grid:
    """The links of ``machine``, counted once for all mappings to it."""

    machine: TcpaMachine
    _between: dict[Pe, dict[Pe, int]] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def to_border(self) -> NDArray[np.int64]:
        """Links from every PE to the nearest one that reaches a buffer."""
        found = self._links(self.machine.border_pes)
        shape = (self.machine.rows, self.machine.columns)
        return np.array([found[pe] for pe in self.machine.all_pes], np.int64).reshape(shape)

    def between(self, one: Pe, other: Pe) -> int:
        """Links on the shortest way between two PEs."""
        if one not in self._between:
            self._between[one] = self._links([one])
        return self._between[one][other]

    def sides(self, pe: Pe) -> int:
        """Borders with buffers that a PE lies at."""
        row, column = pe
        at = {
            "north": row == 0,
            "south": row == self.machine.rows - 1,
            "west": column == 0,
            "east": column == self.machine.columns - 1,
        }
        return sum(at[side] for side in set(self.machine.border.sides))

    def way_out(self, pe: Pe) -> list[Pe]:
        """The PEs from ``pe`` to the nearest that reaches a buffer, both included."""
        way = [pe]
        while self.to_border[way[-1]]:
            near = self.machine.neighbours[way[-1]]
            way.append(next(one for one in near if self.to_border[one] < self.to_border[way[-1]]))
        return way

    def way(self, one: Pe, other: Pe) -> list[Pe]:
        """The PEs on the shortest way between two, both included."""
        way = [one]
        while way[-1] != other:
            near = self.machine.neighbours[way[-1]]
            way.append(min(near, key=lambda pe: self.between(other, pe)))
        return way

    def _links(self, starts: Iterable[Pe]) -> dict[Pe, int]:
        found = dict.fromkeys(starts, 0)
        reached = list(found)
        for pe in reached:
            for near in self.machine.neighbours[pe]:
                if near not in found:
                    found[near] = found[pe] + 1
                    reached.append(near)
        return found
