"""The cost graph of a network for many array shapes at once [Meng2021, sec. 5.1].

A vertex per layer with a cost per algorithm, each in its best dataflow; a vertex per branching tensor or concatenation
with a choice per format; an edge per transition. Costs are whole numbers of the machine's units, or picojoules.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mapper.formulations.algorithm_selection.program.join import Joins
from mapper.formulations.algorithm_selection.program.layer_cost import LayerCosts, Passes
from mapper.formulations.algorithm_selection.program.network_choice import NetworkChoices, Way
from mapper.formulations.algorithm_selection.program.running_graph import RunningGraph
from mapper.formulations.algorithm_selection.program.transition_cost import storing, transition
from mapper.formulations.algorithm_selection.program.whole_cost import (
    LARGEST,
    Costs,
    Quantity,
    Shapes,
    below,
    too_large,
)
from mapper.models.algorithm_selection.choice import Dataflow
from mapper.models.algorithm_selection.layer_time import Arrays
from mapper.models.algorithm_selection.product import product
from mapper.models.algorithm_selection.running_cost import piece_passes
from mapper.workloads.pbqp.instance import PbqpInstance, flat_instance

Tie = tuple[tuple[int, int, int], Costs]


@dataclass(frozen=True, eq=False)
class CostGraph:
    """Costs for S shapes. ``vertices``: a name and [S, choices] each, layers first, then stored tensors; ``edges``:
    tail, head and [S or 1, choices of the tail, choices of the head]; ``ties``: three layers one after another, and
    what these cost more, [S, choices of each], never below 0; ``constant`` is paid in any case."""

    names: tuple[str, ...]
    vertices: tuple[Costs, ...]
    edges: tuple[tuple[int, int, Costs], ...]
    constant: int
    ties: tuple[Tie, ...] = ()

    def instance(self, name: str, shape: int = 0) -> PbqpInstance:
        """The PBQP of one shape, by position; ``constant`` is left out, and so are edges that cost nothing.

        A tie is a vertex more, whose choices are pairs of those of its first two layers: a pair that these do not have
        costs as much as the tie can, so that none is better than theirs."""
        own = [costs[shape] for costs in self.vertices]
        paid = [(tail, head, matrix[min(shape, len(matrix) - 1)]) for tail, head, matrix in self.edges]
        paid = [one for one in paid if one[2].any()]
        for (first, second, third), costs in self.tied(shape):
            ones, others, _ = costs.shape
            apart = [1 - np.eye(count, dtype=np.int64) for count in (ones, others)]
            paid += [
                (first, len(own), costs.max() * np.repeat(apart[0], others, 1)),
                (second, len(own), costs.max() * np.tile(apart[1], ones)),
                (third, len(own), costs.reshape(ones * others, -1).T),
            ]
            own.append(np.zeros(ones * others, np.int64))
        matrices = [matrix.reshape(-1) for _, _, matrix in paid]
        ends = np.array([(tail, head) for tail, head, _ in paid], np.int64).reshape(-1, 2)
        return flat_instance(
            np.array([len(costs) for costs in own], np.int64),
            np.concatenate(own),
            ends,
            np.concatenate(matrices) if matrices else np.zeros(0, np.int64),
            name,
        )

    def instance_names(self, shape: int = 0) -> tuple[str, ...]:
        """What the vertices of `instance` stand for."""
        return (*self.names, *(f"{self.names[scope[1]]} held up" for scope, _ in self.tied(shape)))

    def tied(self, shape: int = 0) -> list[Tie]:
        """The ties that cost something on one shape, [choices of each]: vertices of `instance` after the graph's."""
        return [(scope, costs[shape]) for scope, costs in self.ties if costs[shape].any()]


