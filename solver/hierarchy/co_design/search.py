"""Branch and bound on many machines: what was measured, bounded and tabulated for one serves the others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count

from mapper.formulations.hierarchy.infeasible import why_infeasible
from mapper.formulations.hierarchy.problem import ROUNDING, HierarchyProblem
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.solver.hierarchy.co_design.family import (
    Prices,
    Words,
    family_name,
    least_prices,
    made,
    most_words,
    prices_of,
    words_of,
)
from mapper.solver.hierarchy.co_design.table import Table
from mapper.solver.hierarchy.exact.arrangement import Keep
from mapper.solver.hierarchy.exact.branch import Branch
from mapper.solver.hierarchy.exact.branch_and_bound import Search, Waiting
from mapper.solver.hierarchy.exact.in_space import Spaces
from mapper.solver.hierarchy.exact.outset_bound import Opening
from mapper.solver.method import Effort
from mapper.solver.outcome import Outcome


class MachineSearch(Search):
    """A search on one machine for mappings below a value, by the tables of machines of the same energies (``same``), or
    with bounds by those of a cheaper machine with no fewer words (``cheaper``)."""

    def __init__(
        self,
        problem: HierarchyProblem,
        effort: Effort,
        below: float,
        same: Table | None,
        cheaper: Table | None,
    ) -> None:
        super().__init__(problem, effort)
        self.below, self.same, self.cheaper = below, same, cheaper

    @property
    def limit(self) -> float:
        return min(super().limit, self.below * (1 - ROUNDING))

    def _start(self) -> None:
        """A limit from elsewhere serves as well as a first mapping."""
        if self.below == math.inf:
            super()._start()

    def gather(self, problem: HierarchyProblem, keeps: Sequence[Keep] | None = None) -> Spaces:
        if self.same is None or problem.pins.padded != self.problem.pins.padded:
            return super().gather(problem, keeps)
        self.heap = self.same.waiting()
        self.numbers = count(1 + max((number for _, number, _ in self.heap), default=-1))
        self.undecided = self.same.measured.undecided
        return self.same.spaces

    def opened(self, waiting: Waiting) -> Branch | None:
        # Tables are of bounds as they are.
        if waiting.spaces.padded != self.problem.pins.padded:
            return super().opened(waiting)
        if self.same is not None:
            shared = self.same.branch(waiting, self.effort)
            return super().opened(waiting) if shared is None else shared.on(self.problem)
        closed = None if self.cheaper is None else self._closed(self.cheaper, waiting)
        return super().opened(waiting) if closed is None else closed

    def _closed(self, cheaper: Table, waiting: Waiting) -> Branch | None:
        """The arrangement on the cheaper machine, if its bound there tells that nothing here lies below the limit."""
        shared = cheaper.branch(waiting, self.effort)
        if shared is None:
            return None
        # An access costs more here by what its energies differ, and there are at least as many of each as are
        # counted before tiles are looked at.
        more = float(Opening(waiting.outset()).bound[0]) - float(shared.opening.bound[0])
        closer = shared.on(self.problem)
        closer.bound += more
        return None if self.wants(closer.bound, closer.cycles) else closer

    def ended(self) -> Outcome[HierarchyMapping]:
        found = super().ended()
        if found.value is None or found.value < self.below * (1 - ROUNDING):
            return found
        return replace(found, mapping=None, value=None, bound=None if found.proven else found.bound)


@dataclass
class Family:
    """Problems that differ in the words and energies of their machines alone, by their places."""

    problems: Sequence[HierarchyProblem]
    places: list[int]

    def __post_init__(self) -> None:
        self._tables: dict[tuple[Prices, Words], Table] = {}

    @cached_property
    def words(self) -> dict[int, Words]:
        """The words of each machine, by place."""
        return {place: words_of(self.problems[place].machine) for place in self.places}

    @cached_property
    def prices(self) -> dict[int, Prices]:
        """The energies of each machine, by place."""
        return {place: prices_of(self.problems[place].machine) for place in self.places}

    @cached_property
    def _alike(self) -> dict[Prices, list[int]]:
        """Places of the machines that have the same energies."""
        found: dict[Prices, list[int]] = {}
        for place, prices in self.prices.items():
            found.setdefault(prices, []).append(place)
        return found

    @cached_property
    def cheapest(self) -> Prices:
        return least_prices(self._alike)

    @cached_property
    def widest(self) -> HierarchyProblem:
        """The problem on a machine of the most words and the least energies."""
        return self._made(most_words(list(self.words.values())), self.cheapest)

    def same(self, place: int, effort: Effort) -> Table | None:
        """The table of the machines that have the same energies, None if there is only the one."""
        prices = self.prices[place]
        alike = self._alike[prices]
        return self._table(prices, alike, effort) if len(alike) > 1 else None

    def cheaper(self, effort: Effort) -> Table | None:
        """The table of the widest machine, None if there are no others."""
        return self._table(self.cheapest, self.places, effort) if len(self.places) > 1 else None

    def _table(self, prices: Prices, places: list[int], effort: Effort) -> Table:
        key = prices, most_words([self.words[one] for one in places])
        if key not in self._tables:
            self._tables[key] = Table(self._made(key[1], prices), effort)
        return self._tables[key]

    def _made(self, words: Words, prices: Prices) -> HierarchyProblem:
        first = self.problems[self.places[0]]
        return replace(first, machine=made(first.machine, words, prices))


class CoDesign:
    """One problem on many machines, solved on one after another."""

    def __init__(self, problems: Sequence[HierarchyProblem]) -> None:
        self.problems = problems
        families: dict[str, Family] = {}
        for place, problem in enumerate(problems):
            families.setdefault(family_name(problem), Family(problems, [])).places.append(place)
        self._family = {place: family for family in families.values() for place in family.places}
        self._least: dict[int, float] = {}

    def least(self, place: int, effort: Effort) -> float:
        """What bounds every mapping on every machine of the family of the one at ``place``: the least value on the
        widest and cheapest machine."""
        family = self._family[place]
        if id(family) not in self._least:
            self._least[id(family)] = self._least_of(family, effort)
        return self._least[id(family)]

    def _least_of(self, family: Family, effort: Effort) -> float:
        if len(family.places) == 1:
            return -math.inf
        if why_infeasible(family.widest) is not None:
            return math.inf
        found = MachineSearch(family.widest, effort, math.inf, family.cheaper(effort), None).run()
        if found.proven and found.value is None:
            return math.inf
        return -math.inf if found.bound is None else found.bound * (1 - ROUNDING)

    def best(self, place: int, below: float, effort: Effort) -> Outcome[HierarchyMapping]:
        """The best mapping on the machine at ``place`` that lies below a value; without one and proven: there is
        none."""
        problem, family = self.problems[place], self._family[place]
        if self.least(place, effort) >= below * (1 - ROUNDING) or why_infeasible(problem) is not None:
            return Outcome.infeasible()
        same = family.same(place, effort)
        return MachineSearch(problem, effort, below, same, None if same else family.cheaper(effort)).run()
