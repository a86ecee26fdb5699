"""What the program of modulo scheduling knows of its instance: demands, latencies, PEs, a horizon."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from mapper.arch.cgra import CgraMachine, Pe
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.models.modulo_schedule.latency import edge_latency, result_latency
from mapper.workloads.graph.dataflow_graph import DataflowGraph, Edge


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
    """The problem at one initiation interval ``ii`` on the PEs ``pes`` (all, or a part of the array). ``places``: the
    PEs on which operations are to stand, by operation, where these are given."""

    problem: ModuloProblem
    ii: int
    pes: tuple[Pe, ...]
    places: Mapping[int, Pe] | None = None

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
        """Per operation the PEs that execute it, or the given one if it does."""
        able = {
            opcode: tuple(pe for pe in self.pes if self.machine.can_execute(pe, opcode))
            for opcode in {operation.opcode for operation in self.graph.operations}
        }
        given = {} if self.places is None else self.places
        return tuple(
            tuple(pe for pe in able[operation.opcode] if given.get(v, pe) == pe)
            for v, operation in enumerate(self.graph.operations)
        )

    @cached_property
    def givers(self) -> dict[Pe, tuple[Pe, ...]]:
        """For every PE those of the part whose output register it can read, itself included."""
        found: dict[Pe, list[Pe]] = {pe: [] for pe in self.pes}
        for giver in self.pes:
            for reader in self.readers[giver]:
                found[reader].append(giver)
        return {pe: tuple(givers) for pe, givers in found.items()}

    @cached_property
    def readers(self) -> dict[Pe, tuple[Pe, ...]]:
        """For every PE those of the part that can read its output register, itself included."""
        part = set(self.pes)
        return {pe: tuple(sorted(part & self.machine.readers[pe])) for pe in self.pes}

    @cached_property
    def sharing(self) -> tuple[Pe, ...]:
        """PEs of the part that are connected to the shared register file."""
        return tuple(pe for pe in self.pes if pe in self.machine.sharing)

    @cached_property
    def least_moves(self) -> dict[Pe, dict[Pe, int]]:
        """For every PE the least moves that bring a value from there to a read by each PE that it can get to,
        without shared registers."""
        found: dict[Pe, dict[Pe, int]] = {}
        for pe in self.pes:
            reached = dict.fromkeys(self.readers[pe], 0)
            waiting = list(reached)
            for at in waiting:
                for reader in self.readers[at]:
                    if reader not in reached:
                        reached[reader] = reached[at] + 1
                        waiting.append(reader)
            found[pe] = reached
        return found

    @property
    def spare_slots(self) -> int:
        """Slots that no operation needs: there are no more moves than these."""
        return len(self.pes) * self.ii - len(self.graph.operations)

    @property
    def most_rounds(self) -> int:
        """Rounds of II cycles in which a value is anywhere, the one in which it becomes ready included
        (docs/formulation/modulo-schedule.md, Rounds)."""
        shared = self.machine.shared_register_file
        places = len(self.pes) * (1 + self.machine.register_file.registers)
        if shared is not None and self.sharing:
            places += shared.registers
        return min(max(0, self.spare_slots) + 2, places + 1)

    def horizon_stages(self, rounds: int) -> int:
        """Stages from that of the first operation, before or after, within which all others issue in some
        schedule whose values live so many rounds, if there is any (docs/formulation/modulo-schedule.md,
        Horizon): an operation lies within the rounds, latency and distance of an edge of another one."""
        longest = max((edge.distance for edge in self.graph.edges), default=0)
        latency = max((self.edge_latency(edge) for edge in self.graph.edges), default=0)
        return len(self.graph.operations) * (rounds + longest + latency // self.ii + 3)
