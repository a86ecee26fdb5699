"""The chain of layers: residency couples neighbours only, so the best partition is a shortest path through it."""

from __future__ import annotations

from collections.abc import Callable

from mapper.formulations.trace_partition.program.option_cost import Rank
from mapper.formulations.trace_partition.program.option_search import Searched
from mapper.formulations.trace_partition.program.option_table import OptionTable
from mapper.formulations.trace_partition.program.residency import Residency

Path = tuple[Rank, tuple[Residency, ...]]


def first_in_rank(table: OptionTable, weight: Callable[[Searched], Rank | None]) -> Path | None:
    """The residencies of all layers that agree and whose weights have the least sum, place by place of the rank; None
    if there are none. ``weight``: of a residency, None if it cannot be taken."""
    ends: dict[Residency | None, Path] = {None: ((0, 0, 0), ())}
    for at, layer in enumerate(table.layers):
        reached: dict[Residency | None, Path] = {}
        for residency, found in layer.items():
            own = weight(found)
            if own is None:
                continue
            agreed = table.residencies.agreed[at - 1] if at else frozenset()
            paths = [path for before, path in ends.items() if before is None or (before, residency) in agreed]
            if paths:
                rank, path = min(paths, key=lambda one: one[0])
                total = (rank[0] + own[0], rank[1] + own[1], rank[2] + own[2])
                reached[residency] = total, (*path, residency)
        ends = reached
    return min(ends.values(), key=lambda one: one[0], default=None)
