"""The most that a layer may cost in each of its residencies if the partition is to be no worse than a known one.

A partition is a path through the residencies of the layers, and costs at least the sum of the floors along it. What
the cheapest path through a residency leaves of the known value, its other layers paid, the layer may cost there.
"""

from __future__ import annotations

from collections.abc import Sequence

from mapper.formulations.trace_partition.program.residency import Residencies, Residency

Floors = dict[Residency, int]
"""The least that a layer costs in a residency, in the objective's parts; those that no option fits are left out."""


class OptionCuts:
    """The cuts of one problem whose known partition costs ``value`` (None: none is known, and nothing is cut).
    ``floors`` are sharpened as layers are solved."""

    def __init__(self, residencies: Residencies, floors: Sequence[Floors], value: int | None) -> None:
        self._residencies, self._value = residencies, value
        self._floors = list(floors)

    def solved(self, at: int, costs: Floors) -> None:
        """Layer ``at`` costs at least so much in each residency that is left."""
        self._floors[at] = costs

    def of(self, places: Sequence[int]) -> dict[Residency, int | None]:
        """What a layer has to cost less than in each residency that some partition has, wherever of ``places`` it
        stands, in one that is better than the known one (None: anything will do)."""
        found: dict[Residency, int | None] = {}
        before, after = self._least_sums(False), self._least_sums(True)
        for at in places:
            for residency in self._floors[at]:
                if residency in before[at] and residency in after[at]:
                    others = before[at][residency] + after[at][residency]
                    most = None if self._value is None else self._value - others
                    earlier = found.get(residency, most)
                    found[residency] = None if most is None or earlier is None else max(earlier, most)
        return found

    def _least_sums(self, backwards: bool) -> list[Floors]:
        """For each layer and residency the least that the layers before (after) it cost together; absent if no path
        leads to it."""
        count = len(self._floors)
        order = range(count - 1, -1, -1) if backwards else range(count)
        found: list[Floors] = [{} for _ in range(count)]
        last: int | None = None
        for at in order:
            if last is None:
                found[at] = dict.fromkeys(self._floors[at], 0)
                last = at
                continue
            paid = {one: cost + self._floors[last][one] for one, cost in found[last].items()}
            for pair in self._residencies.agreed[min(at, last)]:
                here, there = pair if backwards else pair[::-1]
                if there in paid and here in self._floors[at]:
                    found[at][here] = min(found[at].get(here, paid[there]), paid[there])
            last = at
        return found


def least_sum(residencies: Residencies, costs: Sequence[Floors]) -> int | None:
    """What the cheapest partition costs; None if there is none."""
    *_, last = OptionCuts(residencies, costs, None)._least_sums(False)
    return min((paid + costs[-1][residency] for residency, paid in last.items()), default=None)
