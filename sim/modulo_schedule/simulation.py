"""A cycle-accurate simulator of configuration words: it knows them, the array and the memory, nothing else.

In every cycle, what becomes ready is written first; then all active words of the slot read their operands and
loads the memory; stores write it last, so that a load of the same cycle still sees the old word.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from sys import maxsize
from typing import Any, Literal

from numpy.typing import NDArray

from mapper.arch.cgra import CgraMachine
from mapper.models.modulo_schedule.activity import Activity
from mapper.models.modulo_schedule.configuration.live_in import bound, live_in_names
from mapper.models.modulo_schedule.configuration.word import (
    Configuration,
    Immediate,
    LiveIn,
    LiveInName,
    Operand,
    Output,
    Register,
    Word,
)
from mapper.sim.modulo_schedule.conflict import Violation, conflicts, named
from mapper.sim.modulo_schedule.symbol import symbol
from mapper.sim.modulo_schedule.tally import Tally, counted
from mapper.workloads.document import InputError
from mapper.workloads.graph.dataflow_graph import Number
from mapper.workloads.graph.entry import fitting
from mapper.workloads.graph.opcode import ARITY, evaluate

Memory = dict[str, NDArray[Any]]
Values = Literal["numbers", "symbols"]
Place = tuple[tuple[int, int], int | None]
"""A PE and one of its registers, or None for its output register."""
SHARED = (-1, -1)
"""Stands for the PE of registers that PEs share, and of an immediate, which is no place: PEs count from 0."""


@dataclass(frozen=True)
class Run:
    """A run of words. ``cycles``: from the first issue to the end of the last repetition, n*II + (SC-1)*II.
    ``activity``: what was done in them, ``last`` in the last iteration and the II cycles that it adds.
    ``drain_cycles``: cycles after that in which results still become ready that no word reads. ``memory`` as
    left behind. ``trace``: per operation its results by iteration (symbols only, empty for numbers)."""

    cycles: int
    activity: Activity
    last: Activity
    drain_cycles: int
    memory: Memory
    violations: tuple[Violation, ...]
    trace: dict[str, list[Number]]


def simulate(
    configuration: Configuration,
    machine: CgraMachine,
    memory: Mapping[str, NDArray[Any]],
    trip_count: int,
    values: Values = "numbers",
    live_ins: Mapping[str, Number] | None = None,
) -> Run:
    """Run the words for ``trip_count`` iterations, with ``live_ins`` by name.

    ``memory``: one array of one dimension per array that words name, of its words' kind; it is left as it is.
    With ``values="symbols"`` every operation, loads and stores included, makes a symbol of its operands and
    the memory is not touched. The run goes on after a violation, as the array would.

    Raises: InputError if an opcode has no numeric meaning, lacks operands, or names an array without words,
    or if a live-in is missing.
    """
    for name in live_in_names(configuration):
        if live_ins is None or name not in live_ins:
            raise InputError(configuration.kernel, f"live-in {name[:60]!r}", "is missing; give its number")
    configuration = bound(configuration, live_ins or {})
    if values == "numbers":
        _check_runs(configuration, memory)
    return _Array(configuration, machine, memory, trip_count, values).run()


def _check_runs(configuration: Configuration, memory: Mapping[str, NDArray[Any]]) -> None:
    for word in configuration.words:
        if word.operation is None:
            continue
        if word.opcode not in ARITY:
            fault = f"{word.opcode!r} has no numeric meaning; run it on symbols"
            raise InputError(configuration.kernel, word.operation, fault)
        least, most = ARITY[word.opcode]
        if not least <= len(word.read) <= most:
            fault = f"{word.opcode!r} has {len(word.read)} operands; give it {least} to {most}"
            raise InputError(configuration.kernel, word.operation, fault)
        if word.opcode in ("load", "store") and word.array not in memory:
            fault = f"there is no array {word.array!r} in memory; give its words"
            raise InputError(configuration.kernel, word.operation, fault)


class _Array:
    """The state of the array while it runs: registers, results under way, and memory."""

    def __init__(
        self,
        configuration: Configuration,
        machine: CgraMachine,
        memory: Mapping[str, NDArray[Any]],
        trip_count: int,
        values: Values,
    ) -> None:
        self.configuration, self.trip_count, self.values = configuration, trip_count, values
        self.memory: Memory = {name: words.copy() for name, words in memory.items()}
        self.violations = dict.fromkeys(conflicts(configuration, machine))
        own = machine.register_file.registers
        self.shared_from = maxsize if machine.shared_register_file is None else own
        self.held: dict[Place, Number] = {}
        self.under_way: dict[int, list[tuple[Word, Number]]] = defaultdict(list)
        self.stored: dict[tuple[str, int], Number] = {}
        self.trace: dict[str, list[Number]] = defaultdict(list)
        self.pes = len(machine.all_pes)
        # Words are told apart by what they are here: two may be equal.
        self.executed: Counter[int] = Counter()
        self.executed_last: Counter[int] = Counter()
        self.given: Counter[tuple[int, int]] = Counter()
        self.given_last: Counter[tuple[int, int]] = Counter()

    def run(self) -> Run:
        ii = self.configuration.ii
        slots = [self._in_order(slot) for slot in range(ii)]
        repetitions = self.trip_count + self.configuration.stages - 1
        for repetition in range(repetitions):
            for slot, words in enumerate(slots):
                self._cycle(repetition * ii + slot, repetition, words)
        cycles = repetitions * ii
        drain = max(self.under_way, default=cycles) - cycles
        activity = counted(self._tallies(self.executed, self.given), cycles, self.pes)
        last = counted(self._tallies(self.executed_last, self.given_last), ii, self.pes)
        return Run(cycles, activity, last, drain, self.memory, tuple(self.violations), dict(self.trace))

    def _tallies(self, executed: Counter[int], given: Counter[tuple[int, int]]) -> Iterator[Tally]:
        for word in self.configuration.words:
            firsts = [given[id(word), operand.position] for operand in word.read]
            yield word, executed[id(word)], firsts

    def _in_order(self, slot: int) -> list[Word]:
        """The words of a slot; one whose result is ready in the cycle of its issue before those that read it."""
        words = [word for word in self.configuration.words if word.slot == slot]
        before: dict[int, list[int]] = {at: [] for at in range(len(words))}
        for at, reader in enumerate(words):
            places = {self._place(operand, reader) for operand in reader.read}
            for other, writer in enumerate(words):
                if writer.latency == 0 and places & set(self._written(writer)):
                    before[at].append(other)
        try:
            return [words[at] for at in TopologicalSorter(before).static_order()]
        except CycleError:
            self._violate("no result is needed for itself in its own cycle", f"slot {slot}")
            return words

    def _cycle(self, cycle: int, repetition: int, words: list[Word]) -> None:
        for word, result in self.under_way.pop(cycle, ()):
            self._write(word, result)
        for word in words:
            iteration = repetition - word.stage
            if 0 <= iteration < self.trip_count:
                result = self._execute(word, iteration)
                if word.latency:
                    self.under_way[cycle + word.latency].append((word, result))
                else:
                    self._write(word, result)
        for (array, index), value in self.stored.items():
            words_of = self.memory[array]
            words_of[index] = fitting(value, words_of.dtype)
        self.stored.clear()

    def _write(self, word: Word, result: Number) -> None:
        for place in self._written(word):
            self.held[place] = result

    def _execute(self, word: Word, iteration: int) -> Number:
        self.executed[id(word)] += 1
        if iteration == self.trip_count - 1:
            self.executed_last[id(word)] += 1
        operands = tuple([self._operand(operand, word, iteration) for operand in word.operands])
        if word.operation is None:
            return operands[0]
        predicate = None if word.predicate is None else self._operand(word.predicate, word, iteration)
        if self.values == "symbols":
            switched = operands if predicate is None else (*operands, predicate)
            result: Number = symbol(word.operation, word.opcode, iteration, switched)
            self.trace[word.operation].append(result)
            return result
        if word.opcode in ("load", "store"):
            return 0 if predicate == 0 else self._access(word, operands)
        return evaluate(word.opcode, operands)

    def _operand(self, operand: Operand, word: Word, iteration: int) -> Number:
        if isinstance(operand, Immediate):
            return operand.value
        assert not isinstance(operand, LiveIn)
        if iteration < len(operand.initial):
            self.given[id(word), operand.position] += 1
            if iteration == self.trip_count - 1:
                self.given_last[id(word), operand.position] += 1
            first = operand.initial[iteration]
            assert not isinstance(first, LiveInName)
            return first
        value = self.held.get(self._place(operand, word))
        if value is None:
            self._violate("only what was written is read", f"{named(word)}, operand {operand.position}")
            return 0
        return value

    def _access(self, word: Word, operands: tuple[Number, ...]) -> Number:
        """What a load reads; a store's word is kept until the loads of its cycle are done."""
        array, index = word.array or "", int(operands[0]) + word.offset
        words = self.memory[array]
        if not 0 <= index < len(words):
            self._violate("accesses lie inside their arrays", f"{named(word)}: {array}[{index}]")
            return 0
        if word.opcode == "store":
            if (array, index) in self.stored:
                self._violate("one store per memory word and cycle", f"{named(word)}: {array}[{index}]")
            self.stored[array, index] = operands[1]
            return 0
        read = words[index]
        return float(read) if words.dtype.kind == "f" else int(read)

    def _violate(self, rule: str, place: str) -> None:
        self.violations[Violation(rule, place)] = None

    def _place(self, operand: Operand, word: Word) -> Place:
        if isinstance(operand, Register):
            return self._register(operand.register_number, word)
        return (operand.pe, None) if isinstance(operand, Output) else (SHARED, None)

    def _register(self, number: int, word: Word) -> Place:
        return (word.pe if number < self.shared_from else SHARED, number)

    def _written(self, word: Word) -> list[Place]:
        registers = [self._register(register, word) for register in word.registers]
        return [(word.pe, None), *registers] if word.output else registers
