"""Words that are read and written in Buf and WBuf, for the energy."""

from __future__ import annotations

from mapper.arch.snowflake import LANES, UNITS, VMACS
from mapper.models.trace_partition.steps.step import ComputeObject


def object_words(o: ComputeObject) -> int:
    """Words that a compute object reads and writes in the buffers of all units: maps once for the four vMACs of a unit,
    weights for each of its MACs, what VMOV reads, and results."""
    blocks = o.blocks.count
    points = blocks * o.rows.count * o.columns.count
    length = sum(trace.length for trace in o.traces)
    weights = {"coop": VMACS * length, "indp": VMACS * LANES * length, "lane": length}[o.mode]
    words = points * (length + (weights if o.operation == "mac" else 0))
    words += points * o.extent * (2 if o.wide else 1)
    words += blocks * o.bias_words
    if o.initial is not None:
        words += points * o.extent * (2 if o.initial_wide else 1)
    return UNITS * words
