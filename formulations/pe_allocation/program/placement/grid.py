"""The grid as a program of placement needs it: all distances, what lies within reach, and symmetries."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from mapper.arch.tcpa import Pe, TcpaMachine
from mapper.models.pe_allocation.configuration.wiring import distances


class Grid:
    """Distances in links. ``to_border``: to the nearest PE with buffers; ``longest``: between any two PEs."""

    def __init__(self, machine: TcpaMachine) -> None:
        self.machine = machine
        self.away = {pe: distances(machine, [pe]) for pe in machine.all_pes}
        self.to_border = distances(machine, sorted(machine.border_pes))
        self.longest = max(max(reach.values()) for reach in self.away.values())

    def within(self, pe: Pe, links: int) -> list[Pe]:
        """The other PEs at most so many links from ``pe``."""
        return [other for other, away in self.away[pe].items() if 0 < away <= links]

    def leaders(self) -> frozenset[Pe]:
        """One PE, the first, of each set that the reflections, turns and shifts which keep links, and those to
        buffers, map to each other."""
        images = list(self._symmetries())
        return frozenset(pe for pe in self.machine.all_pes if pe == min(image[pe] for image in images))

    def _symmetries(self) -> Iterator[dict[Pe, Pe]]:
        rows, columns = self.machine.rows, self.machine.columns
        turned = (False, True) if rows == columns else (False,)
        signs = (1, -1)
        for turn, up, left, down, right in product(turned, signs, signs, range(rows), range(columns)):
            image = {}
            for row, column in self.machine.all_pes:
                r, c = (column, row) if turn else (row, column)
                image[row, column] = ((up * r + down) % rows, (left * c + right) % columns)
            if self._keeps(image):
                yield image

    def _keeps(self, image: dict[Pe, Pe]) -> bool:
        sides, near = self.machine.sides_of, self.machine.neighbours
        return all(len(sides(image[pe])) == len(sides(pe)) for pe in image) and all(
            {image[other] for other in near[pe]} == set(near[image[pe]]) for pe in image
        )
