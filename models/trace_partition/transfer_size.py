"""How many instructions transfers take, in memory and issued, and when the last of them leaves the queue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mapper.arch.snowflake import LANES, WORD_BYTES
from mapper.models.trace_partition.instruction import REACH
from mapper.models.trace_partition.step import Transfer

LEAST_LOOP = 4
"""So many transfers of equal distance are a loop."""
LOOP_TURN = 4
"""Transfer, branch and its two delay slots."""


class TransferTime(NamedTuple):
    """``instructions`` in memory, cycles of ``issue``, and in 1 / scale cycles: time from the first of these cycles
    until the queue is done with the last transfer if nothing is before them, time that the queue works, how much of
    it for fills."""

    instructions: int
    issue: int
    alone: int
    service: int
    fill: int


def transfer_time(transfers: Sequence[Transfer], byte_time: int, scale: int) -> TransferTime:
    """The time of ``transfers`` one after another; a byte takes ``byte_time`` / ``scale`` cycles."""
    instructions, issue, alone, service, fill = 0, 0, 0, 0, 0
    start = 0
    while start < len(transfers):
        first = transfers[start]
        count = equal_distances(transfers, start)
        loop = count >= LEAST_LOOP
        count = count if loop else 1
        before = _registers(transfers, start, loop)
        instructions += before + (LOOP_TURN if loop else 1)
        issue += before
        if first.target == "fill":
            each = scale * first.count * ((first.local % LANES + first.words + LANES - 1) // LANES)
            fill += count * each
        else:
            each = byte_time * first.total_words * WORD_BYTES
        turn = LOOP_TURN if loop else 1
        # Of equal transfers at equal distances the first or the last to come decides when the queue is done.
        alone = max(
            alone + count * each,
            (issue + 1) * scale + count * each,
            (issue + 1 + (count - 1) * turn) * scale + each,
        )
        service += count * each
        issue += count * turn
        start += count
    return TransferTime(instructions, issue, alone, service, fill)


def _registers(transfers: Sequence[Transfer], start: int, loop: bool) -> int:
    """Instructions that bring addresses, size and pitches into registers: those that the transfer before has not."""
    this = transfers[start]
    if start == 0:
        return 4 + loop
    last = transfers[start - 1]
    changed = (this.local != last.local) + (this.memory != last.memory or this.tensor != last.tensor)
    changed += (this.count, this.words) != (last.count, last.words)
    changed += (this.local_pitch, this.memory_pitch) != (last.local_pitch, last.memory_pitch)
    return changed + loop


def equal_distances(transfers: Sequence[Transfer], start: int) -> int:
    """How many transfers from ``start`` on differ from each other by equal distances of their addresses alone, which an
    instruction can add."""
    if start + 1 >= len(transfers):
        return 1
    first, second = transfers[start], transfers[start + 1]
    local = second.local - first.local
    memory = 0 if first.target == "fill" else second.memory - first.memory
    if (local == 0 and memory == 0) or abs(memory) >= REACH:
        return 1
    same, count = _same(first), 1
    while start + count < len(transfers):
        other = transfers[start + count]
        if other.local != first.local + count * local:
            break
        if other.target != "fill" and other.memory != first.memory + count * memory:
            break
        if _same(other) != same:
            break
        count += 1
    return count


def _same(transfer: Transfer) -> tuple[object, ...]:
    """Everything about ``transfer`` but its addresses."""
    pitches = (transfer.local_pitch, transfer.memory_pitch, transfer.value)
    return (transfer.target, transfer.units, transfer.tensor, transfer.count, transfer.words, *pitches)
