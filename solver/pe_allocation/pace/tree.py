"""Branch and bound on paces: the least latency of the streaming model.

A node is a box of paces. The linear program gives multipliers, whose bound is counted in integers (``weight``); steps
of a layer that cannot lead to a better latency are left out; then a layer whose PEs the program underestimates is
parted where it steps, and where there is none one whose pace is no integer. The node of least bound comes first, so
that its bound is that of all. Which layer is parted is decided by what parting it has gained before, tried out until
that is known well enough.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from mapper.formulations.pe_allocation.program.instance import AllocationInstance
from mapper.solver.highs import HighsLimit
from mapper.solver.method import Effort
from mapper.solver.pe_allocation.pace.node import Node, StepTable, affordable, steps_of
from mapper.solver.pe_allocation.pace.relaxation import Relaxation, Relaxed, starts_of
from mapper.solver.pe_allocation.pace.rounding import (
    CLOSE,
    Rounded,
    fractional,
    improved,
    latency_of,
    paced,
    rounded,
)
from mapper.solver.pe_allocation.pace.weight import Weights, weighed, weights_of

TRIED = 16
"""Layers among which one is chosen to part a node."""
RELIABLE = 8
"""Trials of a layer after which its gains are taken from these."""
ROUNDED_EVERY = 64
PLUNGE = 0.1
"""How far from the bound of all to the best latency a part may be that is gone on with at once."""
LARGE = 400
"""Nodes of a tree that is worth an integer program."""
NODES_WHOLE, SHARE_WHOLE = 1_000, 0.35
"""Nodes of such a program's own tree, and what of the time that is left, if that is limited."""
CLOSE_ENOUGH = (0.08, 0.04)
"""How far from the program's own bound its answer may be; it has none to show before that."""


@dataclass
class Gains:
    """What parting a layer has gained so far, for each PE by which it was underestimated."""

    count: int = 0
    total: float = 0.0

    def add(self, gain: float) -> None:
        self.count, self.total = self.count + 1, self.total + gain

    def expected(self, short: float) -> float:
        return max(1.0, short * self.total / self.count)


@dataclass(frozen=True)
class Open:
    """A node that may hold something better, with its solution."""

    node: Node
    relaxed: Relaxed
    weights: Weights


