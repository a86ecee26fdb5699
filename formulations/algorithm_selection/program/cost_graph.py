"""The cost graph of a network for many array shapes at once [Meng2021, sec. 5.1].

A vertex per layer with a cost per algorithm, each in its best dataflow; a vertex per branching tensor or concatenation
with a choice per format; an edge per transition. Costs are whole numbers of the machine's units, or picojoules.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product as product_of
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.formulations.algorithm_selection.program.join import Joins
from mapper.formulations.algorithm_selection.program.running_graph import RunningGraph
from mapper.models.algorithm_selection.choice import Algorithm, Choice, Dataflow
from mapper.models.algorithm_selection.cost import kept_bytes, moved_energy
from mapper.models.algorithm_selection.layout import format_of, store_units, weight_words
from mapper.models.algorithm_selection.mapping import Selection, reader_label, stored_format
from mapper.models.algorithm_selection.overlay.network import Store
from mapper.models.algorithm_selection.pipeline import Arrays, one_array
from mapper.models.algorithm_selection.product import best_dataflow, product
from mapper.models.algorithm_selection.running_cost import piece_passes, running_time
from mapper.models.limit import UnfinishedError
from mapper.workloads.document import InputError
from mapper.workloads.pbqp.instance import LARGEST_TOTAL, PbqpInstance, flat_instance

Costs = NDArray[np.int64]
Shapes = NDArray[np.int64]
Quantity = Literal["latency", "energy"]
LARGEST = LARGEST_TOTAL
"""Costs stay below, one by one and summed over a graph, as those of any PBQP do: sums of a few of them stay far below
2^63 on the way."""


@dataclass(frozen=True, eq=False)
class CostGraph:
    """Costs for S shapes. ``vertices``: a name and [S, choices] each, layers first, then stored tensors; ``edges``:
    tail, head and [S or 1, choices of the tail, choices of the head]; ``constant`` is paid in any case."""

    names: tuple[str, ...]
    vertices: tuple[Costs, ...]
    edges: tuple[tuple[int, int, Costs], ...]
    constant: int

    def instance(self, name: str, shape: int = 0) -> PbqpInstance:
        """The PBQP of one shape, by position; ``constant`` is left out, and so are edges that cost nothing."""
        own = [costs[shape] for costs in self.vertices]
        paid = [(tail, head, matrix[min(shape, len(matrix) - 1)]) for tail, head, matrix in self.edges]
        paid = [one for one in paid if one[2].any()]
        matrices = [matrix.reshape(-1) for _, _, matrix in paid]
        ends = np.array([(tail, head) for tail, head, _ in paid], np.int64).reshape(-1, 2)
        return flat_instance(
            np.array([len(costs) for costs in own], np.int64),
            np.concatenate(own),
            ends,
            np.concatenate(matrices) if matrices else np.zeros(0, np.int64),
            name,
        )


def _never() -> bool:
    return False


class GraphBuilder:
    """Builds the cost graphs of one problem, until it ``is_over``."""

    def __init__(self, problem: SelectionProblem, is_over: Callable[[], bool] = _never) -> None:
        self.is_over = is_over
        self.problem, self.network, self.machine = problem, problem.network, problem.machine
        self.labels = [problem.labels(at) for at in range(len(self.network.stores))]
        self.algorithms = [self._allowed(at) for at in range(len(self.network.layers))]

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

    def graph(
        self,
        rows: Shapes,
        columns: Shapes,
        quantity: Quantity = "latency",
        least: tuple[Shapes, Shapes] | None = None,
    ) -> CostGraph:
        """The cost graph for arrays of ``rows[s]`` x ``columns[s]``; passes are theirs, but I_SA and the PEs that take
        energy are those of the ``least`` rows and columns, if given: then no array between costs less.

        Raises: InputError if costs could leave 64 bits; UnfinishedError when it is over.
        """
        passes = _Passes(rows, columns)
        if self.machine.engines is not None:
            passes.running = RunningGraph(self.network, self._flows(), Arrays(rows, columns, least))
        if least is not None:
            passes.larger, passes.pes = np.maximum(*least), least[0] * least[1]
        vertices, loads = [], []
        for at in range(len(self.network.layers)):
            self._go_on()
            own, load = self._layer(at, passes, quantity)
            vertices.append(own)
            loads.append(load)
        vertices += [np.zeros((1, len(self.labels[at])), np.int64) for at in self.vertex]
        joins = Joins(self.network, self.labels, self.algorithms, self.vertex)
        constant, edges = joins.latency() if quantity == "latency" else joins.energy()
        for at, store in enumerate(self.network.stores):
            if not store.vertex:
                edges.append(self._edge(at, loads, quantity))
                continue
            vertex = self.vertex[at]
            for position, share in enumerate(store.shares):
                if share.copied is not None:
                    continue
                matrix = self._storing(at, position, quantity)
                if share.layer is None:
                    vertices[vertex] = self._below(vertices[vertex] + matrix)
                else:
                    edges.append((share.layer, vertex, matrix[np.newaxis]))
            for reader in store.readers:
                load = loads[reader][:, np.newaxis, :]
                edges.append((vertex, reader, np.repeat(load, len(self.labels[at]), axis=1)))
        if passes.running is not None:
            unit = self.machine.units_per_cycle if quantity == "latency" else 0
            edges += [(tail, head, self._below(wait * unit)) for tail, head, wait in passes.running.waits()]
        vertices = [np.broadcast_to(costs, (len(rows), costs.shape[1])) for costs in vertices]
        self._check(vertices, [matrix for _, _, matrix in edges], constant)
        names = (*self.network.names, *(f"{self.network.stores[at].name} stored" for at in self.vertex))
        return CostGraph(names, tuple(vertices), tuple(edges), constant)

    def graph_at(self, array: tuple[int, int]) -> CostGraph:
        """The cost graph for one shape, in units of time.

        Raises: InputError if costs could leave 64 bits.
        """
        return self.graph(np.array([array[0]], np.int64), np.array([array[1]], np.int64))

    def on_array(self, rows: Shapes, columns: Shapes) -> list[Costs]:
        """Time of every layer's algorithms on the array, [S, choices] each."""
        passes = _Passes(rows, columns)
        if self.machine.engines is not None:
            passes.running = RunningGraph(self.network, self._flows(), Arrays(rows, columns))
        return [
            np.stack([self._on_array(at, one, passes) for one in names], -1)
            for at, names in enumerate(self.algorithms)
        ]

    def spread(self) -> tuple[set[int], set[int]]:
        """What layers spread over the rows of an array, and over its columns."""
        found: tuple[set[int], set[int]] = (set(), set())
        for at, names in enumerate(self.algorithms):
            for one, dataflow in product_of(names, self.problem.dataflows(at)):
                for sizes in self._spread(at, one, dataflow):
                    for side, size in zip(found, sizes, strict=True):
                        side.add(math.ceil(size))
        return found

    def _spread(self, at: int, algorithm: Algorithm, dataflow: Dataflow) -> list[tuple[Fraction | int, ...]]:
        """What a layer spreads over rows and columns: a piece's product where it is cut, else all of it."""
        layer = self.network.layers[at]
        if self.machine.engines is not None:
            return [one[:2] for one in piece_passes(self.network, at, algorithm, dataflow)]
        return [product(layer, algorithm, self.machine).passes(dataflow)[:2]]

    def selection(self, array: tuple[int, int], chosen: Sequence[int]) -> Selection:
        """The selection that a choice per vertex means."""
        picked = [self.algorithms[at][chosen[at]] for at in range(len(self.network.layers))]
        choices = tuple(
            Choice(algorithm, self._dataflow(at, algorithm, array)) for at, algorithm in enumerate(picked)
        )
        stores, kept = [], []
        for at, store in enumerate(self.network.stores):
            if store.vertex:
                stores.append(self.labels[at][chosen[self.vertex[at]]])
                continue
            reader = picked[store.readers[0]]
            stores.append(reader_label(self.network, at, reader))
            if self._kept(at, picked[_producer(store)], reader):
                kept.append(at)
        return Selection(array, choices, tuple(stores), tuple(kept))

    def _dataflow(self, at: int, algorithm: Algorithm, array: tuple[int, int]) -> Dataflow:
        allowed = self.problem.dataflows(at)
        if self.machine.engines is None:
            return best_dataflow(self.network.layers[at], algorithm, array, self.machine, allowed)
        time = running_time(self.network, at, algorithm, allowed, one_array(array))
        return allowed[int(time.dataflow[0])]

    def chosen(self, selection: Selection) -> list[int]:
        """The choice per vertex that means ``selection``.

        Raises: ValueError if pins leave it no such choice.
        """
        own = [self.algorithms[at].index(choice.algorithm) for at, choice in enumerate(selection.choices)]
        return own + [self.labels[at].index(selection.stores[at]) for at in self.vertex]

    def _flows(self) -> Iterator[tuple[tuple[Algorithm, ...], tuple[Dataflow, ...]]]:
        """The algorithms and the dataflows of every layer, each as it is wanted."""
        for at, names in enumerate(self.algorithms):
            self._go_on()
            yield names, self.problem.dataflows(at)

    def _go_on(self) -> None:
        if self.is_over():
            raise UnfinishedError("the costs of all layers were not counted in time")

    def _allowed(self, at: int) -> tuple[Algorithm, ...]:
        """The algorithms of a layer that pins, its own and that of the edge it reads, leave."""
        source = self.network.source.get(at)
        found = self.problem.algorithms(at)
        if source is None or self.network.stores[source].vertex:
            return found
        return tuple(one for one in found if reader_label(self.network, source, one) in self.labels[source])

    def _layer(self, at: int, passes: _Passes, quantity: Quantity) -> tuple[Costs, Costs]:
        """Costs of a layer's algorithms: on their own [S, choices], and of loading the input [S or 1, choices]."""
        layer, machine = self.network.layers[at], self.machine
        if passes.running is not None and quantity == "latency":
            own = passes.running.vertex(at) * machine.units_per_cycle
            return self._below(own), np.zeros((1, own.shape[1]), np.int64)
        array = np.stack([self._on_array(at, one, passes) for one in self.algorithms[at]], -1)
        reads = [format_of(layer, one).words(layer.in_channels) for one in self.algorithms[at]]
        kernels = [
            weight_words(layer, one, machine) if machine.traffic.weights else Fraction(0)
            for one in self.algorithms[at]
        ]
        load = self._costs([self._moved(words, quantity) for words in reads])
        weights = self._costs([self._moved(words, quantity) for words in kernels])
        if quantity == "energy":
            return self._energy(at, array, passes) + weights, load
        if not machine.traffic.double_buffering:
            return array + weights, load
        exposed = np.maximum(0, weights - array)
        # Loading costs what it adds to the part of the kernels that the computation does not hide.
        return array + exposed, np.maximum(0, weights + load - array) - exposed

    def _on_array(self, at: int, algorithm: Algorithm, passes: _Passes) -> Costs:
        """Time on the array in the best dataflow, for every shape (Eqs. 9 to 12)."""
        if passes.running is not None:
            times = passes.running.times[at]
            return times[self.algorithms[at].index(algorithm)].own.total * self.machine.units_per_cycle
        work, rule = product(self.network.layers[at], algorithm, self.machine), self.machine.initialisation
        unit, best = self.machine.units_per_cycle, None
        setup = rule.factor * passes.larger
        for dataflow in self.problem.dataflows(at):
            over_rows, over_columns, each = work.passes(dataflow)
            coefficient = _whole(each * work.times * unit)
            paid_per_pass = _whole(work.times * unit) if rule.per == "pass" and rule.factor else 0
            most = passes.most(over_rows, over_columns)
            if most * (coefficient + int(setup.max(initial=0)) * paid_per_pass) >= LARGEST:
                raise self._too_large()
            count = passes.count(over_rows, over_columns)
            taken = count * coefficient + count * setup * paid_per_pass
            best = taken if best is None else np.minimum(best, taken)
        assert best is not None
        paid = {"layer": Fraction(1), "product": work.times, "pass": Fraction(0)}[rule.per]
        each_setup, transform = _whole(paid * unit), _whole(work.transform * work.times * unit)
        if max(int(setup.max(initial=0)) * each_setup, each_setup, transform) >= LARGEST:
            raise self._too_large()
        return self._below(best + setup * each_setup + transform)

    def _energy(self, at: int, array: Costs, passes: _Passes) -> Costs:
        """Energy of a layer's algorithms without what they move, in picojoules rounded up like the model's."""
        rule, layer = self.machine.energy_pj, self.network.layers[at]
        busy = [
            math.ceil(product(layer, one, self.machine).macs * Fraction(repr(rule.mac)))
            for one in self.algorithms[at]
        ]
        each = Fraction(repr(rule.pe_cycle)) / self.machine.units_per_cycle
        pes = passes.pes[:, np.newaxis]
        longest, most = int(array.max(initial=1)), int(pes.max(initial=0)) * each.numerator
        if longest * most < LARGEST and each.denominator < LARGEST:
            clocked = -(-(array * (pes * each.numerator)) // each.denominator)
        else:
            # Products leave 64 bits, if quotients do not: whole numbers of any size.
            exact = -(-(array.astype(object) * pes * each.numerator) // each.denominator)
            if exact.size and exact.max() >= LARGEST:
                raise self._too_large()
            clocked = exact.astype(np.int64)
        return self._below(clocked + self._costs(busy))

    def _edge(self, at: int, loads: Sequence[Costs], quantity: Quantity) -> tuple[int, int, Costs]:
        """The transition between two consecutive layers: store and load, or nothing where the tensor stays on chip."""
        store = self.network.stores[at]
        tail, head = _producer(store), store.readers[0]
        storing = self._storing(at, 0, quantity)
        columns = [
            self.labels[at].index(reader_label(self.network, at, one)) for one in self.algorithms[head]
        ]
        moved = np.array(
            [
                [not self._kept(at, one, other) for other in self.algorithms[head]]
                for one in self.algorithms[tail]
            ],
            np.int64,
        )
        matrix: Costs = self._below(storing[:, columns] + loads[head][:, np.newaxis, :]) * moved
        return tail, head, matrix

    def _storing(self, at: int, position: int, quantity: Quantity) -> Costs:
        """Costs of storing one share of a tensor: [algorithms of its producer, formats]; one row where it has none."""
        share = self.network.stores[at].shares[position]
        producers: Sequence[Algorithm | None] = (
            (None,) if share.layer is None else self.algorithms[share.layer]
        )
        found = []
        for producer in producers:
            row = []
            for label in self.labels[at]:
                written = stored_format(self.network, at, label)
                assert written is not None
                if quantity == "latency" and self.machine.engines is not None:
                    row.append(0)
                elif quantity == "energy":
                    row.append(moved_energy(written.words(share.channels), self.machine))
                else:
                    row.append(store_units(written, share.channels, producer, self.machine))
            found += row
        return self._costs(found).reshape(len(producers), len(self.labels[at]))

    def _moved(self, words: Fraction, quantity: Quantity) -> int:
        if quantity == "energy":
            return moved_energy(words, self.machine)
        if self.machine.engines is not None:
            return 0
        return _whole(words * self.machine.units_per_word)

    def _kept(self, at: int, producer: Algorithm, reader: Algorithm) -> bool:
        """Whether the tensor of an edge stays on the chip; it does wherever it fits."""
        room, store = self.machine.traffic.onchip_bytes, self.network.stores[at]
        return bool(room) and kept_bytes(self.network, store, store.shares[0], producer, reader) <= room

    def _costs(self, found: Sequence[int]) -> Costs:
        """One row of costs."""
        if max(found, default=0) >= LARGEST:
            raise self._too_large()
        return np.array([found], np.int64)

    def _below(self, costs: Costs) -> Costs:
        """Sums of a few costs, each of which is below the limit, as long as they are below it themselves."""
        if int(costs.max(initial=0)) >= LARGEST:
            raise self._too_large()
        return costs

    def _check(self, vertices: Sequence[Costs], matrices: Sequence[Costs], constant: int) -> None:
        total = constant + sum(int(costs.max(initial=0)) for costs in (*vertices, *matrices))
        if total >= LARGEST:
            raise self._too_large()

    def _too_large(self) -> InputError:
        remedy = "costs of small arrays leave 64 bits; give a smaller batch, or bandwidth and clock in rounder figures"
        return InputError(self.network.name, "", remedy)


class _Passes:
    """Passes of matrices over arrays of many shapes; ceil(x / P) is computed once per size and side."""

    def __init__(self, rows: Shapes, columns: Shapes) -> None:
        self.sides = (rows, columns)
        self.pes = rows * columns
        self.larger = np.maximum(rows, columns)
        self.running: RunningGraph | None = None
        self._blocks: dict[tuple[Fraction, int], Shapes] = {}

    def count(self, over_rows: Fraction, over_columns: Fraction) -> Shapes:
        """ceil(over_rows / P1) * ceil(over_columns / P2)."""
        return self._block(over_rows, 0) * self._block(over_columns, 1)

    def most(self, over_rows: Fraction, over_columns: Fraction) -> int:
        """No array of these takes more passes, in whole numbers of any size."""
        least = [int(side.min(initial=side.max(initial=1))) for side in self.sides]
        return -(-math.ceil(over_rows) // least[0]) * -(-math.ceil(over_columns) // least[1])

    def _block(self, size: Fraction, side: int) -> Shapes:
        key = (size, side)
        if key not in self._blocks:
            # ceil(n / (d * P)) is ceil(ceil(n / d) / P).
            self._blocks[key] = -(-math.ceil(size) // self.sides[side])
        return self._blocks[key]


def _producer(store: Store) -> int:
    """The layer that computes the tensor of an edge."""
    layer = store.shares[0].layer
    assert layer is not None
    return layer


def _whole(units: Fraction | int) -> int:
    assert Fraction(units).denominator == 1, units
    return int(units)
