"""A node of the tree: the paces that each layer may take, and the steps of its price in PEs that they leave."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mapper.formulations.pe_allocation.program.choice import Choice
from mapper.formulations.pe_allocation.program.instance import AllocationInstance

Numbers = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]
BEYOND = 1 << 62
"""More than any pace, price or number of PEs."""
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


class StepTable:
    """The steps of all layers one after another, so that a node is looked at in a few operations. ``layer``: of each
    step; ``after``: the pace from which the next step is as good for fewer PEs."""

    def __init__(self, steps: Sequence[Steps]) -> None:
        self.paces = np.array([pace for one in steps for pace in one.paces], dtype=np.int64)
        self.pes = np.concatenate([one.pes for one in steps])
        self.layer = np.repeat(np.arange(len(steps)), [len(one.paces) for one in steps])
        self.begin = np.cumsum([0, *(len(one.paces) for one in steps[:-1])])
        self.single = np.array([one.single for one in steps])
        after = [
            pace
            for one in steps
            for pace in ((at + 1 for at in one.paces) if one.single else (*one.paces[1:], BEYOND))
        ]
        self.after = np.array(after, dtype=np.int64)

    def open_steps(self, node: Node) -> Truths:
        """Whether a pace of the node is on each step. A faster one than that of the least pace costs more PEs and makes
        the layer no faster."""
        low, high = np.array(node.low)[self.layer], np.array(node.high)[self.layer]
        return np.asarray((self.paces <= high) & (self.after > low))

    def least(self, values: Numbers, among: Truths) -> Numbers:
        """Of every layer the least value of those steps, ``BEYOND`` without any."""
        return np.asarray(np.minimum.reduceat(np.where(among, values, BEYOND), self.begin))

    def kept(self, node: Node, among: Truths, bound: int) -> Node:
        """The node with no other steps than these, which every layer has one of at least."""
        low = np.maximum(np.array(node.low), self.least(self.paces, among))
        last = np.minimum(self.after - 1, np.array(node.high)[self.layer])
        high = np.maximum.reduceat(np.where(among, last, -1), self.begin)
        return Node(tuple(low.tolist()), tuple(high.tolist()), bound)


def affordable(node: Node, table: StepTable, most_pes: int) -> Node | None:
    """The node without paces for which the other layers' fewest PEs leave too few; None if that leaves nothing."""
    among = table.open_steps(node)
    least = table.least(table.pes, among)
    spare = most_pes - sum(least.tolist())
    if spare < 0:
        return None
    return table.kept(node, among & (table.pes <= least[table.layer] + spare), node.bound)
