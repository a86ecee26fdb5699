"""A node of the tree: the paces that each layer may take, and the steps of its price in PEs that they leave."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mapper.formulations.pe_allocation.program.choice import Choice
from mapper.formulations.pe_allocation.program.instance import AllocationInstance

Numbers = npt.NDArray[np.int64]
Paces = tuple[int, ...]


@dataclass(frozen=True)
class Steps:
    """What a layer's pace costs: from each of ``paces`` on (ascending) the PEs beside it (descending) are enough. Where
    idle cycles are pinned (``single``) these paces are all there are."""

    choices: tuple[Choice, ...]
    paces: tuple[int, ...]
    pes: Numbers
    single: bool

    def within(self, low: int, high: int) -> range:
        """The steps that paces from ``low`` to ``high`` can be on. A faster one than that of ``low`` costs more PEs and
        makes the layer no faster than ``low``."""
        end = bisect_right(self.paces, high)
        first = bisect_right(self.paces, low) - 1
        if self.single and (first < 0 or self.paces[first] < low):
            first += 1
        return range(max(0, first), end)

    def ends(self, steps: range, low: int, high: int) -> tuple[Numbers, Numbers]:
        """The first and the last pace of each of ``steps``: beyond it the next one is as good for fewer PEs."""
        first = np.array(self.paces[steps.start : steps.stop], dtype=np.int64)
        if self.single:
            return first, first
        last = np.append(first[1:] - 1, high)
        return np.maximum(first, low), last


def steps_of(instance: AllocationInstance) -> tuple[Steps, ...]:
    """The steps of every layer that the instance's limits leave."""
    found = []
    for layer, left in zip(instance.problem.network.layers, instance.choices, strict=True):
        idle = instance.problem.pin(layer).throttle
        kept: list[Choice] = []
        for choice in sorted(left, key=lambda one: (one.cycles, one.pes, one.delta)):
            if idle is not None and kept and kept[-1].cycles == choice.cycles:
                continue
            if idle is not None or not kept or choice.pes < kept[-1].pes:
                kept.append(choice)
        paces = tuple(choice.cycles + (idle or 0) for choice in kept)
        pes = np.array([choice.pes for choice in kept], dtype=np.int64)
        found.append(Steps(tuple(kept), paces, pes, idle is not None))
    return tuple(found)


@dataclass(frozen=True)
class Node:
    """Least and most pace of every layer, and a lower bound of the latency that was shown of a node it is part of."""

    low: Paces
    high: Paces
    bound: int

    def parted(self, at: int, pace: int) -> tuple[Node, Node]:
        """The node with layer ``at`` at ``pace`` at most, and with more."""
        return self.narrowed(at, self.low[at], pace), self.narrowed(at, pace + 1, self.high[at])

    def narrowed(self, at: int, low: int, high: int) -> Node:
        """The node with other ends for layer ``at``."""
        return Node(
            (*self.low[:at], low, *self.low[at + 1 :]),
            (*self.high[:at], high, *self.high[at + 1 :]),
            self.bound,
        )


def affordable(node: Node, steps: tuple[Steps, ...], most_pes: int) -> Node | None:
    """The node without paces for which the other layers' fewest PEs leave too few; None if that leaves nothing."""
    ranges = [one.within(low, high) for one, low, high in zip(steps, node.low, node.high, strict=True)]
    if not all(ranges):
        return None
    least = [int(one.pes[kept.start : kept.stop].min()) for one, kept in zip(steps, ranges, strict=True)]
    spare = most_pes - sum(least)
    if spare < 0:
        return None
    low, high = list(node.low), list(node.high)
    for at, (one, kept) in enumerate(zip(steps, ranges, strict=True)):
        fitting = np.flatnonzero(one.pes[kept.start : kept.stop] <= least[at] + spare)
        low[at] = max(low[at], one.paces[kept.start + int(fitting[0])])
        if one.single:
            high[at] = one.paces[kept.start + int(fitting[-1])]
    return Node(tuple(low), tuple(high), node.bound)
