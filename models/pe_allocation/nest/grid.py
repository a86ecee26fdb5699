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
    _between: dict[tuple[Pe, Pe], int] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def to_border(self) -> NDArray[np.int64]:
        """Links from every PE to the nearest one that reaches a buffer."""
        found = self._links(self.machine.border_pes)
        shape = (self.machine.rows, self.machine.columns)
        return np.array([found[pe] for pe in self.machine.all_pes], np.int64).reshape(shape)

    def between(self, one: Pe, other: Pe) -> int:
        """Links on the shortest way between two PEs."""
        if (one, other) not in self._between:
            self._between[one, other] = self._links([one])[other]
        return self._between[one, other]

    def _links(self, starts: Iterable[Pe]) -> dict[Pe, int]:
        found = dict.fromkeys(starts, 0)
        reached = list(found)
        for pe in reached:
            for near in self.machine.neighbours[pe]:
                if near not in found:
                    found[near] = found[pe] + 1
                    reached.append(near)
        return found
