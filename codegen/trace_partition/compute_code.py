"""Compute objects as nested loops of vector instructions [Chang2018, sec. 4]."""

from __future__ import annotations

from collections.abc import Callable

from mapper.arch.snowflake import TABLE_WORDS
from mapper.codegen.trace_partition.register import NOP, Number, Piece, RegisterFile
from mapper.models.trace_partition.isa.instruction import (
    CLIP,
    COOP_MOVE,
    MAX_START,
    MAX_TABLE,
    REACH,
    RELU,
    START_SHIFT,
    TABLE_MOVE,
    WIDE,
    WRITE,
    Instruction,
    MacMode,
    Move,
    Operation,
    Start,
)
from mapper.models.trace_partition.steps.loop_nest import LoopNest, Symbol, loop_nest
from mapper.models.trace_partition.steps.step import ComputeObject

_MODES = {"coop": MacMode.COOP, "indp": MacMode.INDP, "lane": MacMode.LANE}


def compute_code(o: ComputeObject, registers: RegisterFile, emit: Callable[[Piece], None]) -> None:
    """Emits the loops of ``o``, after what its registers need."""
    _ObjectWriter(o, loop_nest(o), registers).write(emit)


class _ObjectWriter:
    def __init__(self, o: ComputeObject, nest: LoopNest, registers: RegisterFile) -> None:
        self._o, self._nest, self._registers = o, nest, registers
        self._own = {
            pointer.name: registers.own(Number(pointer.start))
            for pointer in nest.pointers
            if pointer.name in nest.changed
        }
        self._register = {"": 0, **self._own}
        for pointer in nest.pointers:
            if pointer.name not in nest.changed:
                self._register[pointer.name] = self._constant(pointer.start)
        self._length = [self._constant(trace.length) for trace in o.traces]
        self._extent = self._constant(o.extent)
        mapped = o.operation == "table" and o.bias is not None
        self._table_words = self._constant(TABLE_WORDS) if mapped else 0
        far = {
            symbol.number for segment in nest.segments for symbol in segment if abs(symbol.number) >= REACH
        }
        self._far = {number: self._constant(number % (1 << 32)) for number in sorted(far)}

    def _constant(self, value: int) -> int:
        register = self._registers.holding(Number(value))
        self._registers.pin(register)
        return register

    def write(self, emit: Callable[[Piece], None]) -> None:
        for segment in self._nest.segments:
            emit(Piece(tuple(self._instruction(symbol) for symbol in segment)))
        for name, register in self._own.items():
            if name in self._nest.final:
                self._registers.settle(register, Number(self._nest.final[name]))
            else:
                self._registers.free(register)
        self._registers.release()

    def _instruction(self, symbol: Symbol) -> Instruction:
        register = self._register[symbol.pointer]
        match symbol.kind:
            case "trace":
                return self._product(symbol) if self._o.operation == "mac" else self._maximum(symbol.number)
            case "add" if symbol.number in self._far:
                return Instruction(Operation.ADD, register, register, self._far[symbol.number])
            case "add":
                return Instruction(Operation.ADDI, register, register, immediate=symbol.number)
            case "set":
                return Instruction(Operation.ADDI, register, 0, immediate=symbol.number)
            case "branch":
                return Instruction(
                    Operation.BNE, register, self._register[symbol.end], immediate=symbol.number
                )
            case "nop":
                return NOP
            case "clip":
                low, high = self._register["low"], self._register["high"]
                return Instruction(Operation.VMOV, b=low, c=high, flags=Move.CLIP)
            case "bias" if self._o.operation == "table":
                words = self._table_words
                return Instruction(Operation.VMOV, b=self._register["bias"], c=words, flags=TABLE_MOVE)
            case "bias":
                return self._move("bias", Move.BIAS)
            case "initial":
                return self._move("initial", Move.PARTIAL if self._o.initial_wide else Move.ADD)

    def _move(self, pointer: str, kind: Move) -> Instruction:
        flags = kind | (COOP_MOVE if self._o.mode == "coop" else 0)
        return Instruction(Operation.VMOV, b=self._register[pointer], c=self._extent, flags=flags)

    def _product(self, symbol: Symbol) -> Instruction:
        o, number = self._o, symbol.number
        start = Start.CONTINUE
        if number == 0:
            start = Start.BIAS if o.initial is None else Start.INITIAL
        flags, out = _MODES[o.mode] | start << START_SHIFT, 0
        if number == len(o.traces) - 1:
            flags |= WRITE | (WIDE if o.wide else 0) | self._activation
            out = self._register["out"]
        maps, weights = self._register["maps"], self._register[symbol.pointer]
        return Instruction(Operation.MAC, out, maps, weights, self._length[number], flags)

    @property
    def _activation(self) -> int:
        return (RELU if self._o.relu else 0) | (CLIP if self._o.clip is not None else 0)

    def _maximum(self, number: int) -> Instruction:
        o = self._o
        flags, out = MAX_START if number == 0 else 0, 0
        flags |= MAX_TABLE if o.operation == "table" else 0
        if number == len(o.traces) - 1:
            flags |= WRITE | self._activation
            out = self._register["out"]
        return Instruction(Operation.MAX, out, self._register["maps"], self._length[number], flags=flags)
