"""Configuration words as tables of numbers, which the engine follows.

Everything that a word can read lies in one array of 32-bit *values*: output registers and registers of all PEs,
then the constants, live-ins and first values of the words' operands. Floats lie there as their bits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mapper.arch.cgra import CgraMachine
from mapper.models.modulo_schedule.configuration.word import (
    Configuration,
    First,
    Immediate,
    LiveIn,
    LiveInName,
    Operand,
    Register,
    Word,
)
from mapper.sim.modulo_schedule.conflict import conflicts
from mapper.workloads.document import InputError
from mapper.workloads.graph.dataflow_graph import Number
from mapper.workloads.graph.opcode import ARITY as ARITY_OF
from mapper.workloads.graph.opcode import FLOAT_COMPARISONS, FLOAT_OPERATIONS

Integers = npt.NDArray[np.int64]
Bits = npt.NDArray[np.int32]

OPCODES = (
    "load", "store", "move", "mov", "select", "add", "sub", "mul", "lt", "le", "gt", "ge", "eq", "ne",
    "fadd", "fsub", "fmul", "fdiv", "fmax", "fmin",
)  # fmt: skip
"""What the engine executes; the position is the number of an opcode in a table."""
ARITY = {**ARITY_OF, "move": (1, 1)}
NUMBERS = {opcode: number for number, opcode in enumerate(OPCODES)}
MOST_OPERANDS = 3
OPCODE, STAGE, OFFSET, ARRAY, RESULT, MASK, PREDICATE = range(7)
"""What is known of a word: opcode, stage, displacement, number of its array, where its results under way lie, how
many do (less one: the number is a power of two), and which operand switches it off (0: none). Then follow three
for each operand."""
FIRST_OPERAND = 7
"""Per operand: where its value lies, where its first values begin, and how many there are."""
COLUMNS = FIRST_OPERAND + 3 * MOST_OPERANDS


@dataclass(frozen=True)
class Encoded:
    """A kernel in numbers.

    ``words`` (column, word), ordered by slot, ``issues`` (II + 1,) where each slot's begin. ``landings`` (3, n)
    are word, repetitions since its issue, and place that its result is written to, ordered by slot, ``landed`` (II
    + 1,) where each slot's begin. From repetition ``warm`` on all words are active, beyond their first values, and
    so are those whose results land. ``values`` (n,) as they are before a start; ``patches`` (n, 2) say which
    live-in goes where. ``arrays`` and ``live_ins`` are the names that the numbers stand for.
    """

    ii: int
    stages: int
    warm: int
    words: Integers
    issues: Integers
    landings: Integers
    landed: Integers
    values: Bits
    results: int
    patches: Integers
    arrays: tuple[str, ...]
    live_ins: tuple[str, ...]


def encoded(configuration: Configuration, machine: CgraMachine) -> Encoded:
    """The tables of ``configuration`` on ``machine``.

    Raises: InputError if the words use what the machine does not have or use something twice, or the engine does not
    execute an opcode.
    """
    for violation in conflicts(configuration, machine):
        remedy = f"breaks the rule {violation.rule!r} ({violation.place[:80]}); map its layer again"
        raise InputError(configuration.kernel, "words", remedy)
    return _Encoding(configuration, machine).tables()


def in_order(configuration: Configuration) -> list[Word]:
    """The words in the order of the tables' columns: by slot."""
    return sorted(configuration.words, key=lambda word: word.slot)


def bits(value: Number, is_float: bool) -> int:
    """The 32 bits of a number as a signed integer."""
    one = np.float32(value) if is_float else np.int64(value).astype(np.int32)
    return int(one.view(np.int32))


