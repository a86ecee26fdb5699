"""Edges of the cost graph at joins: stored tensors that are added to others, or are parts of concatenations.

What a tensor that is read back takes depends on the format it lies in, and on that of the tensor it goes into, or on
the algorithm whose results it is added to; so these edges tie stores to stores and to layers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mapper.formulations.algorithm_selection.program.whole_cost import Costs, row
from mapper.models.algorithm_selection.choice import Algorithm
from mapper.models.algorithm_selection.cost import moved_energy
from mapper.models.algorithm_selection.layout import Format, added_units, copied_units
from mapper.models.algorithm_selection.mapping import stored_format
from mapper.models.algorithm_selection.overlay.network import OverlayNetwork, ReadBack, Share

Edge = tuple[int, int, Costs]


@dataclass(frozen=True)
class Joins:
    """``labels`` of every store and ``algorithms`` of every layer that are allowed; ``vertex`` of every store.

    Raises: InputError in every method if costs could leave 64 bits.
    """

    network: OverlayNetwork
    labels: Sequence[Sequence[str]]
    algorithms: Sequence[Sequence[Algorithm]]
    vertex: Mapping[int, int]

    def latency(self) -> tuple[int, list[Edge]]:
        """What is paid in any case, and the edges, in the machine's units; nothing where engines are counted."""
        constant, edges, unit = 0, [], self.network.machine.units_per_word
        for at, share, one in self._read():
            if share.copied is not None:
                edges.append((self.vertex[one.store], self.vertex[at], self._copied(at, share, one)))
            elif share.layer is None or one.through:
                constant += one.words * unit
            else:
                edges.append((self.vertex[one.store], share.layer, self._added(share.layer, one)))
        if self.network.machine.engines is not None:
            return 0, [(tail, head, 0 * matrix) for tail, head, matrix in edges]
        return constant, edges

    def energy(self) -> tuple[int, list[Edge]]:
        """The same in picojoules, of the same edges."""
        constant, edges, machine = 0, [], self.network.machine
        for at, share, one in self._read():
            back = moved_energy(Fraction(one.words), machine)
            if share.copied is None:
                constant += back
                if share.layer is not None and not one.through:
                    shape = (1, len(self.labels[one.store]), len(self.algorithms[share.layer]))
                    edges.append((self.vertex[one.store], share.layer, np.zeros(shape, np.int64)))
                continue
            found = [
                [
                    0 if one.beside and held == to else back + moved_energy(to.words(share.channels), machine)
                    for to in self._formats(at)
                ]
                for held in self._formats(one.store)
            ]
            edges.append((self.vertex[one.store], self.vertex[at], self._costs(found)))
        return constant, edges

    def _read(self) -> list[tuple[int, Share, ReadBack]]:
        stores = enumerate(self.network.stores)
        return [(at, share, one) for at, store in stores for share in store.shares for one in share.read]

    def _formats(self, at: int) -> list[Format]:
        found = [stored_format(self.network, at, label) for label in self.labels[at]]
        return [one for one in found if one is not None]

    def _copied(self, at: int, share: Share, one: ReadBack) -> Costs:
        machine = self.network.machine
        found = [
            [
                sum(copied_units(held, one.words, to, share.channels, one.beside, machine))
                for to in self._formats(at)
            ]
            for held in self._formats(one.store)
        ]
        return self._costs(found)

    def _added(self, layer: int, one: ReadBack) -> Costs:
        machine = self.network.machine
        found = [
            [added_units(held, one.words, name, machine) for name in self.algorithms[layer]]
            for held in self._formats(one.store)
        ]
        return self._costs(found)

    def _costs(self, found: Sequence[Sequence[int]]) -> Costs:
        """The table of an edge.

        Raises: InputError if a cost is too large.
        """
        return np.stack([row(costs, self.network.name) for costs in found], 1)
