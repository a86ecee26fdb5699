"""Transfers as the code generator writes them: those of equal distance become a loop [Chang2018, sec. 4]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mapper.arch.snowflake import LANES, UNITS, WORD_BYTES
from mapper.models.trace_partition.isa.instruction import REACH
from mapper.models.trace_partition.steps.step import Transfer

LEAST_LOOP = 4
"""So many transfers of equal distance are a loop."""
LOOP_TURN = 4
"""Transfer, branch and its two delay slots."""


class TransferGroup(NamedTuple):
    """One transfer, or ``turns`` of equal distance in a loop: the ``first``, and the distances of its addresses."""

    first: Transfer
    turns: int
    local: int
    memory: int

    @property
    def total_bytes(self) -> int:
        """Bytes that cross the external memory's port."""
        return self.turns * self.first.total_words * WORD_BYTES

    @property
    def buffer_words(self) -> int:
        """Words written in, or read from, buffers: those that go to all units four times."""
        each = self.first.count * self.first.words
        return self.turns * each * (UNITS if self.first.units == "all" else 1)

    @property
    def instructions(self) -> int:
        """In memory, registers apart."""
        return LOOP_TURN if self.turns > 1 else 1

    @property
    def fill_cycles(self) -> int:
        """Cycles of one transfer that fills; 0 for others."""
        first = self.first
        if first.target != "fill":
            return 0
        return first.count * ((first.local % LANES + first.words + LANES - 1) // LANES)


def transfer_groups(transfers: Sequence[Transfer]) -> tuple[TransferGroup, ...]:
    """``transfers`` in their order, in groups."""
    found, start = [], 0
    while start < len(transfers):
        first, turns = transfers[start], equal_distances(transfers, start)
        if turns >= LEAST_LOOP:
            second = transfers[start + 1]
            memory = 0 if first.target == "fill" else second.memory - first.memory
            found.append(TransferGroup(first, turns, second.local - first.local, memory))
            start += turns
        else:
            found.append(TransferGroup(first, 1, 0, 0))
            start += 1
    return tuple(found)


def equal_distances(transfers: Sequence[Transfer], start: int) -> int:
    """How many transfers from ``start`` on differ from each other by equal distances of their addresses alone, which an
    instruction can add."""
    if start + 1 >= len(transfers):
        return 1
    first, second = transfers[start], transfers[start + 1]
    local = second.local - first.local
    memory = 0 if first.target == "fill" else second.memory - first.memory
    if (local == 0 and memory == 0) or max(abs(local), abs(memory)) >= REACH:
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
