"""Branch and bound on many machines: what was measured, listed and tabulated for one serves the others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from mapper.formulations.hierarchy.infeasible import why_infeasible
from mapper.formulations.hierarchy.problem import ROUNDING, HierarchyProblem
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.solver.hierarchy.co_design.family import (
    family_name,
    least_prices,
    made,
    most_words,
    prices_of,
    words_of,
)
from mapper.solver.hierarchy.co_design.table import SharedBranch, Tables
from mapper.solver.hierarchy.exact.arrangement import Keep, Outset
from mapper.solver.hierarchy.exact.branch import Branch
from mapper.solver.hierarchy.exact.branch_and_bound import Search, Waiting
from mapper.solver.hierarchy.exact.in_space import Spaces
from mapper.solver.method import Effort
from mapper.solver.outcome import Outcome

Array = Any


class MachineSearch(Search):
    """A search on one machine for mappings below a value, by the tables of its family."""

    def __init__(self, problem: HierarchyProblem, effort: Effort, below: float, tables: Tables) -> None:
        super().__init__(problem, effort)
        self.below, self.tables = below, tables

    @property
    def limit(self) -> float:
        return min(super().limit, self.below * (1 - ROUNDING))

    def _start(self) -> None:
        """A limit from elsewhere serves as well as a first mapping."""
        if self.below == math.inf:
            super()._start()

    def spaces(self, problem: HierarchyProblem) -> Spaces:
        return (
            self.tables.spaces(self.effort) if self._shares(problem.pins.padded) else super().spaces(problem)
        )

    def outset(self, spaces: Spaces, keep: Keep, begin: int, spread: Array) -> Outset:
        if not self._shares(spaces.padded):
            return super().outset(spaces, keep, begin, spread)
        return self.tables.outset(keep, begin, spread).on(self.problem)

    def opened(self, waiting: Waiting) -> Branch | None:
        if not self._shares(waiting.spaces.padded):
            return super().opened(waiting)
        found = SharedBranch(self.tables, waiting, self.problem)
        return found if found.build(self.effort, self.limit) else None

    def _shares(self, padded: tuple[tuple[str, int], ...]) -> bool:
        """Whether bounds are those of the tables: as they are."""
        own: tuple[tuple[str, int], ...] = self.problem.pins.padded
        return padded == own

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

    @cached_property
    def widest(self) -> HierarchyProblem:
        """The problem on a machine of the most words and the least energies."""
        machines = [self.problems[place].machine for place in self.places]
        words, prices = map(words_of, machines), map(prices_of, machines)
        widest = made(machines[0], most_words(list(words)), least_prices(dict.fromkeys(prices)))
        return replace(self.problems[self.places[0]], machine=widest)

    @cached_property
    def tables(self) -> Tables:
        return Tables(self.widest)


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
        found = MachineSearch(family.widest, effort, math.inf, family.tables).run()
        if found.proven and found.value is None:
            return math.inf
        return -math.inf if found.bound is None else found.bound * (1 - ROUNDING)

    def best(self, place: int, below: float, effort: Effort) -> Outcome[HierarchyMapping]:
        """The best mapping on the machine at ``place`` that lies below a value; without one and proven: there is
        none."""
        problem, family = self.problems[place], self._family[place]
        if self.least(place, effort) >= below * (1 - ROUNDING) or why_infeasible(problem) is not None:
            return Outcome.infeasible()
        return MachineSearch(problem, effort, below, family.tables).run()