class GraphBuilder(NetworkChoices):
    """Builds the cost graphs of one problem, until it ``is_over``."""

    def graph(
        self,
        rows: Shapes,
        columns: Shapes,
        quantity: Quantity = "latency",
        least: tuple[Shapes, Shapes] | None = None,
        *,
        tied: bool = True,
    ) -> CostGraph:
        """The cost graph for arrays of ``rows[s]`` x ``columns[s]``; passes are theirs, but I_SA and the PEs that take
        energy are those of the ``least`` rows and columns, if given: then no array between costs less. Without ties,
        unless they are ``tied``: then no selection costs less than without, either.

        Raises: InputError if costs could leave 64 bits; UnfinishedError when it is over.
        """
        passes, arrays = Passes(rows, columns), Arrays(rows, columns, least)
        if self.machine.engines is not None:
            passes.running = RunningGraph(self.network, self.wanted(), arrays)
        if least is not None:
            passes.larger, passes.pes = np.maximum(*least), least[0] * least[1]
        layers, vertices, loads = LayerCosts(self), [], []
        for at in range(len(self.network.layers)):
            self.go_on()
            own, load = layers.of(at, passes, quantity)
            vertices.append(own)
            loads.append(load)
        vertices += [np.zeros((1, len(self.labels[at])), np.int64) for at in self.vertex]
        joins = Joins(self.network, self.labels, self.algorithms, self.vertex)
        constant, edges = joins.latency() if quantity == "latency" else joins.energy()
        for at, store in enumerate(self.network.stores):
            if not store.vertex:
                edges.append(transition(self, at, loads, quantity, arrays))
                continue
            vertex = self.vertex[at]
            for position, share in enumerate(store.shares):
                if share.copied is not None:
                    continue
                matrix = storing(self, at, position, quantity)
                if share.layer is None:
                    vertices[vertex] = below(vertices[vertex] + matrix, self.network.name)
                else:
                    edges.append((share.layer, vertex, matrix[np.newaxis]))
            for reader in store.readers:
                load = loads[reader][:, np.newaxis, :]
                edges.append((vertex, reader, np.repeat(load, len(self.labels[at]), axis=1)))
        if passes.running is not None:
            unit = self.machine.units_per_cycle if quantity == "latency" else 0
            edges += [
                (tail, head, below(wait * unit, self.network.name))
                for tail, head, wait in passes.running.waits()
            ]
        ties: list[Tie] = []
        if passes.running is not None and tied and quantity == "latency":
            unit = self.machine.units_per_cycle
            ties = [(scope, below(more * unit, self.network.name)) for scope, more in passes.running.ties()]
        vertices = [np.broadcast_to(costs, (len(rows), costs.shape[1])) for costs in vertices]
        tables = [matrix for _, _, matrix in edges] + [costs for _, costs in ties]
        self._check(vertices, tables, constant)
        names = (*self.network.names, *(f"{self.network.stores[at].name} stored" for at in self.vertex))
        return CostGraph(names, tuple(vertices), tuple(edges), constant, tuple(ties))

    def graph_at(self, array: tuple[int, int]) -> CostGraph:
        """The cost graph for one shape, in units of time.

        Raises: InputError if costs could leave 64 bits.
        """
        return self.graph(np.array([array[0]], np.int64), np.array([array[1]], np.int64))

    def on_array(self, rows: Shapes, columns: Shapes) -> list[Costs]:
        """Time of every layer's algorithms on the array in their best dataflows, [S, algorithms] each."""
        passes = Passes(rows, columns)
        if self.machine.engines is not None:
            passes.running = RunningGraph(self.network, self.wanted(), Arrays(rows, columns))
        layers, found = LayerCosts(self), []
        for at, names in enumerate(self.algorithms):
            times = layers.times(at, passes)
            places = [
                [place for place, one in enumerate(names) if one == name] for name in dict.fromkeys(names)
            ]
            found.append(np.stack([times[:, own].min(axis=1) for own in places], -1))
        return found

    def spread(self) -> tuple[set[int], set[int]]:
        """What layers spread over the rows of an array, and over its columns."""
        found: tuple[set[int], set[int]] = (set(), set())
        for at, every in enumerate(self.choices):
            for way in every:
                for dataflow in way.dataflows:
                    for sizes in self._spread(at, way, dataflow):
                        for side, size in zip(found, sizes, strict=True):
                            side.add(math.ceil(size))
        return found

    def _spread(self, at: int, way: Way, dataflow: Dataflow) -> list[tuple[Fraction | int, ...]]:
        """What a layer spreads over rows and columns: a piece's product where it is cut, else all of it."""
        layer = self.network.layers[at]
        if self.machine.engines is not None:
            return [one[:2] for one in piece_passes(self.network, at, way.algorithm, dataflow, way.parts)]
        return [product(layer, way.algorithm, self.machine).passes(dataflow)[:2]]

    def _check(self, vertices: Sequence[Costs], matrices: Sequence[Costs], constant: int) -> None:
        total = constant + sum(int(costs.max(initial=0)) for costs in (*vertices, *matrices))
        if total >= LARGEST:
            raise too_large(self.network.name)
