"""What was done, from how often each configuration word was executed and how often its operands were given values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from mapper.models.modulo_schedule.activity import ACCESSES, Activity
from mapper.models.modulo_schedule.configuration.word import Output, Register, Word

Tally = tuple[Word, int, Sequence[int]]
"""A word, how often it was executed, and for each of its operands how often that was one of its first values."""


def counted(tallies: Iterable[Tally], cycles: int, pes: int) -> Activity:
    """The activity of an array of ``pes`` PEs in ``cycles``, in each of which every PE reads a configuration word."""
    operations: Counter[str] = Counter()
    routed = registers = accesses = 0
    for word, executed, given in tallies:
        operations[word.opcode] += executed
        registers += executed * len(word.registers)
        if word.opcode in ACCESSES:
            accesses += executed
        for operand, first in zip(word.read, given, strict=True):
            if isinstance(operand, Register):
                registers += executed - first
            if isinstance(operand, Output) and operand.pe != word.pe:
                routed += executed - first
    return Activity(cycles, tuple(sorted(operations.items())), routed, registers, accesses, cycles * pes)
