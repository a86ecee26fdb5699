"""The nested loops of a compute object as instructions without registers [Chang2018, sec. 4]: blocks, in it rows, in it
columns, in it the accumulate loop. The code generator gives them registers, the cost model counts them.

The accumulate loop is unrolled while it is short; loops of one turn are left out; the two delay slots of a branch take
the last instructions of its turn.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal

from mapper.models.trace_partition.isa.instruction import DELAY_SLOTS
from mapper.models.trace_partition.steps.step import ComputeObject

MOST_UNROLLED = 40
"""Traces beyond this number become loops where their addresses and lengths allow it."""
LEAST_RUN = 4
"""So many traces of equal distance are a loop."""
MOST_WEIGHT_REGISTERS = 16
"""So many addresses of weights stay in registers of their own; more are reached by adding."""


@dataclass(frozen=True, slots=True)
class Pointer:
    """A number in a register: its first value, and how much a turn of blocks, rows and columns adds to it."""

    name: str
    start: int
    growth: tuple[int, int, int] = (0, 0, 0)


@dataclass(frozen=True, slots=True)
class Symbol:
    """An instruction: ``clip``, ``bias`` and ``initial`` are VMOV, ``trace`` the vector instruction of trace ``number``
    (its weights at ``pointer``), ``add`` adds ``number`` to ``pointer``, ``set`` sets it to ``number``, ``branch`` goes
    ``number`` instructions on while ``pointer`` is not ``end`` (none: 0), ``nop`` does nothing."""

    kind: Literal["clip", "bias", "initial", "trace", "add", "set", "branch", "nop"]
    pointer: str = ""
    number: int = 0
    end: str = ""


Segment = tuple[Symbol, ...]
"""One instruction, or a loop with all it holds."""


@dataclass(frozen=True)
class LoopNest:
    """``segments`` one after another; ``pointers``: all that the instructions name, ``final``: what those that change
    hold after the last segment."""

    segments: tuple[Segment, ...]
    pointers: tuple[Pointer, ...]
    final: dict[str, int]

    @cached_property
    def changed(self) -> frozenset[str]:
        """The pointers that instructions change."""
        symbols = (symbol for segment in self.segments for symbol in segment)
        return frozenset(symbol.pointer for symbol in symbols if symbol.kind in ("add", "set"))

    @property
    def instructions(self) -> int:
        return sum(len(segment) for segment in self.segments)


@lru_cache(maxsize=1 << 10)
def loop_nest(o: ComputeObject) -> LoopNest:
    """The loops of ``o``."""
    return _Nest(o).whole()


class _Nest:
    def __init__(self, o: ComputeObject) -> None:
        self._o = o
        self._loops = (o.blocks, o.rows, o.columns)
        mac = o.operation == "mac"
        self._weights = _weight_names(o) if mac else ("",) * len(o.traces)
        self._pointers: dict[str, Pointer] = {}
        first = o.traces[0]
        self._point("out", o.out, "out")
        self._point("maps", o.maps + first.maps, "maps")
        if mac:
            for name, trace in zip(self._weights, o.traces, strict=True):
                if name not in self._pointers:
                    self._point(name, o.weights + trace.weights, "weights")
        if o.bias is not None:
            self._point("bias", o.bias, "bias")
        if o.initial is not None:
            self._point("initial", o.initial, "initial")
        if o.clip is not None:
            low, high = (limit % (1 << 16) for limit in o.clip)
            self._pointers |= {"low": Pointer("low", low), "high": Pointer("high", high)}
        self._moved: dict[str, int] = {}

    def _point(self, name: str, start: int, grows: str) -> None:
        growth = tuple(getattr(loop, grows) if loop.count > 1 else 0 for loop in self._loops)
        self._pointers[name] = Pointer(name, start, (growth[0], growth[1], growth[2]))

    def whole(self) -> LoopNest:
        segments: list[Segment] = [] if self._o.clip is None else [(Symbol("clip"),)]
        segments += self._level(0)
        pointers = tuple(self._pointers.values())
        final = {name: self._pointers[name].start + moved for name, moved in self._moved.items()}
        return LoopNest(tuple(segments), pointers, final)

    def _level(self, level: int) -> list[Segment]:
        if level == len(self._loops):
            return self._point_code()
        body: list[Segment] = [(Symbol("bias"),)] if level == 0 and self._o.bias is not None else []
        body += self._level(level + 1)
        count = self._loops[level].count
        if count == 1:
            return body
        compared = self._compared(level)
        added: list[Segment] = [
            (Symbol("add", name, pointer.growth[level] - self._moved.get(name, 0)),)
            for name, pointer in self._pointers.items()
            if pointer.growth[level] != self._moved.get(name, 0) and name != compared.name
        ]
        rest = compared.growth[level] - self._moved.get(compared.name, 0)
        if rest:
            added.append((Symbol("add", compared.name, rest),))
        for name, pointer in self._pointers.items():
            if pointer.growth[level] or name in self._moved:
                self._moved[name] = count * pointer.growth[level]
        return [self._loop(level, body + added, compared)]

    def _compared(self, level: int) -> Pointer:
        """The pointer whose value ends the loop: one that grows, best only in this loop, else a counter."""
        growing = [pointer for pointer in self._pointers.values() if pointer.growth[level]]
        if growing:
            return min(growing, key=lambda pointer: sum(map(bool, pointer.growth[:level])))
        growth = [0, 0, 0]
        growth[level] = 1
        counter = Pointer(f"turn {level}", 0, (growth[0], growth[1], growth[2]))
        self._pointers[counter.name] = counter
        return counter

    def _loop(self, level: int, body: list[Segment], compared: Pointer) -> Segment:
        """The turn with its branch before the last two instructions, as far as these are none of an inner loop."""
        slots: list[Symbol] = []
        while len(slots) < DELAY_SLOTS and body and len(body[-1]) == 1:
            slots.insert(0, body.pop()[0])
        beyond = sum(slot.number for slot in slots if slot.kind == "add" and slot.pointer == compared.name)
        slots += [Symbol("nop")] * (DELAY_SLOTS - len(slots))
        last = compared.start + self._loops[level].count * compared.growth[level] - beyond
        growth = [*compared.growth[:level], 0, 0, 0]
        end = Pointer(f"end {level}", last, (growth[0], growth[1], growth[2]))
        self._pointers[end.name] = end
        turn = [symbol for segment in body for symbol in segment]
        return (*turn, Symbol("branch", compared.name, -len(turn), end.name), *slots)

    def _point_code(self) -> list[Segment]:
        o, code = self._o, list[Segment]()
        if o.initial is not None:
            code.append((Symbol("initial"),))
        position = 0
        count = len(o.traces)
        while position < count:
            self._go_to(position, code)
            turns = self._run(position) if count > MOST_UNROLLED and position else 1
            if turns >= LEAST_RUN:
                code += self._accumulate(position, turns)
                position += turns
            else:
                code.append((Symbol("trace", self._weights[position], position),))
                position += 1
        return code

    def _go_to(self, position: int, code: list[Segment]) -> None:
        """Addresses of the trace at ``position``."""
        traces = self._o.traces
        self._add("maps", traces[position].maps - traces[0].maps, code)
        if self._weights[position] == "weights":
            self._add("weights", traces[position].weights - traces[0].weights, code)

    def _add(self, name: str, offset: int, code: list[Segment]) -> None:
        moved = self._moved.get(name, 0)
        if offset != moved:
            code.append((Symbol("add", name, offset - moved),))
            self._moved[name] = offset

    def _run(self, position: int) -> int:
        """How many traces from ``position`` on, without the last of all, have equal distances and lengths."""
        traces = self._o.traces
        first, second = traces[position], traces[min(position + 1, len(traces) - 1)]
        maps, weights = second.maps - first.maps, second.weights - first.weights
        turns = 1
        while position + turns < len(traces) - 1:
            trace = traces[position + turns]
            if trace != replace(
                first, maps=first.maps + turns * maps, weights=first.weights + turns * weights
            ):
                break
            turns += 1
        return turns

    def _accumulate(self, position: int, turns: int) -> list[Segment]:
        """Traces of equal distance as a loop with a counter of its own."""
        first, second = self._o.traces[position : position + 2]
        maps, weights = second.maps - first.maps, second.weights - first.weights
        self._pointers.setdefault("run", Pointer("run", 0))
        turn = [Symbol("trace", self._weights[position], position)]
        added = [Symbol("add", "maps", maps)] if maps else []
        if weights and self._weights[position] == "weights":
            added.append(Symbol("add", "weights", weights))
            self._moved["weights"] = self._moved.get("weights", 0) + turns * weights
        if maps:
            self._moved["maps"] = self._moved.get("maps", 0) + turns * maps
        added.append(Symbol("add", "run", -1))
        turn += added[:-DELAY_SLOTS]
        slots = added[-DELAY_SLOTS:]
        slots += [Symbol("nop")] * (DELAY_SLOTS - len(slots))
        return [
            (Symbol("set", "run", turns - 1),),
            (*turn, Symbol("branch", "run", -len(turn)), *slots),
        ]


def _weight_names(o: ComputeObject) -> tuple[str, ...]:
    """Each trace's register of its weights' address: its own while there are enough, else one for all."""
    distinct = {trace.weights for trace in o.traces}
    lengths = len({trace.length for trace in o.traces})
    if len(o.traces) > MOST_UNROLLED or len(distinct) + lengths > MOST_WEIGHT_REGISTERS:
        return ("weights",) * len(o.traces) if len(distinct) > 1 else ("weights 0",) * len(o.traces)
    return tuple(f"weights {trace.weights}" for trace in o.traces)
