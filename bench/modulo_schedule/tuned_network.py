"""What the tuned layers of a network consist of, for tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mapper.api.solution import Solution
from mapper.kind.modulo_schedule.layer_part import NamedLayer
from mapper.models.modulo_schedule.network.algorithm import Algorithm
from mapper.models.modulo_schedule.network.mapping import LayerMapping, LoopMapping, kernel_of
from mapper.models.modulo_schedule.network.nest import Box, Nest
from mapper.workloads.network.network_layer import NetworkLayer

MEMORY_OPCODES = ("load", "store")


@dataclass(frozen=True)
class MappedLayer:
    """A layer as it is mapped."""

    layer: NetworkLayer
    algorithm: Algorithm
    mapping: LayerMapping

    @property
    def nests(self) -> Iterator[tuple[Nest, list[LoopMapping]]]:
        """Every nest with its boxes, the main box first."""
        for position, nest in enumerate(self.algorithm.nests):
            yield nest, [loop for loop in self.mapping.loops if loop.nest == position]

    @property
    def words(self) -> int:
        """Configuration words of all its kernels: operations and moves."""
        return sum(len(loop.schedule.placements) + len(loop.schedule.moves) for loop in self.mapping.loops)

    def executed(self, *opcodes: str, nests: frozenset[str] | None = None) -> int:
        """How often the kernels (None: of all nests) execute such operations."""
        total = 0
        for loop in self.mapping.loops:
            nest = self.algorithm.nests[loop.nest]
            if nests is not None and nest.operation not in nests:
                continue
            graph = kernel_of(nest, loop.box, loop.pointer_uses).graph
            count = sum(operation.opcode in opcodes for operation in graph.operations)
            total += count * loop.box.trip_count(nest) * loop.box.runs(nest)
        return total


def mapped_layers(solution: Solution) -> list[MappedLayer]:
    """The layers of ``solution`` that are mapped."""
    return [
        MappedLayer(problem.layer, problem.choice(part.mapping.mapping.algorithm), part.mapping.mapping)
        for part in solution.parts
        if isinstance(part.mapping, NamedLayer)
        for problem in [part.mapping.problem]
    ]


def factors(nest: Nest, box: Box) -> tuple[int, ...]:
    """The unroll vector of a box, its innermost loop last."""
    place = nest.names.index(box.innermost)
    return (*box.unroll[:place], *box.unroll[place + 1 :], box.unroll[place])
