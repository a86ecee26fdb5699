"""Machines that differ in the words of their levels and in energies alone, and what holds for all of them.

A mapping that fits a machine fits every machine that has no fewer words at any level, and has the same accesses and
cycles there: words enter no count. Energy is a sum of accesses times the energies of actions. So a machine with the
most words and the least energies of several (the widest) has a mapping of no more energy, and of as many cycles, for
every mapping of each of them: what bounds it bounds them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mapper.arch.hierarchy import Actions, HierarchyMachine
from mapper.formulations.hierarchy.problem import HierarchyProblem

Words = tuple[int | None, ...]
Prices = tuple[Actions | None, ...]
ACTIONS = ("read", "fill", "update", "leak")


def words_of(machine: HierarchyMachine) -> Words:
    """The words of each level."""
    return tuple(level.words for level in machine.levels)


def prices_of(machine: HierarchyMachine) -> Prices:
    """The energies of each level at its own words."""
    return tuple(level.actions for level in machine.levels)


def made(machine: HierarchyMachine, words: Words, prices: Prices) -> HierarchyMachine:
    """The machine with such words and energies."""
    levels = [
        level.model_copy(update={"words": own, "energy_pj": actions})
        for level, own, actions in zip(machine.levels, words, prices, strict=True)
    ]
    return machine.model_copy(update={"levels": levels})


def family_name(problem: HierarchyProblem) -> str:
    """What the problems of one family have in common, whatever the words and energies of their machines."""
    machine = problem.machine
    bare = [
        level.model_copy(update={"words": None, "energy_pj": None, "area_mm2": None})
        for level in machine.levels
    ]
    common = machine.model_copy(update={"levels": bare, "name": "", "description": "", "passed_over": []})
    known = [actions is not None for actions in prices_of(machine)]
    return repr((common.model_dump_json(by_alias=True), known, problem.max_cycles))


def most_words(all_words: Sequence[Words]) -> Words:
    """The most words of each level; None is more than any."""
    return tuple(None if None in own else max(own) for own in zip(*all_words, strict=True))


def least_prices(all_prices: Iterable[Prices]) -> Prices:
    """The least energy of each action at each level."""
    found: list[Actions | None] = []
    for own in zip(*all_prices, strict=True):
        known = [actions for actions in own if actions is not None]
        least = {action: min((getattr(one, action) for one in known), default=0.0) for action in ACTIONS}
        found.append(Actions(**least) if known else None)
    return tuple(found)
