"""The cost graph of a network for many array shapes at once [Meng2021, sec. 5.1].

A vertex per layer with a cost per algorithm, each in its best dataflow; a vertex per branching tensor or concatenation
with a choice per format; an edge per transition. On the generated overlay layouts cost time on the layers' movers, all
at once with the array, so that a layer's choices say how it reads and stores, too; where that is not how the tensor
lies, its edge costs more than it can save. Costs are whole numbers of the machine's units, or picojoules.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mapper.formulations.algorithm_selection.program.join import Joins
from mapper.formulations.algorithm_selection.program.layer_cost import LayerCosts, Passes
from mapper.formulations.algorithm_selection.program.network_choice import NetworkChoices, Way
from mapper.formulations.algorithm_selection.program.running_graph import RunningGraph
from mapper.formulations.algorithm_selection.program.transition_cost import storing, transition
from mapper.formulations.algorithm_selection.program.whole_cost import (
    LARGEST,
    LARGEST_RULED_OUT,
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
from mapper.workloads.pbqp.instance import INFINITE, PbqpInstance, flat_instance

Term = tuple[tuple[int, ...], Costs]
"""Vertices, and costs [S or 1, choices of the first, ...]: an edge between two, or a tie of three."""


@dataclass(frozen=True, eq=False)
class CostGraph:
    """Costs for S shapes. ``vertices``: a name and [S, choices] each, layers first, then stored tensors; ``terms``:
    edges from tail to head, and then ties of three layers one after another, what these cost more, never below 0, which
    is time alone; ``constant`` is paid in any case. ``ruled_out``: where choices of an edge's ends, by its place among
    the terms, contradict each other, [choices of tail, of head]; there it costs more than it can save."""

    names: tuple[str, ...]
    vertices: tuple[Costs, ...]
    terms: tuple[Term, ...]
    constant: int
    ruled_out: Mapping[int, NDArray[np.bool_]] = field(default_factory=dict)

    def value(self, chosen: NDArray[np.int64]) -> Costs:
        """What a choice per vertex costs on every shape; ``chosen`` [S, V]."""
        tables = [((vertex,), costs) for vertex, costs in enumerate(self.vertices)]
        every, total = np.arange(len(chosen)), np.full(len(chosen), self.constant)
        for scope, costs in (*tables, *self.terms):
            at = every if len(costs) == len(chosen) else np.zeros_like(every)
            total = total + costs[(at, *(chosen[:, vertex] for vertex in scope))]
        return total

    def only(self, shape: int) -> CostGraph:
        """The graph of one shape, by position."""
        vertices = tuple(costs[shape : shape + 1] for costs in self.vertices)
        terms = tuple(
            (scope, costs if len(costs) == 1 else costs[shape : shape + 1]) for scope, costs in self.terms
        )
        return CostGraph(self.names, vertices, terms, self.constant, self.ruled_out)

    def weighted(self, energy: CostGraph, for_time: Any, for_energy: Any, kind: Any) -> CostGraph:
        """The graph of this one's and of ``energy``'s weighted sum, in numbers of a ``kind``."""

        def mixed(one: Costs, other: Costs) -> Costs:
            total: Costs = one.astype(kind) * for_time + other.astype(kind) * for_energy
            return total

        count = len(energy.terms)
        terms = [
            (scope, mixed(one, other))
            for (scope, one), (_, other) in zip(self.terms[:count], energy.terms, strict=True)
        ]
        terms += [(scope, costs.astype(kind) * for_time) for scope, costs in self.terms[count:]]
        vertices = tuple(mixed(*both) for both in zip(self.vertices, energy.vertices, strict=True))
        constant = self.constant * for_time + energy.constant * for_energy
        return CostGraph(self.names, vertices, tuple(terms), constant, self.ruled_out)

    def instance(self, name: str, shape: int = 0) -> PbqpInstance:
        """The PBQP of one shape, by position; ``constant`` is left out, and so are terms that cost nothing. What is
        ruled out costs infinitely much.

        A tie is a vertex more, whose choices are pairs of those of its first two layers: a pair that these do not have
        costs as much as the tie can, so that none is better than theirs."""
        own = [costs[shape] for costs in self.vertices]
        paid = [
            (*scope, np.where(self.ruled_out.get(at, False), INFINITE, costs[0]))
            for at, (scope, costs) in enumerate(self.only(shape).terms)
            if len(scope) == 2 and costs.any()
        ]
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

    def tied(self, shape: int = 0) -> list[Term]:
        """The ties that cost something on one shape, [choices of each]: vertices of `instance` after the graph's."""
        terms = self.only(shape).terms
        return [(scope, costs[0]) for scope, costs in terms if len(scope) == 3 and costs.any()]


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
        constant, joined = joins.latency() if quantity == "latency" else joins.energy()
        terms: list[Term] = [((tail, head), costs) for tail, head, costs in joined]
        contradictions: dict[int, NDArray[np.bool_]] = {}
        for at, store in enumerate(self.network.stores):
            if not store.vertex:
                tail, head, moved = transition(self, at, loads, quantity, arrays)
                terms.append(((tail, head), moved))
                continue
            vertex = self.vertex[at]
            for position, share in enumerate(store.shares):
                if share.copied is not None:
                    continue
                matrix = storing(self, at, position, quantity)
                if share.layer is None:
                    vertices[vertex] = below(vertices[vertex] + matrix, self.network.name)
                else:
                    contradictions[len(terms)] = self.contradicts(share.layer, at, 1)
                    terms.append(((share.layer, vertex), matrix[np.newaxis]))
            for reader in store.readers:
                load = loads[reader][:, np.newaxis, :]
                contradictions[len(terms)] = self.contradicts(reader, at, 0).T
                terms.append(((vertex, reader), np.repeat(load, len(self.labels[at]), axis=1)))
        if passes.running is not None:
            unit = self.machine.units_per_cycle if quantity == "latency" else 0
            waits = [*passes.running.waits(), *(passes.running.ties() if tied and unit else ())]
            terms += [(scope, below(wait * unit, self.network.name)) for scope, wait in waits]
        self._check(vertices, terms, constant, LARGEST)
        contradictions = {at: where for at, where in contradictions.items() if where.any()}
        if contradictions:
            terms = _ruled_out(vertices, terms, contradictions)
            self._check(vertices, terms, constant, LARGEST_RULED_OUT)
        vertices = [np.broadcast_to(costs, (len(rows), costs.shape[1])) for costs in vertices]
        names = (*self.network.names, *(f"{self.network.stores[at].name} stored" for at in self.vertex))
        return CostGraph(names, tuple(vertices), tuple(terms), constant, contradictions)

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

    def _check(self, vertices: Sequence[Costs], terms: Sequence[Term], constant: int, limit: int) -> None:
        every = (*vertices, *(costs for _, costs in terms))
        if constant + sum(int(costs.max(initial=0)) for costs in every) >= limit:
            raise too_large(self.network.name)


def _ruled_out(
    vertices: Sequence[Costs], terms: Sequence[Term], contradictions: Mapping[int, NDArray[np.bool_]]
) -> list[Term]:
    """The terms, with what contradicts itself dearer than all that it could save.

    Where layers contradict a tensor, it may lie position by position instead, and they may read and make it so under
    the same algorithms: then nothing at the tensor is contradicted, and the costs of these layers alone change.
    """
    tables = [
        *(({vertex}, costs) for vertex, costs in enumerate(vertices)),
        *(({*one}, own) for one, own in terms),
    ]
    spread = [(scope, int(costs.max(initial=0) - costs.min(initial=0))) for scope, costs in tables]
    around: dict[int, set[int]] = {}
    for at in contradictions:
        # Tensors are behind the layers.
        around.setdefault(max(terms[at][0]), set()).update(terms[at][0])
    dear = {
        tensor: 1 + sum(most for scope, most in spread if scope & near) for tensor, near in around.items()
    }
    found = list(terms)
    for at, where in contradictions.items():
        scope, costs = terms[at]
        found[at] = scope, costs + dear[max(scope)] * where
    return found
