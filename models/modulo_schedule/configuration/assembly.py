"""From a modulo schedule to configuration words: where every operand is read, and what every PE writes.

A read takes the value from an output register where that still holds it, and else from a register: that needs
the fewest ports, and keeps registers the shortest.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from itertools import pairwise

from mapper.arch.cgra import CgraMachine
from mapper.models.modulo_schedule.configuration.word import (
    MOVE,
    Configuration,
    Immediate,
    Output,
    Register,
    Word,
)
from mapper.models.modulo_schedule.latency import result_latency
from mapper.models.modulo_schedule.mapping import Hop, ModuloSchedule, Pe
from mapper.workloads.document import InputError
from mapper.workloads.graph.dataflow_graph import Edge, Number
from mapper.workloads.graph.kernel import Kernel

_Move = tuple[Pe, int, Output | Register, str]
"""PE and cycle of issue, what is read, and the operation whose result it is."""

ALWAYS_GIVEN = {"load": 1, "store": 2}
"""Operands of memory operations before the predicate."""


def assemble(kernel: Kernel, machine: CgraMachine, schedule: ModuloSchedule) -> Configuration:
    """The words of ``schedule``, by PE and cycle of the II; it judges nothing: two operations in one slot give
    two words.

    Raises: InputError if an operand has no route or more than one value, or initial values are missing.
    """
    return _Assembly(kernel, machine, schedule).configuration()


class _Assembly:
    """One schedule on its way to words."""

    def __init__(self, kernel: Kernel, machine: CgraMachine, schedule: ModuloSchedule) -> None:
        self.kernel, self.graph, self.machine = kernel, kernel.graph, machine
        self.schedule, self.ii = schedule, schedule.ii
        issued = [placement.time for placement in schedule.placements] + [time for _, time in schedule.moves]
        self.first_stage = min(issued, default=0) // self.ii
        self.latency = [result_latency(self.graph, machine, op) for op in range(len(self.graph.operations))]
        self.written_phases = self._written_phases()
        self.result_registers: dict[int, set[int]] = defaultdict(set)
        self.moves: dict[_Move, set[int]] = {}
        self.operands: dict[int, dict[int, Immediate | Output | Register]] = defaultdict(dict)

    def configuration(self) -> Configuration:
        for operation, given in enumerate(self.graph.operations):
            for position, value in given.immediates:
                self._give(operation, position, Immediate(position=position, value=value))
        hops = {route.edge: route.hops for route in self.schedule.routes}
        for at, edge in enumerate(self.graph.edges):
            if edge.operand is not None:
                self._carry(at, edge, hops.get(at, ()))
        words = [self._operation_word(operation) for operation in range(len(self.graph.operations))]
        words += [self._move_word(move, registers) for move, registers in self.moves.items()]
        shared = self.machine.shared_register_file
        words.sort(key=lambda word: (word.pe, word.slot, word.stage, word.operation or ""))
        return Configuration(
            kernel=self.kernel.name,
            machine=self.machine.name,
            ii=self.ii,
            stages=self.schedule.stages,
            trip_count=self.kernel.trip_count,
            shared_from=None if shared is None else self.machine.register_file.registers,
            words=tuple(words),
        )

    def _written_phases(self) -> dict[Pe, list[int]]:
        """Per PE the cycles of the II in which a result reaches its output register, ascending."""
        phases: dict[Pe, set[int]] = defaultdict(set)
        for placement, latency in zip(self.schedule.placements, self.latency, strict=True):
            phases[placement.pe].add((placement.time + latency) % self.ii)
        for pe, time in self.schedule.moves:
            phases[pe].add((time + 1) % self.ii)
        return {pe: sorted(found) for pe, found in phases.items()}

    def _in_output(self, hop: Hop, reader: Pe, cycle: int) -> bool:
        """Whether ``reader`` finds the value of ``hop`` in the output register of its PE in ``cycle``."""
        phases = self.written_phases.get(hop.pe)
        if phases is None:
            # A schedule that the referee refuses may name a PE that writes nothing.
            return False
        phase = hop.time % self.ii
        after = bisect_right(phases, phase)
        gap = phases[after] - phase if after < len(phases) else phases[0] + self.ii - phase
        return reader in self.machine.readers[hop.pe] and hop.time <= cycle < hop.time + gap

    def _read(
        self, hop: Hop, reader: Pe, cycle: int, position: int, initial: tuple[Number, ...]
    ) -> Output | Register:
        register = None if self._in_output(hop, reader, cycle) else hop.register
        if register is not None and (reader == hop.pe or self.machine.is_shared(register)):
            return Register(position=position, register=register, initial=initial)
        return Output(position=position, pe=hop.pe, initial=initial)

    def _give(self, operation: int, position: int, operand: Immediate | Output | Register) -> None:
        if position in self.operands[operation]:
            fault = f"operand {position} has more than one value; give it one"
            raise InputError(self.kernel.name, self.graph.operations[operation].name, fault)
        self.operands[operation][position] = operand

    def _carry(self, at: int, edge: Edge, hops: tuple[Hop, ...]) -> None:
        """The registers and moves of one route, and the operand at its end."""
        source = self.graph.operations[edge.source].name
        if not hops or hops[0].via == "move" or any(hop.via != "move" for hop in hops[1:]):
            raise InputError(self.kernel.name, f"routes: edge {at}", "must lead from the result by moves")
        if hops[0].register is not None:
            self.result_registers[edge.source].add(hops[0].register)
        for held, hop in pairwise(hops):
            place = self._read(held, hop.pe, hop.time - 1, 0, ())
            registers = self.moves.setdefault((hop.pe, hop.time - 1, place, source), set())
            if hop.register is not None:
                registers.add(hop.register)
        reader = self.schedule.placements[edge.destination]
        consumed, position = reader.time + edge.distance * self.ii, edge.operand or 0
        initial = edge.initial or (0,) * edge.distance
        if len(initial) != edge.distance:
            fault = f"{len(initial)} initial values for a distance of {edge.distance}; give as many"
            raise InputError(self.kernel.name, f"edge {at}", fault)
        self._give(edge.destination, position, self._read(hops[-1], reader.pe, consumed, position, initial))

    def _phase(self, time: int) -> tuple[int, int]:
        """Slot and stage of a cycle."""
        return time % self.ii, time // self.ii - self.first_stage

    def _operation_word(self, operation: int) -> Word:
        given, placement = self.graph.operations[operation], self.schedule.placements[operation]
        slot, stage = self._phase(placement.time)
        operands = [operand for _, operand in sorted(self.operands[operation].items())]
        predicated = given.array is not None and len(operands) > ALWAYS_GIVEN.get(given.opcode, len(operands))
        return Word(
            pe=placement.pe,
            slot=slot,
            stage=stage,
            operation=given.name,
            opcode=given.opcode,
            operands=tuple(operands[:-1] if predicated else operands),
            predicate=operands[-1] if predicated else None,
            array=given.array,
            offset=given.offset,
            latency=self.latency[operation],
            registers=tuple(sorted(self.result_registers[operation])),
        )

    def _move_word(self, move: _Move, registers: set[int]) -> Word:
        pe, time, place, _ = move
        slot, stage = self._phase(time)
        return Word(
            pe=pe,
            slot=slot,
            stage=stage,
            operation=None,
            opcode=MOVE,
            operands=(place,),
            latency=1,
            registers=tuple(sorted(registers)),
        )
