"""A modulo schedule replayed: what every PE writes, and what every route reads in which cycle.

Everything that a PE writes for the iteration that issues at the placements' times is an event; it recurs every
II cycles. Every read of every route is looked up in the cycle in which it happens. A read takes the value from
the output register where that still holds it, else from the register: a schedule that is valid with another
choice is valid with this one, which needs the fewest ports and keeps registers the shortest. Every move makes a
copy of its own: what another copy of the same value overwrites is overwritten.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.referee.rule import (
    ABILITY,
    CHAIN,
    CONNECTION,
    ENDS,
    HELD,
    INTERVAL,
    LATENCY,
    LINK,
    MEMORY_PORTS,
    OCCUPANCY,
    ONE_REGISTER,
    OUTPUT_WRITE,
    READ_PORTS,
    REGISTER,
    ROUTED,
    SLOT,
    STAGE,
    WRITE_PORTS,
)
from mapper.formulations.verdict import BrokenRule
from mapper.models.modulo_schedule.mapping import Hop, ModuloSchedule, Pe, Route


@dataclass(frozen=True)
class _Event:
    """A value of ``operation`` that becomes readable on ``pe`` at ``ready``: its result, or a copy by a move
    that reads ``origin``: what became readable on a PE at a time, from a register or (None) the output."""

    operation: int
    pe: Pe
    ready: int
    origin: tuple[Pe, int, int | None] | None = None


class Replay:
    """One schedule on its machine. Routes are followed first; what they read and write is then held against
    the PEs, ports and registers."""

    def __init__(self, problem: ModuloProblem, schedule: ModuloSchedule) -> None:
        self.problem, self.schedule, self.ii = problem, schedule, schedule.ii
        self.graph, self.machine = problem.kernel.graph, problem.machine
        self.results = [self._result(operation) for operation in range(len(self.graph.operations))]
        self.moves: set[_Event] = set()
        self.written: dict[_Event, set[int]] = defaultdict(set)
        self.last_read: dict[tuple[_Event, int], int] = {}
        self.registers_read: dict[tuple[Pe | None, int], set[int]] = defaultdict(set)
        self.phases = self._write_phases()

    def broken(self) -> Iterator[BrokenRule]:
        yield from self._whole()
        yield from self._operations()
        yield from self._routes()
        yield from self._slots()
        yield from self._output_writes()
        yield from self._registers()

    def _latency(self, position: int) -> int:
        edge = self.graph.edges[position]
        own = self.machine.latency(self.graph.operations[edge.source].opcode)
        return own if edge.latency is None else edge.latency

    def _result(self, operation: int) -> _Event:
        placement = self.schedule.placements[operation]
        own = self.machine.latency(self.graph.operations[operation].opcode)
        carried = [
            self._latency(position)
            for position in self.graph.outgoing[operation]
            if self.graph.edges[position].operand is not None
        ]
        return _Event(operation, placement.pe, placement.time + min(carried, default=own))

    def _write_phases(self) -> dict[Pe, list[int]]:
        """Per PE the cycles modulo II in which its output register is overwritten, ascending."""
        phases: dict[Pe, set[int]] = defaultdict(set)
        for event in self.results:
            phases[event.pe].add(event.ready % self.ii)
        for route in self.schedule.routes:
            for hop in route.hops:
                if hop.via == "move":
                    phases[hop.pe].add(hop.time % self.ii)
        return {pe: sorted(found) for pe, found in phases.items()}

    def _name(self, event: _Event) -> str:
        name = self.graph.operations[event.operation].name
        return name if event.origin is None else f"move of {name}"

    def _whole(self) -> Iterator[BrokenRule]:
        """A pinned II is kept; the first issue lies in stage 0; every edge has one route."""
        pinned = self.problem.fixed_ii
        if pinned is not None and pinned != self.ii:
            yield BrokenRule(INTERVAL, "ii", self.ii - pinned)
        issued = [placement.time for placement in self.schedule.placements]
        first = min(issued + [time for _, time in self.schedule.moves])
        if not 0 <= first < self.ii:
            yield BrokenRule(STAGE, f"cycle {first}", -first if first < 0 else first - self.ii + 1)
        count = [0] * len(self.graph.edges)
        for route in self.schedule.routes:
            if 0 <= route.edge < len(count):
                count[route.edge] += 1
            else:
                yield BrokenRule(ROUTED, f"edge {route.edge}", 1)
        for position, routes in enumerate(count):
            if routes != 1:
                yield BrokenRule(ROUTED, f"edge {position}", routes - 1)

    def _operations(self) -> Iterator[BrokenRule]:
        """Every operation has its unit, every edge its latency, and every memory access its port."""
        accesses: dict[int, int] = defaultdict(int)
        for operation, placement in zip(self.graph.operations, self.schedule.placements, strict=True):
            if not self.machine.can_execute(placement.pe, operation.opcode):
                yield BrokenRule(ABILITY, f"{operation.name} on PE {list(placement.pe)}", 1)
            accesses[placement.time % self.ii] += operation.opcode in ("load", "store")
        ports = self.machine.memory_ports
        for cycle, used in sorted(accesses.items()):
            if ports is not None and used > ports:
                yield BrokenRule(MEMORY_PORTS, f"cycle {cycle} of the II", used - ports)
        for position, edge in enumerate(self.graph.edges):
            due = self.schedule.placements[edge.source].time + self._latency(position)
            if due > self._consumed(position):
                yield BrokenRule(LATENCY, f"edge {position}", due - self._consumed(position))

    def _consumed(self, position: int) -> int:
        """The cycle in which the reader of an edge issues for the value of iteration 0."""
        edge = self.graph.edges[position]
        return self.schedule.placements[edge.destination].time + edge.distance * self.ii

    def _routes(self) -> Iterator[BrokenRule]:
        for route in self.schedule.routes:
            if not 0 <= route.edge < len(self.graph.edges):
                continue
            orders_only = self.graph.edges[route.edge].operand is None
            if orders_only and route.hops:
                yield BrokenRule(CHAIN, f"edge {route.edge}", len(route.hops))
            elif not orders_only and not route.hops:
                yield BrokenRule(ENDS, f"edge {route.edge}", 1)
            elif not orders_only:
                yield from self._follow(route)

    def _follow(self, route: Route) -> Iterator[BrokenRule]:
        """Read by read along one route, from the producer's result to the consumer."""
        place, edge, first = f"edge {route.edge}", self.graph.edges[route.edge], route.hops[0]
        event = self.results[edge.source]
        if first.pe != event.pe or first.time != event.ready or first.via == "move":
            yield BrokenRule(ENDS, place, max(1, abs(first.time - event.ready)))
            return
        held, register = event, first.register
        for position, hop in enumerate(route.hops):
            yield from self._hop_form(hop, place)
            if position:
                if hop.via != "move":
                    yield BrokenRule(CHAIN, place, 1)
                    return
                cycle = hop.time - 1
                yield from self._read(held, register, hop.pe, cycle, place)
                origin = (held.pe, held.ready, None if self._in_output(held, hop.pe, cycle) else register)
                held, register = _Event(edge.source, hop.pe, hop.time, origin), hop.register
                self.moves.add(held)
            if register is not None:
                self.written[held].add(register)
        reader = self.schedule.placements[edge.destination].pe
        yield from self._read(held, register, reader, self._consumed(route.edge), place)

    def _hop_form(self, hop: Hop, place: str) -> Iterator[BrokenRule]:
        """``output`` names no register, ``register`` does, and registers exist."""
        if hop.via != "move" and (hop.via == "register") != (hop.register is not None):
            yield BrokenRule(REGISTER, place, 1)
        if hop.register is None:
            return
        if self.machine.is_shared(hop.register) and hop.pe not in self.machine.sharing:
            yield BrokenRule(CONNECTION, f"{place}, PE {list(hop.pe)}", 1)
            return
        registers = self.machine.registers_of(hop.pe)
        if not 0 <= hop.register < registers:
            excess = hop.register - registers + 1 if hop.register >= 0 else -hop.register
            yield BrokenRule(REGISTER, f"{place}, PE {list(hop.pe)}", excess)

    def _until(self, event: _Event) -> int:
        """The last cycle in which the output register holds what became ready with ``event``."""
        phases = self.phases[event.pe]
        phase = event.ready % self.ii
        following = bisect_right(phases, phase)
        gap = phases[following] - phase if following < len(phases) else phases[0] + self.ii - phase
        return event.ready + gap - 1

    def _in_output(self, event: _Event, reader: Pe, cycle: int) -> bool:
        return reader in self.machine.readers[event.pe] and event.ready <= cycle <= self._until(event)

    def _read(
        self, event: _Event, register: int | None, reader: Pe, cycle: int, place: str
    ) -> Iterator[BrokenRule]:
        """``reader`` takes in ``cycle`` what became ready with ``event``, and was also written to ``register``."""
        if self._in_output(event, reader, cycle):
            return
        shared = register is not None and self.machine.is_shared(register)
        in_reach = register is not None and (reader in self.machine.sharing if shared else reader == event.pe)
        if not in_reach and reader not in self.machine.readers[event.pe]:
            rule = CONNECTION if shared else LINK
            yield BrokenRule(rule, f"{place}, PE {list(event.pe)} to PE {list(reader)}", 1)
            return
        until = event.ready + self.ii - 1 if in_reach else self._until(event)
        if not event.ready <= cycle <= until:
            late = cycle - until if cycle > until else event.ready - cycle
            yield BrokenRule(HELD, f"{place}, PE {list(event.pe)} at cycle {cycle}", late)
        elif register is not None:
            self.last_read[event, register] = max(cycle, self.last_read.get((event, register), cycle))
            file = None if shared else reader
            self.registers_read[file, cycle % self.ii].add(register)

    def _slots(self) -> Iterator[BrokenRule]:
        """Operations and moves issue alone; a move is one whatever the number of routes that share it."""
        issues: dict[tuple[Pe, int], list[str]] = defaultdict(list)
        for event, placement in zip(self.results, self.schedule.placements, strict=True):
            issues[placement.pe, placement.time % self.ii].append(self._name(event))
        for event in self.moves:
            issues[event.pe, (event.ready - 1) % self.ii].append(self._name(event))
        yield from self._alone(SLOT, issues)

    def _output_writes(self) -> Iterator[BrokenRule]:
        """Two results of one PE never become ready together. Moves alone cannot: they issue one by one."""
        ready: dict[tuple[Pe, int], list[str]] = defaultdict(list)
        for event in (*self.results, *self.moves):
            ready[event.pe, event.ready % self.ii].append(self._name(event))
        yield from self._alone(OUTPUT_WRITE, ready)

    def _alone(self, rule: str, found: dict[tuple[Pe, int], list[str]]) -> Iterator[BrokenRule]:
        for (pe, cycle), names in sorted(found.items()):
            if len(names) > 1:
                who = ", ".join(sorted(names))
                yield BrokenRule(rule, f"PE {list(pe)}, cycle {cycle} of the II: {who}", len(names) - 1)

    def _registers(self) -> Iterator[BrokenRule]:
        """A register holds one value at a time, from its being ready to its last read; ports suffice. The PE of
        a shared register is None."""
        writes: dict[tuple[Pe | None, int], int] = defaultdict(int)
        kept: dict[tuple[Pe | None, int], list[tuple[int, int, str]]] = defaultdict(list)
        for event, registers in self.written.items():
            files = [None if self.machine.is_shared(register) else event.pe for register in registers]
            if len(set(files)) < len(files):
                yield BrokenRule(ONE_REGISTER, self._name(event), len(files) - len(set(files)))
            for file, register in zip(files, registers, strict=True):
                writes[file, event.ready % self.ii] += 1
                cycles = self.last_read.get((event, register), event.ready) - event.ready + 1
                kept[file, register].append((event.ready % self.ii, cycles, self._name(event)))
        for (pe, register), values in sorted(kept.items(), key=_by_file):
            values.sort()
            # No value stays longer than II, so that neighbours on the circle of cycles overlap if any do.
            following = [*values[1:], (values[0][0] + self.ii, *values[0][1:])]
            for (phase, cycles, name), (start, _, other) in zip(values, following, strict=True):
                if phase + cycles > start:
                    where = f"{_file(pe)}, register {register}: {name}, {other}"
                    yield BrokenRule(OCCUPANCY, where, phase + cycles - start)
        reads = {where: len(registers) for where, registers in self.registers_read.items()}
        for used, rule in ((reads, READ_PORTS), (writes, WRITE_PORTS)):
            for (pe, cycle), count in sorted(used.items(), key=_by_file):
                ports = self._ports(pe, rule)
                if ports is not None and count > ports:
                    yield BrokenRule(rule, f"{_file(pe)}, cycle {cycle} of the II", count - ports)

    def _ports(self, pe: Pe | None, rule: str) -> int | None:
        """Read or write ports of a PE's file, or of the shared one (None); None for any number."""
        file = self.machine.shared_register_file if pe is None else self.machine.register_file
        if file is None:
            return None
        return file.read_ports if rule == READ_PORTS else file.write_ports


def _by_file(entry: tuple[tuple[Pe | None, int], object]) -> tuple[bool, Pe, int]:
    """Order of what is counted per file: own files by PE, then the shared one."""
    (pe, number), _ = entry
    return pe is None, pe or (0, 0), number


def _file(pe: Pe | None) -> str:
    return "shared register file" if pe is None else f"PE {list(pe)}"
