"""A modulo-scheduling problem as plain tables: what the heuristic searches look up in every step."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from mapper.formulations.modulo_schedule.problem import ModuloProblem

FAR = 1 << 20
"""Moves between PEs that no chain of moves joins."""
NO_PATH = -(10**8)
"""Distance of operations that no path of edges joins, in `Instance.time_distance`."""


class Instance:
    """Operations, edges and PEs counted from 0. ``latency`` of an operation is that of its result: the least
    over its data edges; ``moves[p][q]`` is how many moves a value needs from the output register of p to be
    read by q; ``delay`` of an edge the cycles after which it can be read."""

    def __init__(self, problem: ModuloProblem) -> None:
        graph, machine = problem.kernel.graph, problem.machine
        self.operations = len(graph.operations)
        self.pes = machine.all_pes
        number = {pe: position for position, pe in enumerate(self.pes)}
        self.readers = [sorted(number[reader] for reader in machine.readers[pe]) for pe in self.pes]
        self.reads = [[p in self.readers[q] for q in range(len(self.pes))] for p in range(len(self.pes))]
        self.registers = machine.register_file.registers
        self.read_ports = machine.register_file.read_ports
        self.memory_ports = machine.memory_ports
        self.source = [edge.source for edge in graph.edges]
        self.destination = [edge.destination for edge in graph.edges]
        self.distance = [edge.distance for edge in graph.edges]
        self.carries = [edge.operand is not None for edge in graph.edges]
        opcodes = [operation.opcode for operation in graph.operations]
        self.delay = [
            machine.latency(opcodes[edge.source]) if edge.latency is None else edge.latency
            for edge in graph.edges
        ]
        self.outgoing, self.incoming = graph.outgoing, graph.incoming
        self.latency = [
            min((self.delay[edge] for edge in leaving if self.carries[edge]), default=machine.latency(opcode))
            for leaving, opcode in zip(self.outgoing, opcodes, strict=True)
        ]
        able = {
            opcode: tuple(number[pe] for pe in self.pes if machine.can_execute(pe, opcode))
            for opcode in set(opcodes)
        }
        self.able = [able[opcode] for opcode in opcodes]
        self.is_memory = [opcode in ("load", "store") for opcode in opcodes]

    @cached_property
    def incident(self) -> list[list[int]]:
        """Per operation its edges, each once, those from and to itself included."""
        return [
            sorted({*self.incoming[operation], *self.outgoing[operation]})
            for operation in range(self.operations)
        ]

    @cached_property
    def moves(self) -> list[list[int]]:
        """Least moves from the output register of one PE to a read by another; `FAR` if there is no way."""
        found = []
        for start in range(len(self.pes)):
            row = [FAR] * len(self.pes)
            for reader in self.readers[start]:
                row[reader] = 0
            edge, moves = list(self.readers[start]), 0
            while edge:
                moves += 1
                reached = {reader for pe in edge for reader in self.readers[pe] if row[reader] == FAR}
                for reader in reached:
                    row[reader] = moves
                edge = sorted(reached)
            found.append(row)
        return found

    def time_distance(
        self, ii: int, stopped: Callable[[], bool]
    ) -> np.ndarray[tuple[int, int], np.dtype[np.int32]] | None:
        """Least cycles between the issues of any two operations at ``ii``, shape (operations, operations):
        longest paths over edges of length delay - distance * ii, `NO_PATH` where there is none (Rau 1994,
        MinDist). None if a recurrence does not fit into ``ii``, or the search is stopped."""
        longest = np.full((self.operations, self.operations), NO_PATH, dtype=np.int32)
        np.fill_diagonal(longest, 0)
        for edge, (u, w) in enumerate(zip(self.source, self.destination, strict=True)):
            longest[u, w] = max(longest[u, w], self.delay[edge] - self.distance[edge] * ii)
        for middle in range(self.operations):
            if stopped():
                return None
            rows = np.flatnonzero(longest[:, middle] > NO_PATH // 2)
            through = longest[rows, middle, None] + longest[None, middle, :]
            longest[rows] = np.maximum(longest[rows], through)
        longest[longest < NO_PATH // 2] = NO_PATH
        return None if (np.diagonal(longest) > 0).any() else longest
