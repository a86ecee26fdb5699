"""Whether a modulo schedule exists, by trying everything: placements, then moves, then what reads from where.

It knows cycles and places only and shares no code with the programs, searches or the referee. It is exhaustive: a
place holds a value for II cycles at the most and every move takes a free slot, so that F free slots let a value be
read up to (F + 1) * II - 1 cycles after it got ready. Parts of a graph that no value joins collide modulo II only:
the first operation of each is tried in II cycles, and edges that order parts ask for no more than that multiples of II
can be found by which the parts slide.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from mapper.arch.cgra import CgraMachine, Pe
from mapper.workloads.graph.dataflow_graph import DataflowGraph

Ready = tuple[int, Pe, int]
"""A value, the PE on which it gets ready, and when."""
Kept = tuple[Ready, Pe, int]
"""What is read from a register, the register file, and when."""
SHARED: Pe = (-1, -1)
"""Stands for the PE of the shared register file."""


@dataclass(frozen=True)
class Oracle:
    graph: DataflowGraph
    machine: CgraMachine
    ii: int

    @property
    def free(self) -> int:
        """Slots that operations leave."""
        return len(self.machine.all_pes) * self.ii - len(self.graph.operations)

    def feasible(self, most: int | None = None) -> bool | None:
        """Whether there is a schedule; None if that is open after so many placements with their moves."""
        if self.free < 0:
            return False
        for count, works in enumerate(self._tries()):
            if works:
                return True
            if count == most:
                return None
        return False

    def _placements(self) -> Iterator[dict[int, tuple[Pe, int]]]:
        """Every placement that keeps latencies and slots, the first operation of every part in one round of II."""
        order: list[int] = []
        for first in range(len(self.graph.operations)):
            if first in order:
                continue
            order.append(first)
            while (joined := self._joined(order)) is not None:
                order.append(joined)
        for placed in self._extended({}, order):
            if self._slides(placed):
                yield placed

    def _joined(self, order: list[int]) -> int | None:
        """An operation that a value joins to some of ``order``."""
        for edge in self.graph.edges:
            if edge.operand is not None and (edge.source in order) != (edge.destination in order):
                return edge.destination if edge.source in order else edge.source
        return None

    @cached_property
    def _part(self) -> list[int]:
        """Per operation its part, by the first operation of it."""
        part = list(range(len(self.graph.operations)))
        for _ in part:
            for edge in self.graph.edges:
                if edge.operand is not None:
                    part[edge.source] = part[edge.destination] = min(
                        part[edge.source], part[edge.destination]
                    )
        return part

    def _slides(self, placed: dict[int, tuple[Pe, int]]) -> bool:
        """Whether parts can slide by multiples of II such that the edges between them are kept."""
        rounds = dict.fromkeys(self._part, 0)
        for _ in range(len(rounds) + 1):
            before = dict(rounds)
            for position, edge in enumerate(self.graph.edges):
                u, w = self._part[edge.source], self._part[edge.destination]
                late = placed[edge.source][1] + self._latency(position) - placed[edge.destination][1]
                if u != w:
                    rounds[w] = max(rounds[w], rounds[u] - edge.distance - (-late // self.ii))
            if rounds == before:
                return True
        return False

    def _extended(
        self, placed: dict[int, tuple[Pe, int]], order: list[int]
    ) -> Iterator[dict[int, tuple[Pe, int]]]:
        if len(placed) == len(order):
            yield placed
            return
        v = order[len(placed)]
        reach = (self.free + 1) * self.ii
        fresh = all(self._part[other] != self._part[v] for other in placed)
        # The first operation of all may as well issue in cycle 0.
        low, high = (0, self.ii - 1 if placed else 0) if fresh else (-(10**6), 10**6)
        for edge in self.graph.edges:
            if edge.operand is None:
                continue
            if edge.source == edge.destination == v and edge.distance * self.ii - self._result(v) >= reach:
                return
            if edge.destination == v and edge.source in placed:
                ready = placed[edge.source][1] + self._result(edge.source) - edge.distance * self.ii
                low, high = max(low, ready), min(high, ready + reach - 1)
            if edge.source == v and edge.destination in placed:
                read = placed[edge.destination][1] + edge.distance * self.ii - self._result(v)
                low, high = max(low, read - reach + 1), min(high, read)
        for pe, time in product(self.machine.all_pes, range(low, high + 1)):
            extended = {**placed, v: (pe, time)}
            if self.machine.can_execute(pe, self.graph.operations[v].opcode) and self._keeps(extended):
                yield from self._extended(extended, order)

    def _latency(self, position: int) -> int:
        edge = self.graph.edges[position]
        own = self.machine.latency(self.graph.operations[edge.source].opcode)
        return own if edge.latency is None else edge.latency

    def _result(self, v: int) -> int:
        """Cycles until the result of v stands in the output register."""
        latencies = [
            self._latency(position)
            for position, edge in enumerate(self.graph.edges)
            if edge.source == v and edge.operand is not None
        ]
        return min(latencies) if latencies else self.machine.latency(self.graph.operations[v].opcode)

    def _keeps(self, placed: dict[int, tuple[Pe, int]]) -> bool:
        """Issues alone, results alone, memory ports, latencies."""
        issues = {(pe, time % self.ii) for pe, time in placed.values()}
        results = {(pe, (time + self._result(v)) % self.ii) for v, (pe, time) in placed.items()}
        if len(issues) < len(placed) or len(results) < len(placed):
            return False
        if self.machine.memory_ports is not None:
            accesses = [
                time % self.ii
                for v, (_, time) in placed.items()
                if self.graph.operations[v].opcode in ("load", "store")
            ]
            if any(accesses.count(cycle) > self.machine.memory_ports for cycle in accesses):
                return False
        return all(
            placed[edge.source][1] + self._latency(position)
            <= placed[edge.destination][1] + edge.distance * self.ii
            for position, edge in enumerate(self.graph.edges)
            if edge.source in placed
            and edge.destination in placed
            and self._part[edge.source] == self._part[edge.destination]
        )

    def _tries(self) -> Iterator[bool]:
        """For every placement and all moves in the free slots whether these bring every value to its readers."""
        for placed in self._placements():
            yield from self._moved(placed)

    def _moved(self, placed: dict[int, tuple[Pe, int]]) -> Iterator[bool]:
        reads = {
            (edge.source, placed[edge.destination][0], placed[edge.destination][1] + edge.distance * self.ii)
            for edge in self.graph.edges
            if edge.operand is not None
        }
        ready = [(v, pe, time + self._result(v)) for v, (pe, time) in placed.items()]
        last = {v: max((time for u, _, time in reads if u == v), default=0) for v in placed}
        taken = {(pe, time % self.ii) for pe, time in placed.values()}
        free = [
            (pe, cycle)
            for pe, cycle in product(self.machine.all_pes, range(self.ii))
            if (pe, cycle) not in taken
        ]
        choices: list[list[Ready | None]] = [
            [
                None,
                *(
                    (v, pe, time + 1)
                    for v, _, first in ready
                    for time in range(first, last[v])
                    if time % self.ii == cycle
                ),
            ]
            for pe, cycle in free
        ]
        for moves in product(*choices):
            yield self._brought(ready, [move for move in moves if move], reads)

    def _brought(self, ready: list[Ready], moves: list[Ready], reads: set[Ready]) -> bool:
        """Whether every read, those of the moves too, finds its value somewhere, with the registers there are."""
        results = [*ready, *moves]
        written: dict[Pe, list[int]] = {}
        for _, pe, time in results:
            written.setdefault(pe, []).append(time % self.ii)
        if any(len(set(cycles)) < len(cycles) for cycles in written.values()):
            return False
        kept: list[list[Kept]] = []
        for value, pe, time in (*reads, *((v, pe, time - 1) for v, pe, time in moves)):
            if any(
                result[0] == value
                and pe in self.machine.readers[result[1]]
                and result[2] <= time < result[2] + self._until_next(written[result[1]], result[2])
                for result in results
            ):
                continue
            kept.append(
                [
                    (result, file, time)
                    for result in results
                    for file in self._files(result[1])
                    if result[0] == value and result[2] <= time < result[2] + self.ii
                    if (pe in self.machine.sharing if file == SHARED else pe == result[1])
                ]
            )
        return any(self._named(chosen) for chosen in product(*kept))

    def _until_next(self, cycles: list[int], time: int) -> int:
        return min((other - time - 1) % self.ii + 1 for other in cycles)

    def _files(self, pe: Pe) -> list[Pe]:
        """Register files, by their PE or as shared, that a result on ``pe`` can be written to."""
        return [pe, SHARED] if pe in self.machine.sharing else [pe]

    def _named(self, chosen: tuple[Kept, ...]) -> bool:
        """Whether the results that are read from registers in these cycles fit registers and ports."""
        files = [file for _, file, _ in chosen]
        for file in dict.fromkeys(files):
            of_file = self.machine.shared_register_file if file == SHARED else self.machine.register_file
            assert of_file is not None
            mine = [(result, time) for result, where, time in chosen if where == file]
            for ports, used in (
                (of_file.read_ports, {(time % self.ii, result) for result, time in mine}),
                (of_file.write_ports, {(result[2] % self.ii, result) for result, _ in mine}),
            ):
                counts = [sum(cycle == other for other, _ in used) for cycle, _ in used]
                if ports is not None and max(counts) > ports:
                    return False
            if not self._have_names(mine, of_file.registers):
                return False
        return True

    def _have_names(self, reads: list[tuple[Ready, int]], registers: int) -> bool:
        lives: dict[Ready, int] = {}
        for result, time in reads:
            lives[result] = max(time, lives.get(result, time))
        for naming in product(range(registers), repeat=len(lives)):
            cells = [
                (name, time % self.ii)
                for (result, until), name in zip(lives.items(), naming, strict=True)
                for time in range(result[2], until + 1)
            ]
            if len(set(cells)) == len(cells):
                return True
        return False
