"""What the program of modulo scheduling knows of its instance: demands, latencies, PEs, orbits, a horizon."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from mapper.arch.cgra import CgraMachine, Pe
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.models.modulo_schedule.latency import edge_latency, result_latency
from mapper.workloads.dataflow_graph import DataflowGraph, Edge


@dataclass(frozen=True)
class Demand:
    """Operation ``destination`` reads the value of ``source`` from ``distance`` iterations ago, at least
    ``latency`` cycles after its issue. Edges that agree in the three names read one value in one cycle, so
    that one route serves them all; ``edges`` are their positions."""

    source: int
    destination: int
    distance: int
    latency: int
    edges: tuple[int, ...]


@dataclass(frozen=True)
class ModuloInstance:
    """The problem at one initiation interval ``ii`` on the PEs ``pes`` (all, or a part of the array)."""

    problem: ModuloProblem
    ii: int
    pes: tuple[Pe, ...]

    @property
    def graph(self) -> DataflowGraph:
        return self.problem.kernel.graph

    @property
    def machine(self) -> CgraMachine:
        return self.problem.machine

    @cached_property
    def demands(self) -> tuple[Demand, ...]:
        """Every value that some operation reads, once per reader and distance."""
        groups: dict[tuple[int, int, int], list[int]] = {}
        for position, edge in enumerate(self.graph.edges):
            if edge.operand is not None:
                groups.setdefault((edge.source, edge.destination, edge.distance), []).append(position)
        return tuple(
            Demand(*ends, max(self.edge_latency(self.graph.edges[e]) for e in edges), tuple(edges))
            for ends, edges in sorted(groups.items())
        )

    @cached_property
    def values(self) -> tuple[int, ...]:
        """Operations whose result is read."""
        return tuple(sorted({demand.source for demand in self.demands}))

    def edge_latency(self, edge: Edge) -> int:
        """Cycles from the issue of the edge's source until its reader may read."""
        return edge_latency(self.graph, self.machine, edge)

    @cached_property
    def latency(self) -> tuple[int, ...]:
        """Per operation the cycles from issue until its result stands in the output register."""
        count = range(len(self.graph.operations))
        return tuple(result_latency(self.graph, self.machine, operation) for operation in count)

    @cached_property
    def able(self) -> tuple[tuple[Pe, ...], ...]:
        """Per operation the PEs that execute it; for the operation with most demands only one PE of every
        orbit under the symmetries of the array, which loses no schedule up to symmetry."""
        able = [
            tuple(pe for pe in self.pes if self.machine.can_execute(pe, operation.opcode))
            for operation in self.graph.operations
        ]
        degree = [0] * len(able)
        for demand in self.demands:
            degree[demand.source] += 1
            degree[demand.destination] += 1
        if able:
            anchor = max(range(len(able)), key=lambda position: (degree[position], -position))
            able[anchor] = tuple(pe for pe in able[anchor] if pe in self.representatives)
        return tuple(able)

    @cached_property
    def readers(self) -> dict[Pe, tuple[Pe, ...]]:
        """For every PE those of the part that can read its output register, itself included."""
        part = set(self.pes)
        return {pe: tuple(sorted(part & self.machine.readers[pe])) for pe in self.pes}

    @cached_property
    def representatives(self) -> frozenset[Pe]:
        """One PE, the least, of every orbit under those reflections, transposition and translations of the
        grid that keep the part, the links and what each PE can do."""
        leader = {pe: pe for pe in self.pes}
        for image in self._symmetries():
            for pe in self.pes:
                low, high = sorted((_find(leader, pe), _find(leader, image[pe])))
                leader[high] = low
        return frozenset(pe for pe in self.pes if _find(leader, pe) == pe)

    def _symmetries(self) -> list[dict[Pe, Pe]]:
        rows, columns = self.machine.rows, self.machine.columns
        maps: list[Callable[[Pe], Pe]] = [
            lambda pe: (rows - 1 - pe[0], pe[1]),
            lambda pe: (pe[0], columns - 1 - pe[1]),
            lambda pe: (pe[1], pe[0]),
            lambda pe: ((pe[0] + 1) % rows, pe[1]),
            lambda pe: (pe[0], (pe[1] + 1) % columns),
        ]
        images = [{pe: map_(pe) for pe in self.pes} for map_ in maps]
        return [image for image in images if self._is_symmetry(image)]

    def _is_symmetry(self, image: dict[Pe, Pe]) -> bool:
        if set(image.values()) != set(self.pes):
            return False
        return all(
            self.machine.abilities[pe] == self.machine.abilities[image[pe]]
            and {image[reader] for reader in self.readers[pe]} == set(self.readers[image[pe]])
            for pe in self.pes
        )

    @property
    def spare_slots(self) -> int:
        """Slots that no operation needs: there are no more moves than these."""
        return len(self.pes) * self.ii - len(self.graph.operations)

    @cached_property
    def horizon_stages(self) -> int:
        """Stages that hold some schedule if there is any (docs/formulation-modulo-schedule.md, Horizon):
        every event, operation or move, lies within its latency and II and the longest distance of another
        that it reads or that reads it; there are as many events as slots at the most."""
        edges = self.graph.edges
        longest = max((edge.distance for edge in edges), default=0)
        latency = max((self.edge_latency(edge) for edge in edges), default=0)
        latency = max([latency, *self.latency, 1])
        moves = len(self.pes) * self.ii
        span = len(self.graph.operations) * (latency + self.ii * (longest + 2)) + moves * (self.ii + 1)
        return span // self.ii + 2


def _find(leader: dict[Pe, Pe], pe: Pe) -> Pe:
    while leader[pe] != pe:
        pe = leader[pe]
    return pe
