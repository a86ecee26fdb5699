"""One option of every group, of the least sum of values, whose weights keep a limit together: the multiple-choice
knapsack [Kellerer2004, ch. 11], exactly.

Partial sums go on group by group. One that another one equals or beats in value and weight is dropped, and so is one
whose value, plus the least that the remaining groups can add within what is left of the limit, is not below the best
known. That least is of the linear relaxation: groups on their lower convex hulls, steps taken in the order of what they
save for their weight, the last one in part.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import NamedTuple


class Option(NamedTuple):
    """What is chosen: ``value`` is to be least, ``weight`` counts towards the limit."""

    value: int
    weight: int


class _Step(NamedTuple):
    """To the next option on a group's hull: so much more weight, so much less value."""

    weight: int
    saved: int


@dataclass(frozen=True)
class _Relaxation:
    """The least value of groups by weight: with their lightest options ``weight`` and ``value``; then ``steps`` in the
    order of what they save for their weight, whose sums are ``weights`` and ``saved``."""

    weight: int
    value: int
    steps: tuple[_Step, ...]
    weights: tuple[int, ...]
    saved: tuple[int, ...]

    @classmethod
    def of(cls, groups: Sequence[Sequence[Option]]) -> _Relaxation:
        hulls = [_hull(group) for group in groups]
        steps = sorted(
            (_Step(b.weight - a.weight, a.value - b.value) for hull in hulls for a, b in pairwise(hull)),
            key=lambda step: Fraction(-step.saved, step.weight),
        )
        return cls(
            sum(hull[0].weight for hull in hulls),
            sum(hull[0].value for hull in hulls),
            tuple(steps),
            (0, *accumulate(step.weight for step in steps)),
            (0, *accumulate(step.saved for step in steps)),
        )

    def least(self, limit: int) -> int | None:
        """A value that no choice of at most this weight is below; None if there is no such choice."""
        room = limit - self.weight
        if room < 0:
            return None
        taken = bisect_right(self.weights, room) - 1
        saved = self.saved[taken]
        if taken < len(self.steps):
            step = self.steps[taken]
            saved += step.saved * (room - self.weights[taken]) // step.weight
        return self.value - saved


def _hull(group: Sequence[Option]) -> list[Option]:
    """The options that are least for some price of weight, from the lightest on."""
    hull: list[Option] = []
    for one in sorted(group, key=lambda option: (option.weight, option.value)):
        if hull and one.value >= hull[-1].value:
            continue
        while len(hull) > 1 and _saves_less(hull[-2], hull[-1], one):
            hull.pop()
        hull.append(one)
    return hull


def _saves_less(first: Option, middle: Option, last: Option) -> bool:
    """Whether the first of two steps saves no more for its weight than the second."""
    before = (first.value - middle.value) * (last.weight - middle.weight)
    return before <= (middle.value - last.value) * (middle.weight - first.weight)


def choice(
    groups: Sequence[Sequence[Option]], limit: int, stopped: Callable[[], object] = lambda: None
) -> tuple[tuple[int, ...] | None, bool]:
    """The places of the options of least value within the limit, None if no choice keeps it; and whether that is
    proven, which it is unless the search was ``stopped``."""
    rest = [_Relaxation.of(groups[at + 1 :]) for at in range(len(groups))]
    best = _first(groups, limit)
    if best is None:
        return None, True
    least = sum(group[place].value for group, place in zip(groups, best, strict=True))
    rows: list[tuple[Option, tuple[int, ...]]] = [(Option(0, 0), ())]
    for group, after in zip(groups, rest, strict=True):
        if stopped():
            return best, False
        grown = []
        for done, chosen in rows:
            for place, option in enumerate(group):
                both = Option(done.value + option.value, done.weight + option.weight)
                more = after.least(limit - both.weight)
                if more is not None and both.value + more < least:
                    grown.append((both, (*chosen, place)))
        rows = _unbeaten(grown)
    return (min(rows)[1] if rows else best), True


def _first(groups: Sequence[Sequence[Option]], limit: int) -> tuple[int, ...] | None:
    """A choice within the limit: all lightest, then the options on hulls that save most for their weight, while they
    fit."""
    hulls = [_hull(group) for group in groups]
    room = limit - sum(hull[0].weight for hull in hulls)
    if room < 0:
        return None
    at = [0] * len(groups)
    steps = sorted(
        (Fraction(b.value - a.value, b.weight - a.weight), g, place)
        for g, hull in enumerate(hulls)
        for place, (a, b) in enumerate(pairwise(hull))
    )
    for _, g, place in steps:
        weight = hulls[g][place + 1].weight - hulls[g][place].weight
        if at[g] == place and weight <= room:
            at[g], room = place + 1, room - weight
    return tuple(list(group).index(hull[place]) for group, hull, place in zip(groups, hulls, at, strict=True))


def _unbeaten(rows: list[tuple[Option, tuple[int, ...]]]) -> list[tuple[Option, tuple[int, ...]]]:
    """The rows that no other equals or beats in both, by ascending value."""
    kept: list[tuple[Option, tuple[int, ...]]] = []
    for one in sorted(rows):
        if not kept or one[0].weight < kept[-1][0].weight:
            kept.append(one)
    return kept
