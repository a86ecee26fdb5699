"""How a compute object becomes nested loops of instructions: how many stand where, so that their issue can be timed.

The code generator writes exactly these (`codegen.trace_partition`), in this order:

- before the object: registers of its addresses, lengths and loop ends;
- a turn of blocks: VMOV.BIAS, then rows; a turn of rows: columns; a turn of columns: the point;
- a point: VMOV of the initial value, the traces with the growth of addresses between them, the loop's branch, whose two
  delay slots are filled from the growth of addresses.
"""

from __future__ import annotations

from dataclasses import dataclass

from mapper.models.trace_partition.step import ComputeObject


@dataclass(frozen=True)
class ObjectCode:
    """Scalar instructions at their places: before the object, before VMOV.BIAS, before the initial VMOV, before each
    trace's instruction, after a point, after a row, after a block; ``static``: all instructions in memory."""

    prologue: int
    before_bias: int
    before_initial: int
    before_trace: tuple[int, ...]
    after_point: int
    after_row: int
    after_block: int
    static: int


def object_code(o: ComputeObject) -> ObjectCode:
    """The instructions of ``o``."""
    traces = len(o.traces)
    after_point = 4 if o.columns.count > 1 else 0
    after_row = 5 if o.rows.count > 1 else 0
    after_block = 6 if o.blocks.count > 1 else 0
    before = (0,) + (1,) * (traces - 1)
    vectors = traces + (o.bias is not None) + (o.initial is not None)
    prologue = 12
    return ObjectCode(
        prologue,
        0,
        0,
        before,
        after_point,
        after_row,
        after_block,
        prologue + vectors + sum(before) + after_point + after_row + after_block,
    )
