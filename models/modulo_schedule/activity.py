"""What a CGRA does while a mapping runs, counted: what its energy is made of.

A PE's own output register is part of the PE: what it reads there or writes there is no action of its own. Every cycle
of the array reads a configuration word for each of its PEs. A load or store that its predicate switches off counts as
one, since only the data decide.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields
from typing import Any

from mapper.arch.cgra import CgraMachine
from mapper.models.modulo_schedule.configuration.word import Configuration, Output, Register

ACCESSES = ("load", "store")


@dataclass(frozen=True)
class Activity:
    """Actions: ``cycles`` of any sort, operations and moves on PEs by opcode (sorted), words routed from other PEs,
    words read from and written to register files, memory and the configuration memory, and cycles in VLIW mode."""

    cycles: int = 0
    operations: tuple[tuple[str, int], ...] = ()
    routed_words: int = 0
    register_accesses: int = 0
    memory_accesses: int = 0
    configuration_words: int = 0
    vliw_cycles: int = 0

    def __add__(self, other: Activity) -> Activity:
        counted = Counter(dict(self.operations))
        counted.update(dict(other.operations))
        sums = {name: getattr(self, name) + getattr(other, name) for name in _SINGLE}
        return Activity(operations=tuple(sorted(counted.items())), **sums)

    def times(self, count: int) -> Activity:
        """All of it ``count`` times."""
        operations = tuple((opcode, count * each) for opcode, each in self.operations)
        return Activity(operations=operations, **{name: count * getattr(self, name) for name in _SINGLE})

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _SINGLE} | {"operations": dict(self.operations)}


_SINGLE = tuple(field.name for field in fields(Activity) if field.name != "operations")


def run_activity(configuration: Configuration, machine: CgraMachine, iterations: int) -> Activity:
    """What the array does in one run of ``configuration``: each word once an iteration, with given values in place of
    what would come from before the first one."""
    cycles = (iterations + configuration.stages - 1) * configuration.ii
    operations: Counter[str] = Counter()
    routed = registers = 0
    for word in configuration.words:
        operations[word.opcode] += iterations
        registers += iterations * len(word.registers)
        for operand in word.read:
            if isinstance(operand, Register):
                registers += max(0, iterations - len(operand.initial))
            elif isinstance(operand, Output) and operand.pe != word.pe:
                routed += max(0, iterations - len(operand.initial))
    return Activity(
        cycles,
        tuple(sorted(operations.items())),
        routed,
        registers,
        sum(operations[opcode] for opcode in ACCESSES),
        cycles * len(machine.all_pes),
    )
