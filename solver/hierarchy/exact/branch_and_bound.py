"""Branch and bound over mappings onto a hierarchy, with a bound at any time.

First it is decided which tensors each level keeps and which loops run in space: an arrangement. Its energy is a sum
over links (`arrangement`), and what moves on the link that ends at a level depends on the tile of that level, the
trip counts of the loops outside it, and their order (`arrival`). So a table from the innermost level outwards holds,
for every tile, the least energy of the links inside it (`floor`). Tiles are then opened from the outermost level
inwards, the most promising first (`expansion`): what is decided costs exactly what the model says, what is open at
least its floor, and cycles are at least those of computing and of the words moved so far. Orders are those of
`order_class`. A mapping whose levels are all decided is costed by the model.

Arrangements are opened by their bounds: the least of those that wait is the bound of the whole. Where bounds of loops
may grow, arrangements of larger bounds join them as soon as one may be the best (`padding`). Where neighbours may
hand words on, the bound may be lower than the cost of the orders that are tried. Tiles with such a bound below the best
mapping are settled at the end, by costing all their orders and layouts (`neighbour`). If these are too many, the bound
is reported and nothing is proven.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from mapper.arch.hierarchy import HIERARCHY_SCHEMA, hierarchy_from_document
from mapper.formulations.hierarchy.infeasible import why_infeasible
from mapper.formulations.hierarchy.problem import ROUNDING, HierarchyProblem
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.solver.certificate import Stop
from mapper.solver.hierarchy.choice import first_choice
from mapper.solver.hierarchy.exact.arrangement import Keep, Outset
from mapper.solver.hierarchy.exact.branch import NO_FRONT, Branch
from mapper.solver.hierarchy.exact.group import groups_of
from mapper.solver.hierarchy.exact.in_space import Spaces
from mapper.solver.hierarchy.exact.neighbour.alike import settle
from mapper.solver.hierarchy.exact.outset_bound import Opening
from mapper.solver.hierarchy.padding.choice import Paddings
from mapper.solver.hierarchy.space import Space
from mapper.solver.hierarchy.trial import Trials
from mapper.solver.method import Effort, Method, Progress
from mapper.solver.outcome import Outcome
from mapper.workloads.nest.layer_nest import matrix_product_nest

Array = Any
MOST_ARRANGEMENTS = 500_000
TOGETHER = 2048
"""Arrangements that are measured at once."""
MOST_PADDINGS = 2_000
FEW_PADDINGS = 20
"""Choices of bounds that are searched, and those before arrangements of all sizes are looked at."""
STEP = 1.02
"""The factor by which the bound rises from which on paddings wait, before they are looked at."""


class Waiting(NamedTuple):
    """An arrangement that has been measured, and no more: what levels keep, loops in space by their row in ``spaces``,
    and the fewest cycles."""

    spaces: Spaces
    keep: Keep
    row: int
    cycles: float

    def outset(self) -> Outset:
        """The arrangement by itself, to be opened."""
        return Outset(self.spaces.groups, self.keep, self.spaces.trips(slice(self.row, self.row + 1)))


class Search:
    """One run: the heap of arrangements, the best mapping, the least bound of what was left undecided, that of paddings
    that were not looked at yet (``ahead``), and that of an arrangement of which a first mapping was taken."""

    def __init__(self, problem: HierarchyProblem, effort: Effort) -> None:
        self.problem, self.effort = problem, effort
        self.trials = Trials(problem, effort)
        self.paddings = Paddings(problem) if problem.pins.free else None
        self.ahead = math.inf if self.paddings is None else self.paddings.least
        self.undecided = math.inf
        self.dived = math.inf
        self.loose: list[tuple[float, HierarchyMapping]] = []
        self.heap: list[tuple[float, int, Waiting | Branch]] = []
        self.numbers = count()
        self.stop: Stop | None = None

    @property
    def limit(self) -> float:
        """What a bound must lie below for its mappings to be of interest."""
        value = self.trials.value
        return math.inf if value is None else value * (1 - ROUNDING)

    @property
    def front(self) -> Array:
        """Points that mappings must not be worse than, as `expansion.Scale` has them: none, the limit says all."""
        return NO_FRONT

    def wants(self, bound: float, cycles: float) -> bool:
        """Whether mappings with such bounds are of interest."""
        return bound < self.limit

    def run(self) -> Outcome[HierarchyMapping]:
        """Open arrangements until none can hold a better mapping: first those of the bounds as they are."""
        self._start()
        self.gather(self.problem.as_it_is())
        self._work(math.inf)
        if self.paddings is not None:
            self.pad(self.paddings)
        settle(self)
        return self.ended()

    def try_out(self, mapping: HierarchyMapping) -> None:
        """Cost a mapping of which no bound is known."""
        self.trials.take(mapping)

    def pad(self, paddings: Paddings) -> None:
        """Open arrangements of larger bounds, the most promising first, but for a first look at the next bounds that
        have small factors."""
        if friendly := paddings.friendly():
            self.gather(self.problem.padded_to(friendly))
            self._work(math.inf)
        gathered, most_gathered = set[tuple[int, ...]](), FEW_PADDINGS
        while self.ahead < self.limit and not self.over():
            most = self.ahead * STEP if self.ahead > 0 else math.inf
            paddings.cut = math.inf
            for sizes, keeps in paddings.between(self.ahead, most, self):
                if len(gathered) >= most_gathered or self.over():
                    break
                if tuple(sizes.values()) not in gathered:
                    gathered.add(tuple(sizes.values()))
                    self.gather(self.problem.padded_to(sizes), keeps)
            else:
                self.ahead = max(most, paddings.cut) if paddings.cut < math.inf else math.inf
                self._work(self.ahead)
                continue
            if most_gathered == MOST_PADDINGS:
                return
            most_gathered = MOST_PADDINGS
            paddings.relax(self, self.effort)
            self.ahead = max(self.ahead, paddings.least)
            self._work(self.ahead)

    def _work(self, most: float) -> None:
        """Open the arrangements whose bounds are less than ``most``."""
        while self.heap and self.heap[0][0] < min(self.limit, most) and not self.over():
            bound, number, branch = heapq.heappop(self.heap)
            if not self.wants(bound, branch.cycles):
                continue
            self.effort.report(Progress(self.trials.value, min(self._bound(), bound), self.trials.tried))
            if isinstance(branch, Branch):
                self._open(branch, bound)
                continue
            opened = self.opened(branch)
            if opened is None:
                self.undecided = min(self.undecided, bound)
            elif self.wants(opened.bound, opened.cycles):
                if self._promises(opened):
                    self._dive(opened)
                heapq.heappush(self.heap, (max(bound, opened.bound), number, opened))

    def _promises(self, branch: Branch) -> bool:
        """Whether to take a mapping of an arrangement before its turn: its bound is lower than those before."""
        lower = branch.bound < self.dived
        self.dived = min(self.dived, branch.bound)
        return lower

    def _start(self) -> None:
        """Have a mapping from the first moment, if none is known."""
        space = Space(self.problem)
        choice = first_choice(space) if self.trials.best is None else None
        if choice is not None:
            self._take(choice.mapping(space), math.inf, False)

    def gather(self, problem: HierarchyProblem, keeps: Sequence[Keep] | None = None) -> Spaces:
        """Put the arrangements of these bounds that may hold a better mapping into the heap; it is known of all but
        those of ``keeps``, if given, that they hold none."""
        keeps = list(Space(problem).keeps()) if keeps is None else keeps
        spaces = self.spaces(problem)
        known = self.trials.bound if self.paddings is None else max(self.trials.bound, self.ahead)
        if not spaces.complete:
            self.undecided = min(self.undecided, known)
        for begin in range(0, len(spaces), TOGETHER):
            spread = spaces.trips(slice(begin, begin + TOGETHER))
            for keep in keeps:
                if self.over():
                    self.undecided = min(self.undecided, known)
                    break
                opening = Opening(self.outset(spaces, keep, begin, spread))
                for row in np.flatnonzero(opening.bound < self.limit):
                    bound, cycles = float(opening.bound[row]), float(opening.cycles[row])
                    if self.wants(bound, cycles):
                        waiting = Waiting(spaces, keep, begin + int(row), cycles)
                        self.heap.append((bound, next(self.numbers), waiting))
                self._keep_few()
        heapq.heapify(self.heap)
        return spaces

    def spaces(self, problem: HierarchyProblem) -> Spaces:
        """What loops may do in space, with these bounds."""
        return Spaces(problem, groups_of(problem), self.effort)

    def outset(self, spaces: Spaces, keep: Keep, begin: int, spread: Array) -> Outset:
        """The arrangements of ``spaces`` from row ``begin`` on, with trips in space ``spread``, that keep the same."""
        return Outset(spaces.groups, keep, spread)

    def _keep_few(self) -> None:
        """Leave out arrangements with large bounds if there are too many; the least of these bounds is remembered."""
        if len(self.heap) > MOST_ARRANGEMENTS:
            self.heap.sort(key=lambda one: one[:2])
            self.undecided = min(self.undecided, self.heap[MOST_ARRANGEMENTS // 2][0])
            del self.heap[MOST_ARRANGEMENTS // 2 :]

    def opened(self, waiting: Waiting) -> Branch | None:
        """An arrangement with its tiles; None if that takes too much, or time is over."""
        found = Branch(waiting.outset(), waiting.spaces.space(waiting.row))
        return found if found.build(self.effort, self.limit) else None

    def over(self) -> bool:
        self.stop = self.stop or self.effort.stopped()
        return self.stop is not None

    def _dive(self, branch: Branch) -> None:
        """Take the most promising mapping of an arrangement, so that there is one from early on."""
        while not self.over():
            least, child = next(branch.children(self), (math.inf, None))
            if isinstance(child, HierarchyMapping):
                self._take(child, least, branch.handed)
            if not isinstance(child, int):
                break
        branch.close(0)

    def _open(self, branch: Branch, bound: float) -> None:
        """Go through the mappings of an arrangement, depth first."""
        frames: list[Iterator[tuple[float, HierarchyMapping | int]]] = [branch.children(self)]
        while frames:
            if self.over():
                self.undecided = min(self.undecided, bound)
                return
            found = next(frames[-1], None)
            if found is None:
                frames.pop()
                branch.close(len(frames))
                continue
            least, child = found
            if isinstance(child, HierarchyMapping):
                self._take(child, least, branch.handed)
            else:
                frames.append(branch.children(self))
        branch.forget()

    def _take(self, mapping: HierarchyMapping, least: float, handed: bool) -> None:
        value = self.trials.take(mapping)
        if handed and (value is None or least < value * (1 - ROUNDING)):
            # Another order may lie between the bound and the cost of the one that was tried.
            self.loose.append((least, mapping))

    def _bound(self) -> float:
        """The least that any mapping can cost, as far as is known."""
        value = math.inf if self.trials.value is None else float(self.trials.value)
        waiting = self.heap[0][0] if self.heap else math.inf
        return min(value, waiting, self.undecided, self.ahead)

    def ended(self) -> Outcome[HierarchyMapping]:
        trials = self.trials
        loose = min((least for least, _ in self.loose if least < self.limit), default=math.inf)
        bound = min(self._bound(), loose)
        waiting = self.heap[0][0] if self.heap else math.inf
        if min(waiting, self.undecided, loose, self.ahead) >= self.limit:
            return Outcome.ended(
                trials.best, trials.value, trials.value, "complete", proven=True, evaluations=trials.tried
            )
        known = max(bound, trials.bound)
        stop: Stop = self.stop or "complete"
        if trials.best is None:
            return Outcome.unknown(stop, known if known < math.inf else None, evaluations=trials.tried)
        return Outcome.bounded(trials.best, trials.value, known, stop, evaluations=trials.tried)


def branch_and_bound(problem: HierarchyProblem, effort: Effort) -> Outcome[HierarchyMapping]:
    """The best mapping with a proof, or as far as it came with a bound."""
    if why_infeasible(problem) is not None:
        return Outcome.infeasible()
    return Search(problem, effort).run()


def with_larger_bounds(
    problem: HierarchyProblem, mapping: HierarchyMapping, effort: Effort
) -> HierarchyMapping | None:
    """The best mapping that was found of larger bounds and is better than ``mapping``, which is the best of the bounds
    as they are, if there is any."""
    search = Search(problem, effort)
    search.trials.take(mapping)
    if search.paddings is not None:
        search.pad(search.paddings)
    found = search.trials.best
    return found if found is not None and found.padded else None


def prepare() -> None:
    """Call the compiled functions once, on a problem of milliseconds."""
    branch_and_bound(_small(), Effort())


def _small() -> HierarchyProblem:
    # So dear outside that nothing but tiles at every level is worth opening.
    levels = [
        {"name": name, "words": words, "energy_pj": dict.fromkeys(("read", "fill", "update"), energy)}
        for name, words, energy in (("outer", None, 64), ("middle", 12, 4), ("inner", 3, 1))
    ]
    machine = hierarchy_from_document(
        {"schema": HIERARCHY_SCHEMA, "name": "small", "levels": levels, "compute": {"energy_pj": 1}}, "small"
    )
    return HierarchyProblem(matrix_product_nest("small", (), 2, 2, 2), machine, "edp")


BRANCH_AND_BOUND: Method[HierarchyProblem, HierarchyMapping] = Method(
    "branch-and-bound",
    True,
    "arrangements by their bounds, tiles from the outermost level inwards, floors from the innermost outwards",
    branch_and_bound,
    prepare,
)