@dataclass
class PaceTree:
    """The search of one instance for latencies less than ``below``; ``best`` so far, and ``nodes`` that were
    relaxed."""

    instance: AllocationInstance
    below: int
    best: Rounded | None = None
    nodes: int = 0
    bound: int = 0
    _waiting: list[tuple[int, int, Open]] = field(default_factory=list)

    def __post_init__(self) -> None:
        layers = self.instance.problem.network.layers
        self.steps = steps_of(self.instance)
        self.table = StepTable(self.steps)
        self.starts = starts_of(self.instance)
        self.positions = [layer.positions for layer in layers]
        self.most_pes = self.instance.limits.pes
        self.relaxation = Relaxation(self.instance, self.steps, self.starts, self.instance.cycles[1])
        self.gains = [(Gains(), Gains()) for _ in layers]

    def search(self, effort: Effort, most_nodes: int | None = None) -> bool:
        """Whether it came to its end; then nothing is better than ``best`` (or less than ``below`` where that is
        None)."""
        self.bound = self.instance.cycles[0]
        root = self._relaxed(replace(self._whole(), bound=self.bound))
        if root is not None:
            self._dive(root, effort)
            self._improve()
            self._wait(root)
        is_small = True
        while self._waiting:
            self.bound = max(self.bound, min(self.below, self._waiting[0][0]))
            if self.bound >= self.below:
                break
            if effort.stopped() is not None or (most_nodes is not None and self.nodes >= most_nodes):
                return False
            _, _, opened = heapq.heappop(self._waiting)
            if is_small and self.nodes >= LARGE:
                is_small = False
                self._solve_whole(effort)
            self._plunge(opened, effort)
        self.bound = self.below
        return True

    def _whole(self) -> Node:
        """All paces; a layer that takes the latency to be beaten for a frame, or longer, is of no use."""
        low, high = zip(*self.instance.pace, strict=True)
        caps = ((self.below - 1) // count for count in self.positions)
        return Node(
            low,
            tuple(max(least, min(most, cap)) for least, most, cap in zip(low, high, caps, strict=True)),
            0,
        )

    def _plunge(self, opened: Open, effort: Effort) -> None:
        """Part a node, and go on with the better of its parts while that is near the bound of all: the linear program
        goes on from a solution close by, and whole allocations are come by."""
        current: Open | None = opened
        while current is not None and effort.stopped() is None:
            children = sorted(self._children(current), key=lambda child: -child.node.bound)
            near = self.bound + PLUNGE * (self.below - self.bound)
            current = children.pop() if children and children[-1].node.bound <= near else None
            for child in children:
                self._wait(child)
        if current is not None:
            self._wait(current)

    def _wait(self, opened: Open) -> None:
        heapq.heappush(self._waiting, (opened.node.bound, self.nodes * 2 + len(self._waiting), opened))

    def _relaxed(self, node: Node) -> Open | None:
        """The node as far as it may hold something better, with its solution."""
        known = affordable(node, self.table, self.most_pes)
        if known is None:
            return None
        self.nodes += 1
        relaxed = self.relaxation.solve(known)
        if relaxed is None:
            # Without a solution the node stays as it is, with the bound of the one it is part of.
            return self._unsolved(known)
        weights = weights_of(relaxed, self.relaxation, known.high, self.most_pes)
        said = weighed(known, self.table, weights, self.most_pes, self.below)
        after = None if said.left is None else affordable(said.left, self.table, self.most_pes)
        if after is None:
            return None
        if self.nodes % ROUNDED_EVERY == 1:
            self._round(after, relaxed, weights)
        return Open(after, relaxed, weights)

    def _unsolved(self, node: Node) -> Open | None:
        if node.low == node.high:
            self._settle(node)
            return None
        paces = [float(pace) for pace in node.low]
        silent = Relaxed(paces, [0.0] * len(paces), [0.0] * len(paces), [0.0] * len(self.starts), 0.0)
        return Open(node, silent, Weights(0, (0,) * len(paces), 0))

    def _round(self, node: Node, relaxed: Relaxed, weights: Weights) -> None:
        made = rounded(self.relaxation, relaxed, node, self.steps, weights, self.most_pes)
        if made is not None:
            self._keep(made)

    def _keep(self, made: Rounded) -> None:
        if made.latency < self.below:
            self.best, self.below = made, made.latency

    def _improve(self) -> None:
        """Moves on from the best allocation, within the paces of the instance."""
        if self.best is not None:
            self._keep(improved(self.relaxation, self.best, self._whole(), self.steps, self.most_pes))

    def _solve_whole(self, effort: Effort) -> None:
        """Allocations near the best from a solver of integer programs, for a tree that grows large."""
        whole = self._whole()
        for close in CLOSE_ENOUGH:
            left = effort.seconds_left()
            limit = HighsLimit(close, NODES_WHOLE, None if left is None else SHARE_WHOLE * left)
            relaxation = Relaxation(self.instance, self.steps, self.starts, self.instance.cycles[1], "HIGHS")
            taken = relaxation.whole_steps(whole, self.below, effort, limit)
            made = None if taken is None else paced(self.relaxation, taken, whole, self.steps)
            if made is not None:
                self._keep(made)
                self._improve()

    def _settle(self, node: Node) -> None:
        """A node of one pace for each layer: what it takes, if there are PEs for it."""
        numbers = tuple(
            one.within(low, high).stop - 1
            for one, low, high in zip(self.steps, node.low, node.high, strict=True)
        )
        if (
            sum(int(one.pes[number]) for one, number in zip(self.steps, numbers, strict=True))
            <= self.most_pes
        ):
            self._keep(Rounded(numbers, node.low, latency_of(self.relaxation, node.low)))

    def _dive(self, opened: Open | None, effort: Effort) -> None:
        """From the root down along the likeliest parts, for an allocation to begin with."""
        while opened is not None and effort.stopped() is None:
            self._round(opened.node, opened.relaxed, opened.weights)
            found = fractional(opened.relaxed, opened.node, self.steps)
            if not found:
                return
            # The layer that is closest to one of its two steps goes there.
            at, pace, slow = min(
                (min(part, 1 - part), at, pace, part > 0.5)
                for at, pace, part in (self._part(*one) for one in found)
            )[1:]
            parts = opened.node.parted(at, pace)
            opened = self._relaxed(parts[slow]) or self._relaxed(parts[not slow])

    def _part(self, short: float, at: int, pace: int) -> tuple[int, int, float]:
        """A layer, the pace that parts it, and how far it is from the faster of its steps to the slower one."""
        one = self.steps[at]
        fast = one.within(pace, pace).start
        return at, pace, min(1.0, short / max(1, int(one.pes[fast] - one.pes[fast + 1])))

    def _children(self, opened: Open) -> Iterator[Open]:
        found = fractional(opened.relaxed, opened.node, self.steps)
        if found:
            yield from self._parted_by_steps(opened, found[:TRIED])
            return
        self._round(opened.node, opened.relaxed, opened.weights)
        if opened.node.bound >= self.below:
            return
        split = self._fraction(opened)
        if split is None:
            self._settle(opened.node)
            return
        for part in opened.node.parted(*split):
            child = self._relaxed(part)
            if child is not None:
                yield child

    def _fraction(self, opened: Open) -> tuple[int, int] | None:
        """Where to part a node whose PEs are whole: at a pace that is no integer, or anywhere."""
        free = [
            at
            for at, (low, high) in enumerate(zip(opened.node.low, opened.node.high, strict=True))
            if low < high
        ]
        for at in sorted(free, key=lambda at: abs(opened.relaxed.paces[at] % 1 - 0.5)):
            pace = opened.relaxed.paces[at]
            down = math.floor(pace + CLOSE)
            if opened.node.low[at] <= down < opened.node.high[at]:
                return at, down
        return (free[0], opened.node.low[free[0]]) if free else None

    def _parted_by_steps(self, opened: Open, found: Sequence[tuple[float, int, int]]) -> Iterator[Open]:
        """The parts by the layer that promises most: the product of what both of its parts gain."""
        best: tuple[float, int, int, tuple[Open | None, Open | None] | None] | None = None
        for short, at, pace in found:
            gains = self.gains[at]
            parts: tuple[Open | None, Open | None] | None = None
            if min(gain.count for gain in gains) < RELIABLE:
                one, other = opened.node.parted(at, pace)
                parts = (self._relaxed(one), self._relaxed(other))
                promise = 1.0
                for gain, part in zip(gains, parts, strict=True):
                    bound = self.below if part is None else part.node.bound
                    gain.add((bound - opened.node.bound) / short)
                    promise *= max(1.0, bound - opened.node.bound)
            else:
                promise = math.prod(gain.expected(short) for gain in gains)
            if best is None or promise > best[0]:
                best = promise, at, pace, parts
            if parts == (None, None):
                break
        assert best is not None
        _, at, pace, parts = best
        if parts is None:
            one, other = opened.node.parted(at, pace)
            parts = (self._relaxed(one), self._relaxed(other))
        yield from (part for part in parts if part is not None and part.node.bound < self.below)
