"""The time of compute objects: vector unit, issue of instructions, conflicts at the port of Buf, size of the code."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mapper.arch.snowflake import LANES
from mapper.arch.snowflake import Timing as Constants
from mapper.models.trace_partition.steps.step import ComputeObject
from mapper.models.trace_partition.timing import vector_time as table
from mapper.models.trace_partition.timing.object_code import ObjectCode, object_code

_KINDS = {"coop": table.COOP, "indp": table.INDP, "lane": table.LANE}
_OPERATIONS = {"max": table.MAXIMUM, "table": table.TABLE}
_USUAL = Constants()


@dataclass(frozen=True)
class Timing:
    """Cycles of compute objects one after another.

    ``vector``: the vector unit at work; ``conflict``: it waits for a result to drain; ``issue``: from the first
    instruction's issue to after the last one's; ``cycles``: from the first instruction's issue until all results are
    in Buf; ``instructions``: static, in memory.
    """

    vector: int
    issue: int
    conflict: int
    cycles: int
    instructions: int


def compute_timing(o: ComputeObject, constants: Constants = _USUAL) -> Timing:
    """The time of one compute object, with all numbers in registers that its loops do not change."""
    return step_timing((o,), None, constants)


def step_timing(
    objects: tuple[ComputeObject, ...],
    registers: tuple[int, ...] | None = None,
    constants: Constants = _USUAL,
) -> Timing:
    """The time of compute objects one after another, with nothing awaited in between. ``registers``: instructions
    before each that bring numbers into registers (None: those that the object's loops change)."""
    aligned = tuple(_aligned(o) for o in objects)
    if registers is None:
        registers = tuple(aligned_code(o).owned for o in aligned)
    return _timed(aligned, registers, constants)


def code_of(o: ComputeObject) -> ObjectCode:
    """The instructions of ``o``, counted once for all objects of its shape."""
    return aligned_code(_aligned(o))


def _aligned(o: ComputeObject) -> ComputeObject:
    """``o`` at the first addresses of equal alignment: they make no difference in time."""
    return ComputeObject(
        o.operation,
        o.mode,
        o.maps % LANES,
        o.weights % LANES,
        o.out % LANES,
        None if o.bias is None else o.bias % LANES,
        None if o.initial is None else o.initial % LANES,
        o.initial_wide,
        o.extent,
        o.blocks,
        o.rows,
        o.columns,
        o.traces,
        o.wide,
        o.relu,
        o.clip,
    )


aligned_code = lru_cache(maxsize=1 << 14)(object_code)


@lru_cache(maxsize=1 << 14)
def _timed(objects: tuple[ComputeObject, ...], registers: tuple[int, ...], constants: Constants) -> Timing:
    rows, traces, first, static = [], [], [0], 0
    for o, loaded in zip(objects, registers, strict=True):
        code = aligned_code(o)
        static += loaded + code.static
        width = 2 if o.wide else 1
        read = o.extent if o.initial is not None else 0
        row = [
            _OPERATIONS.get(o.operation, _KINDS[o.mode]),
            *(o.maps, o.weights, o.out, o.bias or 0, o.initial or 0),
            *(o.bias_words, read * (2 if o.initial_wide else 1), o.extent * width),
        ]
        for loop in (o.blocks, o.rows, o.columns):
            row += [loop.count, loop.maps, loop.weights, loop.out, loop.bias, loop.initial]
        row += [loaded, code.before_bias, code.before_initial]
        row += [code.after_point, code.after_row, code.after_block, int(o.clip is not None)]
        rows.append(row)
        for trace, before in zip(o.traces, code.before_trace, strict=True):
            traces.append([trace.maps, trace.weights, trace.length, before])
        first.append(len(traces))
    if not rows:
        return Timing(0, 0, 0, 0, 0)
    issued, finished, busy, conflict = table.vector_time(
        np.array(rows, dtype=np.int64),
        np.array(first, dtype=np.int64),
        np.array(traces, dtype=np.int64),
        constants.vector_queue,
        constants.vector_latency,
        constants.table_words,
    )
    return Timing(busy, issued, conflict, max(issued, finished), static)
