"""A modulo-scheduling problem as arrays: what the heuristic searches look up in every step."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from mapper.arch.cgra import CgraMachine
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.models.compiled import compiled
from mapper.models.modulo_schedule.latency import edge_latency, result_latency
from mapper.workloads.graph.dataflow_graph import DataflowGraph

Array = np.ndarray[Any, np.dtype[Any]]

FAR = 1 << 20
"""Moves between PEs that no chain of moves joins."""
NO_PATH = -(10**8)
"""Distance of operations that no path of edges joins, in `Tables.distance`."""
LARGEST = 3000
"""Operations of the largest graph that the heuristics take on; its distances fill 36 MB."""


class Tables(NamedTuple):
    """Operations, edges and PEs counted from 0, at one II. ``latency`` of an operation is that of its result: the
    least over its data edges; ``delay`` of an edge the cycles after which it can be read, ``shift`` its distance
    times II; ``moves[p, q]`` how many moves a value needs from the output register of p to be read by q.
    ``near``: the same as an estimate, which may leave out shared registers where links lead too.
    ``distance[u, v]``: least cycles between the issues of two operations (Rau 1994, MinDist).

    Lists of lists are a start for every row, and the rows one after another: edges of operations, readers of PEs,
    PEs of kinds of operations, which are those that the same PEs execute. ``capacity`` of slots, output registers,
    registers and read ports; ``memory_ports`` 0: no limit. ``linked[p, q]``: q reads the output register of p.

    ``shared``: the capacities of shared registers, their read ports and their write ports; empty if there is no
    shared file. ``sharing``: the PEs that are connected to it, ``shares[p]`` whether p is.
    """

    ii: int
    pes: int
    memory_ports: int
    source: Array
    destination: Array
    shift: Array
    delay: Array
    carries: Array
    latency: Array
    memory: Array
    edge_start: Array
    edge: Array
    reader_start: Array
    reader: Array
    able_start: Array
    able: Array
    kind: Array
    capacity: Array
    linked: Array
    shared: Array
    sharing: Array
    shares: Array
    moves: Array
    near: Array
    distance: Array


class Instance:
    """The tables of one problem; `tables` gives them at an II."""

    def __init__(self, problem: ModuloProblem) -> None:
        graph, machine = problem.kernel.graph, problem.machine
        self.operations = len(graph.operations)
        self.pes = machine.all_pes
        self.registers = machine.register_file.registers
        self.carries = [edge.operand is not None for edge in graph.edges]
        number = {pe: position for position, pe in enumerate(self.pes)}
        readers = [sorted(number[reader] for reader in machine.readers[pe]) for pe in self.pes]
        self._readers = _rows(readers)
        self.linked = np.zeros((len(self.pes), len(self.pes)), np.bool_)
        for pe, linked in enumerate(readers):
            self.linked[pe, linked] = True
        self._sharing = _integers(sorted(number[pe] for pe in machine.sharing))
        self._shares = np.zeros(len(self.pes), np.bool_)
        self._shares[self._sharing] = True
        self._incident = _rows([
            sorted({*graph.incoming[operation], *graph.outgoing[operation]}) for operation in range(self.operations)
        ])  # fmt: skip
        opcodes = [operation.opcode for operation in graph.operations]
        able = {
            opcode: tuple(number[pe] for pe in self.pes if machine.can_execute(pe, opcode))
            for opcode in dict.fromkeys(opcodes)
        }
        kinds = {pes: position for position, pes in enumerate(dict.fromkeys(able.values()))}
        self._able = _rows(list(kinds))
        self._kind = _integers([kinds[able[opcode]] for opcode in opcodes])
        self._memory = np.array([opcode in ("load", "store") for opcode in opcodes], np.bool_)
        self.source = _integers([edge.source for edge in graph.edges])
        self.destination = _integers([edge.destination for edge in graph.edges])
        self.iterations = _integers([edge.distance for edge in graph.edges])
        self._forward = _forward(graph)
        self.delay = _integers([edge_latency(graph, machine, edge) for edge in graph.edges])
        self.latency = _integers(
            [result_latency(graph, machine, operation) for operation in range(self.operations)]
        )
        file = machine.register_file
        ports = file.registers if file.read_ports is None else file.read_ports
        self._capacity = _integers([1, 1, min(file.registers, _MOST_REGISTERS), ports])
        self._shared = _integers(_shared_capacity(machine))
        self.shared_registers = int(self._shared[0]) if len(self._shared) else 0
        self._memory_ports = machine.memory_ports or 0
        self._last: Tables | None = None

    @cached_property
    def _moves_by_links(self) -> Array:
        """`moves`, without shared registers wherever links lead from one PE to the other."""
        if not len(self._sharing):
            return self.moves
        linked: Array = _moves(*self._readers)
        return np.where(linked < FAR, linked, self.moves)

    @cached_property
    def moves(self) -> Array:
        """Least moves from a result on one PE to a read by another; `FAR` if there is no way."""
        shares = np.flatnonzero(self._shares)
        reached = [
            np.union1d(np.flatnonzero(linked), shares if self._shares[pe] else shares[:0]).tolist()
            for pe, linked in enumerate(self.linked)
        ]
        found: Array = _moves(*_rows(reached))
        return found

    def tables(self, ii: int, by_links: bool = False) -> Tables:
        """The tables at ``ii``, at which every recurrence must fit; those of the last II are kept. ``by_links``:
        PEs are near each other by their links, not by the shared registers, which may be few."""
        near = self._moves_by_links if by_links else self.moves
        if self._last is not None and self._last.ii == ii:
            return self._last._replace(near=near)
        shift = self.iterations * np.int32(ii)
        order, length = self._forward, self.delay - shift
        distance = _time_distance(self.operations, self.source[order], self.destination[order], length[order])
        self._last = Tables(
            ii, len(self.pes), self._memory_ports, self.source, self.destination, shift, self.delay,
            np.array(self.carries, np.bool_), self.latency, self._memory, *self._incident, *self._readers,
            *self._able, self._kind, self._capacity, self.linked, self._shared, self._sharing, self._shares,
            self.moves, near, distance,
        )  # fmt: skip
        return self._last


_MOST_REGISTERS = 24


def _shared_capacity(machine: CgraMachine) -> list[int]:
    """Registers, read ports and write ports of the shared file; nothing if there is none."""
    shared = machine.shared_register_file
    if shared is None:
        return []
    registers = min(shared.registers, _MOST_REGISTERS)
    return [registers, shared.read_ports or registers, shared.write_ports or len(machine.sharing)]


def _integers(values: list[int]) -> Array:
    return np.array(values, np.int32)


def _rows(rows: Sequence[Sequence[int]]) -> tuple[Array, Array]:
    """Where every row starts, and all rows one after another."""
    starts = np.cumsum([0, *map(len, rows)])
    return starts.astype(np.int32), _integers([entry for row in rows for entry in row])


def _forward(graph: DataflowGraph) -> Array:
    """The edges in an order in which those within an iteration follow those they depend on."""
    waiting = [0] * len(graph.operations)
    for edge in graph.edges:
        waiting[edge.destination] += edge.distance == 0
    ready = [operation for operation, count in enumerate(waiting) if count == 0]
    for operation in ready:
        for position in graph.outgoing[operation]:
            if graph.edges[position].distance == 0:
                waiting[graph.edges[position].destination] -= 1
                if waiting[graph.edges[position].destination] == 0:
                    ready.append(graph.edges[position].destination)
    return _integers([position for operation in ready for position in graph.outgoing[operation]])


def _python_moves(start: Array, reader: Array) -> Array:
    pes = len(start) - 1
    moves = np.full((pes, pes), FAR, np.int32)
    queue = np.zeros(pes, np.int32)
    for origin in range(pes):
        filled = 0
        for position in range(start[origin], start[origin + 1]):
            moves[origin, reader[position]] = 0
            queue[filled] = reader[position]
            filled += 1
        done = 0
        while done < filled:
            at = queue[done]
            done += 1
            for position in range(start[at], start[at + 1]):
                if moves[origin, reader[position]] == FAR:
                    moves[origin, reader[position]] = moves[origin, at] + 1
                    queue[filled] = reader[position]
                    filled += 1
    return moves


def _python_time_distance(operations: int, source: Array, destination: Array, length: Array) -> Array:
    """Longest paths from every operation, by rounds over the edges; (operations, operations)."""
    distance = np.full((operations, operations), NO_PATH, np.int32)
    for start in range(operations):
        row = distance[start]
        row[start] = 0
        for _ in range(operations):
            changed = False
            for edge in range(len(source)):
                reached = row[source[edge]]
                if reached != NO_PATH and reached + length[edge] > row[destination[edge]]:
                    row[destination[edge]] = reached + length[edge]
                    changed = True
            if not changed:
                break
    return distance


_moves: Any = compiled(_python_moves)
_time_distance: Any = compiled(_python_time_distance)
