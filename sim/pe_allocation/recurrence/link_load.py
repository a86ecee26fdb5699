"""Words that cross each link in each cycle, from what was executed: a word crosses a link once, however many read
it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mapper.arch.tcpa import Pe
from mapper.sim.pe_allocation.recurrence.plan import first_reads
from mapper.workloads.recurrence.recurrence import Access

if TYPE_CHECKING:
    from mapper.sim.pe_allocation.recurrence.simulation import Array

Numbers = NDArray[np.int64]
Link = tuple[Pe | None, Pe | None]


class LinkLoad:
    """Crossings by link: when, and which word of which stream."""

    def __init__(self, array: Array) -> None:
        self.array = array
        self.crossings: dict[Link, list[tuple[str, Numbers, Numbers]]] = {}

    def most(self, known: dict[Access, Numbers]) -> int:
        """Words that cross a link in a cycle at the most; a corner's buffers have a link at each side."""
        self._inputs(known)
        self._values(known)
        self._results()
        found = 0
        for (start, end), parts in self.crossings.items():
            times = []
            for name in {name for name, _, _ in parts}:
                pairs = [np.stack((time, word)) for one, time, word in parts if one == name]
                times.append(np.unique(np.concatenate(pairs, axis=1), axis=1)[0])
            words = int(np.unique(np.concatenate(times), return_counts=True)[1].max())
            inside = start if end is None else end
            if (start is None or end is None) and inside is not None:
                words = -(-words // self.array.grid.sides(inside))
            found = max(found, words)
        return found

    def _cross(self, link: Link, name: str, time: Numbers, word: Numbers) -> None:
        self.crossings.setdefault(link, []).append((name, time, word))

    def _inputs(self, known: dict[Access, Numbers]) -> None:
        """Words of the buffers, at the border or from the tile that had them before, in time for whoever reads
        first."""
        array = self.array
        for access, (at, time) in first_reads(array.body, array.plan, array.iterations).items():
            written = array.expected[access.tensor][known[access][at]]
            if access.tensor in array.recurrence.local or written.all():
                continue
            at, time = at[~written], time[~written]
            row, column = array.plan.row[at], array.plan.column[at]
            first = array.entry(access, row, column)
            for pe in sorted(set(zip(row.tolist(), column.tolist(), strict=True))):
                here = (row == pe[0]) & (column == pe[1])
                self._fetch(access, pe, first, time[here], known[access][at[here]])

    def _fetch(self, access: Access, pe: Pe, first: list[int | None], time: Numbers, word: Numbers) -> None:
        """Words that a tile reads at these times, back along the tiles that handed them on and to the border."""
        array = self.array
        row, column = pe
        for axis, begin in ((1, first[1]), (0, first[0])):
            loop = (array.mapping.rows, array.mapping.columns)[axis]
            while begin is not None and loop is not None and (row, column)[axis] > begin:
                before = (row - 1, column) if axis == 0 else (row, column - 1)
                self._cross((before, (row, column)), str(access), time, word)
                row, column = before
                time = time - array.mapping.outer_of[loop]
        way: list[Pe | None] = [*array.grid.way_out((row, column)), None]
        for hops, (end, start) in enumerate(pairwise(way)):
            self._cross((start, end), str(access), time - hops, word)

    def _values(self, known: dict[Access, Numbers]) -> None:
        """Values on their way to the tiles that read them, from when they are computed."""
        array = self.array
        columns = array.grid.machine.columns
        for access, (at, _) in first_reads(array.body, array.plan, array.iterations).items():
            word = known[access][at]
            holder = array.holder[access.tensor][word]
            away = array.expected[access.tensor][word] & (holder != array.pe[at])
            pairs = np.stack((holder[away], array.pe[at[away]]))
            for one, other in np.unique(pairs, axis=1).T.tolist():
                moved = word[away][(pairs[0] == one) & (pairs[1] == other)]
                way = array.grid.way(divmod(one, columns), divmod(other, columns))
                for hops, link in enumerate(pairwise(way)):
                    goal = f"{access.tensor} to {other - one}"
                    self._cross(link, goal, array.ready[access.tensor][moved] + hops, moved)

    def _results(self) -> None:
        """Results on their way to the border."""
        array = self.array
        columns = array.grid.machine.columns
        for name in array.recurrence.results:
            done = np.flatnonzero(array.ready[name] >= 0)
            for pe in np.unique(array.holder[name][done]).tolist():
                word = done[array.holder[name][done] == pe]
                way: list[Pe | None] = [*array.grid.way_out(divmod(pe, columns)), None]
                for hops, link in enumerate(pairwise(way)):
                    self._cross(link, f"{name} out", array.ready[name][word] + hops, word)
