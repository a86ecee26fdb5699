"""The number of instructions at each place of a compute object, so that their issue can be timed: counted in the
loops that the code generator writes (`models.trace_partition.loop_nest`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from mapper.arch.snowflake import TABLE_WORDS
from mapper.models.trace_partition.isa.instruction import DELAY_SLOTS
from mapper.models.trace_partition.steps.loop_nest import LoopNest, Symbol, loop_nest
from mapper.models.trace_partition.steps.step import ComputeObject

_VECTOR = ("clip", "bias", "initial", "trace")
_ENDS = ("end 2", "end 1", "end 0")


@dataclass(frozen=True)
class ObjectCode:
    """Scalar instructions at their places: before VMOV.BIAS, before the initial VMOV, before each trace's instruction,
    after a point, after a row, after a block; ``static``: all instructions in memory. Not among them is what brings
    numbers into registers before the object: ``owned`` that its loops change, and ``held``, that other objects may use
    as well, each counted from the object's address of that name (none: from 0).
    """

    owned: int
    held: tuple[tuple[str, int], ...]
    before_bias: int
    before_initial: int
    before_trace: tuple[int, ...]
    after_point: int
    after_row: int
    after_block: int
    static: int


def object_code(o: ComputeObject) -> ObjectCode:
    """The instructions of ``o``."""
    nest = loop_nest(o)
    before: dict[tuple[str, int], int] = {}
    after = dict.fromkeys(_ENDS, 0)
    waiting, loop, slots = 0, "", 0
    # Scalar instructions belong to the vector instruction after them, or else to the loop that ends with them.
    for symbol in _unrolled(nest):
        if symbol.kind in _VECTOR:
            before[symbol.kind, symbol.number] = waiting
            waiting = 0
        else:
            waiting += 1
        slots -= 1
        if symbol.kind == "branch":
            loop, slots = symbol.end, DELAY_SLOTS
        if slots == 0 and loop:
            after[loop] += waiting
            loop, waiting = "", 0
    changed = {symbol.pointer for symbol in _unrolled(nest) if symbol.kind in ("add", "set")}
    return ObjectCode(
        len(changed),
        _held(o, nest, changed),
        before.get(("bias", 0), 0),
        before.get(("initial", 0), 0),
        tuple(before["trace", number] for number in range(len(o.traces))),
        after["end 2"],
        after["end 1"],
        after["end 0"],
        nest.instructions,
    )


def _held(o: ComputeObject, nest: LoopNest, changed: set[str]) -> tuple[tuple[str, int], ...]:
    """What the instructions read in registers that they do not change."""
    compared = {
        symbol.end: symbol.pointer for symbol in _unrolled(nest) if symbol.kind == "branch" and symbol.end
    }
    lengths = [o.extent] if o.operation != "table" or o.bias is None else [o.extent, TABLE_WORDS]
    found = dict.fromkeys([("", length) for length in (*lengths, *(trace.length for trace in o.traces))])
    for pointer in nest.pointers:
        if pointer.name not in changed:
            base = compared.get(pointer.name, pointer.name).split()[0]
            start = getattr(o, base, None)
            found[(base, pointer.start - start) if start is not None else ("", pointer.start)] = None
    return tuple(found)


def _unrolled(nest: LoopNest) -> Iterator[Symbol]:
    """The instructions of one turn of blocks, rows and columns, in the order in which they are issued; accumulate
    loops, which begin where their counter is set, with all their turns."""
    code = [symbol for segment in nest.segments for symbol in segment]
    place = 0
    while place < len(code):
        symbol = code[place]
        yield symbol
        place += 1
        if symbol.kind != "set":
            continue
        start, place = (
            place,
            next(at for at in range(place, len(code)) if code[at].kind == "branch") + 1 + DELAY_SLOTS,
        )
        for turn in range(symbol.number + 1):
            for inner in code[start:place]:
                yield replace(inner, number=inner.number + turn) if inner.kind == "trace" else inner
