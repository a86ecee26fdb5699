"""What is chosen for a network: an algorithm per layer and a format per stored tensor; the selection they mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.models.algorithm_selection.choice import Algorithm, Choice, Dataflow
from mapper.models.algorithm_selection.cost import kept_bytes
from mapper.models.algorithm_selection.mapping import Selection, planes_of, reader_label
from mapper.models.algorithm_selection.overlay.layer import Ends
from mapper.models.algorithm_selection.overlay.network import Store
from mapper.models.algorithm_selection.product import best_dataflow
from mapper.models.algorithm_selection.resource import lanes_of
from mapper.models.limit import UnfinishedError


class Way(NamedTuple):
    """A choice of a layer: an algorithm in the best of some dataflows, its kernels in so many parts; ``planes``:
    whether what it reads, and what it stores, lies channel by channel, which the formats of these tensors must say."""

    algorithm: Algorithm
    dataflows: tuple[Dataflow, ...]
    parts: int
    planes: Ends = (False, False)


def _never() -> bool:
    return False


class NetworkChoices:
    """The choices of one problem; counting them ends when it ``is_over``. Vertices are layers first, then tensors that
    are stored in a format of their own."""

    def __init__(self, problem: SelectionProblem, is_over: Callable[[], bool] = _never) -> None:
        self.is_over = is_over
        self.problem, self.network, self.machine = problem, problem.network, problem.machine
        self.labels = [problem.labels(at) for at in range(len(self.network.stores))]
        self.choices = [self._choices(at) for at in range(len(self.network.layers))]
        self.algorithms = [tuple(way.algorithm for way in every) for every in self.choices]

    @cached_property
    def vertex(self) -> dict[int, int]:
        """The vertex of each store that has one."""
        own = [at for at, store in enumerate(self.network.stores) if store.vertex]
        return {at: len(self.network.layers) + number for number, at in enumerate(own)}

    @cached_property
    def nothing_left(self) -> str | None:
        """The layer or tensor that pins leave no choice, if there is one."""
        for at, layer in enumerate(self.network.layers):
            if not self.algorithms[at] or not self.problem.dataflows(at):
                return layer.name
        return next(
            (
                store.name
                for store, labels in zip(self.network.stores, self.labels, strict=True)
                if not labels
            ),
            None,
        )

    def selection(self, array: tuple[int, int], chosen: Sequence[int]) -> Selection:
        """The selection that a choice per vertex means."""
        picked = [self.algorithms[at][chosen[at]] for at in range(len(self.network.layers))]
        choices = tuple(
            self._choice(at, self.choices[at][chosen[at]], array) for at in range(len(self.network.layers))
        )
        stores, kept = [], []
        for at, store in enumerate(self.network.stores):
            if store.vertex:
                stores.append(self.labels[at][chosen[self.vertex[at]]])
                continue
            reader = picked[store.readers[0]]
            stores.append(reader_label(self.network, at, reader))
            if self.kept(at, picked[producer(store)], reader, array):
                kept.append(at)
        return Selection(array, choices, tuple(stores), tuple(kept))

    def _choice(self, at: int, way: Way, array: tuple[int, int]) -> Choice:
        flow = best_dataflow(self.network.layers[at], way.algorithm, array, self.machine, way.dataflows)
        return Choice(way.algorithm, flow, way.parts)

    def chosen(self, selection: Selection) -> list[int]:
        """The choice per vertex that means ``selection``.

        Raises: ValueError if pins leave it no such choice.
        """
        own = [
            self._place(at, choice, planes_of(self.network, selection.stores, at))
            for at, choice in enumerate(selection.choices)
        ]
        return own + [self.labels[at].index(selection.stores[at]) for at in self.vertex]

    def wanted(self) -> Iterator[tuple[Way, ...]]:
        """The choices of every layer, each as it is wanted."""
        for every in self.choices:
            self.go_on()
            yield every

    def go_on(self) -> None:
        if self.is_over():
            raise UnfinishedError("the costs of all layers were not counted in time")

    def kept(
        self, at: int, producer: Algorithm, reader: Algorithm, array: tuple[int, int] | None = None
    ) -> bool:
        """Whether the tensor of an edge stays on the chip; it does wherever it fits, of the generated overlay on a
        given array."""
        if self.machine.engines is not None:
            return array is not None and at in self.network.staying.get(lanes_of(max(array)), ())
        room, store = self.machine.traffic.onchip_bytes, self.network.stores[at]
        return bool(room) and kept_bytes(self.network, store, store.shares[0], producer, reader) <= room

    def contradicts(self, at: int, store: int, end: int) -> NDArray[np.bool_]:
        """Where a choice of layer ``at`` and a format of what it reads (``end`` 0) or stores (1) say that the tensor
        lies in different ways, [choices, formats]."""
        ways = np.array([way.planes[end] for way in self.choices[at]], np.bool_)
        lies = np.array([label == "planes" for label in self.labels[store]], np.bool_)
        return np.asarray(ways[:, np.newaxis] != lies)

    def _place(self, at: int, choice: Choice, planes: Ends) -> int:
        if self.machine.engines is None:
            return self.algorithms[at].index(choice.algorithm)
        return self.choices[at].index(Way(choice.algorithm, (choice.dataflow,), choice.parts, planes))

    def _planes(self, at: int, algorithm: Algorithm) -> list[Ends]:
        """How what a layer reads, and what it stores, may lie under an algorithm."""
        if self.machine.engines is None:
            return [(False, False)]
        layer = self.network.layers[at]
        ends = (
            (self.network.source.get(at), layer.reads_planes(algorithm)),
            (self.network.sink.get(at), layer.writes_planes(algorithm)),
        )
        labels = ((able, ("tensor3d",) if store is None else self.labels[store]) for store, able in ends)
        reads, writes = ([one == "planes" for one in own if able or one != "planes"] for able, own in labels)
        return [*product(reads, writes)]

    def _choices(self, at: int) -> tuple[Way, ...]:
        """The algorithms of a layer, of whose dataflows the best is taken; or each of these apart where the engines run
        at once, in each number of parts of its kernels: then the number of pieces, and what the next layer hides of
        the last one, depend on it."""
        flows = self.problem.dataflows(at)
        apart = [flows] if self.machine.engines is None else [(one,) for one in flows]
        return tuple(
            Way(name, own, parts, planes)
            for name in self._allowed(at)
            for parts in self.problem.parts(at, name)
            for planes in self._planes(at, name)
            for own in apart
        )

    def _allowed(self, at: int) -> tuple[Algorithm, ...]:
        """The algorithms of a layer that pins, its own and that of the edge it reads, leave."""
        source = self.network.source.get(at)
        found = self.problem.algorithms(at)
        if source is None or self.network.stores[source].vertex:
            return found
        return tuple(one for one in found if reader_label(self.network, source, one) in self.labels[source])


def producer(store: Store) -> int:
    """The layer that computes the tensor of an edge."""
    layer = store.shares[0].layer
    assert layer is not None
    return layer
