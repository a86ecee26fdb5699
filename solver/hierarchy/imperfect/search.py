"""Branch and bound over all ways to cut loops whose factors need not divide them.

A node is a choice of tensors to keep, of trips in space, and of a cell of cuts for each loop; at first of all its cuts.
The node with the least bound is opened: the cells in which tiles differ most are split, until each is a single cut.
Then all orders that may differ are costed by the model. Nodes that are left, since time is over or there are too many,
bound what is not known; nothing is proven unless they reach the best mapping.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from mapper.formulations.hierarchy.problem import ROUNDING, HierarchyProblem
from mapper.models.hierarchy.imperfect.digit import with_last_passes
from mapper.models.hierarchy.mapping import HierarchyMapping, LevelMapping, SpatialLoop, TemporalLoop
from mapper.solver.certificate import Stop
from mapper.solver.hierarchy.exact.group import Groups
from mapper.solver.hierarchy.exact.order_class import movers_of, order_classes
from mapper.solver.hierarchy.imperfect.bound import CutBound
from mapper.solver.hierarchy.imperfect.bound_kernel import SHY
from mapper.solver.hierarchy.imperfect.cell import TOO_MANY, UNKNOWN
from mapper.solver.hierarchy.imperfect.fan import in_space, spaces_of
from mapper.solver.hierarchy.imperfect.node_kernel import children, widest
from mapper.solver.hierarchy.imperfect.waiting import Batch, Node, Waiting
from mapper.solver.hierarchy.padding.bound import PaddingBound
from mapper.solver.hierarchy.space import Space
from mapper.solver.hierarchy.trial import Trials
from mapper.solver.method import Effort, Progress
from mapper.solver.outcome import Outcome

Array = Any
TOGETHER = 4096
"""Choices that are bounded at once."""
FIRST_AT_ONCE, AT_ONCE = 32, 1024
"""Nodes that are opened at once, at first and at most."""
MOST_NODES = 400_000
"""Nodes that wait, at most."""


class CutSearch:
    """One run: nodes that wait by their bounds, the best mapping, and the least bound of what was left."""

    def __init__(self, problem: HierarchyProblem, effort: Effort) -> None:
        self.problem, self.effort = problem, effort
        self.trials = Trials(problem, effort)
        running = tuple(loop for loop, bound in problem.bounds.items() if bound > 1)
        self.loops = running or problem.nest.loops[:1]
        self.keeps = list(Space(problem).keeps())
        self.bounds = [CutBound(problem, keep, self.loops) for keep in self.keeps]
        self.groups = Groups(problem, tuple((loop,) for loop in self.loops))
        self.spread: Array = np.zeros((0, len(self.keeps), len(self.loops)), np.int64)
        self.undecided = math.inf
        self.waiting = Waiting()
        self.stop: Stop | None = None

    @property
    def limit(self) -> float:
        """What a bound must lie below for its mappings to be of interest."""
        value = self.trials.value
        return math.inf if value is None else value * (1 - ROUNDING)

    def wanted(self, bounds: Array, cycles: Array) -> Array:
        """Whether mappings with such bounds are of interest."""
        found: Array = bounds < self.limit
        return found

    def wants(self, bound: float, cycles: float) -> bool:
        """Whether mappings with such a bound are of interest."""
        return bound < self.limit

    def take(self, mapping: HierarchyMapping) -> None:
        """Judge a mapping, and keep it if it is better."""
        self.trials.take(mapping)

    def _over(self) -> bool:
        self.stop = self.stop or self.effort.stopped()
        return self.stop is not None

    def gather(self) -> None:
        """Let every choice of tensors and of trips in space wait whose bound lies below the limit."""
        spread = spaces_of(self.problem, self.loops)
        if spread is None:
            self.undecided = self.trials.bound
            return
        self.spread = spread[self._soon(spread)]
        self._bound_all()

    def _soon(self, spread: Array) -> Array:
        """Whether computing alone takes few enough cycles, each of which costs what all energy is at least spread over
        the fewest cycles."""
        value, cycles = PaddingBound(self.problem).of(self.problem.bounds, frozenset(self.loops))
        cost_of_cycle = {"edp": value / cycles, "latency": 1.0, "energy": 0.0}[self.problem.objective]
        bounds = np.array([self.problem.bounds[loop] for loop in self.loops], np.int64)
        passes = (-(-bounds // spread.prod(axis=1))).prod(axis=1, dtype=np.float64)
        turns = np.ceil(passes / self.problem.machine.compute.rate)
        found: Array = turns * cost_of_cycle * SHY < self.limit
        return found

    def _bound_all(self) -> None:
        """Bound every choice of tensors and of trips in space."""
        spread = self.spread
        kinds = [np.unique(spread[:, :, j], axis=0, return_inverse=True) for j in range(len(self.loops))]
        for number, bound in enumerate(self.bounds):
            roots = np.zeros((len(spread), len(self.loops)), np.int64)
            for j, (kind, place) in enumerate(kinds):
                own = [bound.cells.root(j, tuple(row)) for row in kind.tolist()]
                roots[:, j] = np.array(own, np.int64)[place.ravel()]
            for begin in range(0, len(spread), TOGETHER):
                if self._over():
                    self.undecided = self.trials.bound
                    return
                own_roots = roots[begin : begin + TOGETHER]
                least, cycles = bound.least(own_roots)
                chosen = np.flatnonzero(self.wanted(least, cycles))
                self.waiting.put(
                    self._batch(number, begin + chosen, own_roots[chosen], least[chosen], cycles[chosen])
                )

    def work(self) -> None:
        """Open nodes until none can hold a better mapping."""
        opened, dive = 0, FIRST_AT_ONCE
        while self.waiting.least < self.limit and not self._over():
            self.effort.report(Progress(self.trials.value, self.bound(), self.trials.tried))
            if self._too_many():
                return
            batches: dict[int, list[tuple[float, Node]]] = {}
            most = min(AT_ONCE, max(FIRST_AT_ONCE, opened // 4))
            for _ in range(most):
                if self.waiting.least >= self.limit:
                    break
                least, node = self.waiting.take()
                if not self.wants(least, node.cycles):
                    continue
                if node.single:
                    self._cost(node, least)
                    break
                batches.setdefault(node.keep, []).append((least, node))
                opened += 1
            for keep, batch in batches.items():
                self.waiting.put(self._opened(keep, batch))
            if opened >= dive and len(self.waiting):
                self._dive(*self.waiting.first())
                dive = 2 * opened

    def _too_many(self) -> bool:
        """Whether more nodes wait than may, once those are left out that are of no interest any more."""
        if len(self.waiting) > MOST_NODES:
            self.waiting.leave(self.wanted)
        return len(self.waiting) > MOST_NODES

    def _dive(self, least: float, node: Node) -> None:
        """Cost the cuts to which a node comes by its most promising part, and that one's: a good mapping soon."""
        while not node.single:
            parts = self._opened(node.keep, [(least, node)])
            if not len(parts.least) or self._over():
                return
            best = int(np.argmin(parts.least))
            least, node = float(parts.least[best]), parts.node(best)
        self._cost(node, math.inf)

    def _opened(self, keep: int, batch: Sequence[tuple[float, Node]]) -> Batch:
        """Split the cells of the widest loops of nodes: their parts of interest."""
        bound, cells = self.bounds[keep], self.bounds[keep].cells
        own = np.array([node.cells for _, node in batch], np.int64)
        wide = widest(own, cells.spread)
        asked = np.take_along_axis(own, np.maximum(wide, 0), axis=1)
        unknown = (wide >= 0) & (cells.parts[asked] == UNKNOWN)
        for cell in np.unique(asked[unknown]).tolist():
            cells.split(cell)
        too_many = ((wide >= 0) & (cells.parts[asked] == TOO_MANY)).any(axis=1)
        self.undecided = min([self.undecided, *(batch[k][0] for k in np.flatnonzero(too_many).tolist())])
        found, parent = children(own, wide, cells.parts, cells.halves)
        value, cycles = bound.least(found)
        least = np.maximum(value, np.array([one for one, _ in batch])[parent])
        chosen = np.flatnonzero(self.wanted(least, cycles))
        spaces = np.array([node.space for _, node in batch], np.int64)[parent[chosen]]
        return self._batch(keep, spaces, found[chosen], least[chosen], cycles[chosen])

    def _batch(self, keep: int, spaces: Array, cells: Array, least: Array, cycles: Array) -> Batch:
        return Batch(keep, spaces, cells, least, cycles, self.bounds[keep].is_single(cells))

    def _cost(self, node: Node, least: float) -> None:
        """Cost the mappings of a node whose loops are all cut, in every order that may be the best."""
        bound = self.bounds[node.keep]
        time_trips = [bound.cells.cut(cell) for cell in node.cells]
        space = [
            in_space(self.problem, level, self.loops, self.spread[node.space, level])
            for level in range(len(self.keeps[0]))
        ]
        rows = list(product(*self._orders(time_trips)))
        innermost = np.array([[one[0] if one else -1 for one in row] for row in rows], np.int64)
        found = bound.of_orders(np.array(node.cells, np.int64), innermost)
        for place in np.argsort(found, kind="stable"):
            if self._over():
                self.undecided = min(self.undecided, least)
                return
            if not self.wants(float(found[place]), node.cycles):
                return
            self.take(self._mapping(node, time_trips, rows[place], space))

    def _orders(self, trips: list[list[int]]) -> list[tuple[tuple[int, ...], ...]]:
        """The orders of the loops that turn at each level, innermost first."""
        movers = tuple(dict.fromkeys(movers_of(self.groups.shape)))
        levels = len(self.keeps[0])
        return [
            order_classes(
                movers,
                self.groups.given(level),
                tuple(j for j, own in enumerate(trips) if own[level] > 1),
                level + 1 < levels,
            )
            for level in range(levels)
        ]

    def _mapping(
        self,
        node: Node,
        trips: list[list[int]],
        orders: Sequence[Sequence[int]],
        space: Sequence[tuple[SpatialLoop, ...]],
    ) -> HierarchyMapping:
        levels = []
        for level, memory in enumerate(self.problem.machine.levels):
            time = tuple(TemporalLoop(self.loops[j], trips[j][level]) for j in reversed(orders[level]))
            levels.append(LevelMapping(memory.name, self.keeps[node.keep][level], time, space[level]))
        found = HierarchyMapping(tuple(levels), self.problem.pins.padded)
        return with_last_passes(found, self.problem.bounds)

    def bound(self) -> float:
        """The least that any mapping can cost, as far as is known."""
        value = math.inf if self.trials.value is None else float(self.trials.value)
        return min(value, self.waiting.least, self.undecided)

    def ended(self) -> Outcome[HierarchyMapping]:
        trials = self.trials
        if min(self.waiting.least, self.undecided) >= self.limit:
            return Outcome.ended(
                trials.best, trials.value, trials.value, "complete", proven=True, evaluations=trials.tried
            )
        known = max(self.bound(), trials.bound)
        stop: Stop = self.stop or "complete"
        if trials.best is None:
            return Outcome.unknown(stop, known if known < math.inf else None, evaluations=trials.tried)
        return Outcome.bounded(trials.best, trials.value, known, stop, evaluations=trials.tried)


def cut_search(problem: HierarchyProblem, effort: Effort) -> Outcome[HierarchyMapping]:
    """The best mapping whose factors need not divide, with a proof, or as far as it came with a bound."""
    search = CutSearch(problem, effort)
    search.gather()
    search.work()
    return search.ended()