class _Encoding:
    def __init__(self, configuration: Configuration, machine: CgraMachine) -> None:
        self.configuration, self.machine = configuration, machine
        own = machine.register_file.registers
        self.pitch = 1 + own
        self.pes = {pe: number for number, pe in enumerate(machine.all_pes)}
        places = self.pitch * len(self.pes)
        self.shared_from = places
        if machine.shared_register_file is not None:
            places += machine.shared_register_file.registers
        self.values = [0] * places
        self.patches: list[tuple[int, int]] = []
        self.arrays: dict[str, int] = {}
        self.live_ins: dict[str, int] = {}

    def tables(self) -> Encoded:
        ii = self.configuration.ii
        words = in_order(self.configuration)
        rows, results = [], 0
        landings: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
        for number, word in enumerate(words):
            depth = 1 << (word.latency // ii + 1).bit_length()
            rows.append(self._row(word, results, depth - 1))
            results += depth
            ready = word.slot + word.latency
            for place in self._written(word):
                landings[ready % ii].append((number, ready // ii, place))
        issues = np.searchsorted([word.slot for word in words], np.arange(ii + 1))
        ordered = [landing for slot in range(ii) for landing in landings[slot]]
        landed = np.cumsum([0, *(len(landings[slot]) for slot in range(ii))])
        firsts = max(
            (row[FIRST_OPERAND + 3 * at + 2] for row in rows for at in range(MOST_OPERANDS)), default=0
        )
        since = max((landing[1] for landing in ordered), default=0)
        return Encoded(
            ii,
            self.configuration.stages,
            self.configuration.stages - 1 + max(firsts, since),
            np.ascontiguousarray(_table(rows, COLUMNS).T),
            issues.astype(np.int64),
            np.ascontiguousarray(_table(ordered, 3).T),
            landed.astype(np.int64),
            np.array(self.values, np.int32),
            results,
            _table(self.patches, 2),
            tuple(self.arrays),
            tuple(self.live_ins),
        )

    def _row(self, word: Word, result: int, mask: int) -> list[int]:
        if word.opcode not in NUMBERS or word.latency < 1 or len(word.read) > MOST_OPERANDS:
            remedy = f"{word.opcode!r} is not executed here; run the kernel cycle by cycle"
            raise InputError(self.configuration.kernel, word.operation or "", remedy)
        array = -1 if word.array is None else self.arrays.setdefault(word.array, len(self.arrays))
        if not ARITY[word.opcode][0] <= len(word.read) <= ARITY[word.opcode][1]:
            raise InputError(
                self.configuration.kernel, word.operation or "", f"has {len(word.read)} operands"
            )
        predicate = 0 if word.predicate is None else len(word.operands)
        row = [NUMBERS[word.opcode], word.stage, word.offset, array, result, mask, predicate]
        floats = word.opcode in FLOAT_OPERATIONS or word.opcode in FLOAT_COMPARISONS
        for operand in word.read:
            row += self._operand(operand, word, floats)
        return row + [0] * (COLUMNS - len(row))

    def _operand(self, operand: Operand, word: Word, floats: bool) -> tuple[int, int, int]:
        if isinstance(operand, Immediate):
            return self._given(operand.value, floats), 0, 0
        if isinstance(operand, LiveIn):
            return self._given(LiveInName(live_in=operand.name), floats), 0, 0
        if isinstance(operand, Register):
            place = self._register(operand.register_number, word)
        else:
            place = self.pes[operand.pe] * self.pitch
        first = len(self.values)
        for value in operand.initial:
            self._given(value, floats)
        return place, first, len(operand.initial)

    def _given(self, value: First, floats: bool) -> int:
        place = len(self.values)
        if isinstance(value, LiveInName):
            self.patches.append((self.live_ins.setdefault(value.live_in, len(self.live_ins)), place))
            self.values.append(0)
        else:
            self.values.append(bits(value, floats or isinstance(value, float)))
        return place

    def _register(self, number: int, word: Word) -> int:
        own = self.machine.register_file.registers
        if self.machine.is_shared(number):
            return self.shared_from + number - own
        return self.pes[word.pe] * self.pitch + 1 + number

    def _written(self, word: Word) -> list[int]:
        registers = [self._register(number, word) for number in word.registers]
        return [self.pes[word.pe] * self.pitch, *registers] if word.output else registers


def _table(rows: Iterable[Iterable[int]], columns: int) -> Integers:
    return np.array([list(row) for row in rows], np.int64).reshape(-1, columns)
