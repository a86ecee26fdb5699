"""What the words of a configuration would use twice, or use though the array does not have it.

Every word recurs every II cycles, so that two words conflict in some cycle exactly if they do modulo II (as soon
as the loop runs long enough for both to be active).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mapper.arch.cgra import CgraMachine
from mapper.models.modulo_schedule.configuration.word import Configuration, Output, Register, Word

Pe = tuple[int, int]


@dataclass(frozen=True, order=True)
class Violation:
    """A rule of the array that the words break, and where."""

    rule: str
    place: str

    def to_json(self) -> dict[str, str]:
        return {"rule": self.rule, "place": self.place}


def conflicts(configuration: Configuration, machine: CgraMachine) -> tuple[Violation, ...]:
    """Double uses of PEs, output registers, registers and ports; missing PEs, units, links and registers."""
    found = [violation for word in configuration.words for violation in _missing(word, machine)]
    found += _shared(configuration, machine)
    return tuple(dict.fromkeys(found))


def named(word: Word) -> str:
    """A word as people find it in the listing."""
    return f"{word.operation or word.opcode} at PE {list(word.pe)}, slot {word.slot}"


def _missing(word: Word, machine: CgraMachine) -> Iterator[Violation]:
    """Parts that one word uses and the array lacks."""
    pes = frozenset(machine.all_pes)
    if word.pe not in pes:
        yield Violation("PE exists", named(word))
        return
    if word.operation is not None and not machine.can_execute(word.pe, word.opcode):
        yield Violation("PE has the unit", f"{named(word)}: {word.opcode}")
    registers = [(operand.register_number) for operand in word.read if isinstance(operand, Register)]
    for register in (*registers, *word.registers):
        if machine.is_shared(register) and word.pe not in machine.sharing:
            yield Violation("PE is connected to the shared registers", f"{named(word)}: R{register}")
        elif register >= machine.registers_of(word.pe):
            yield Violation("register exists", f"{named(word)}: R{register}")
    for operand in word.read:
        if isinstance(operand, Output) and (
            operand.pe not in pes or word.pe not in machine.readers[operand.pe]
        ):
            yield Violation("link exists", f"{named(word)} reads PE {list(operand.pe)}")


def _shared(configuration: Configuration, machine: CgraMachine) -> Iterator[Violation]:
    """Parts that words use together beyond what there is."""
    ii = configuration.ii
    slots: dict[tuple[Pe, int], list[Word]] = defaultdict(list)
    outputs: dict[tuple[Pe, int], list[Word]] = defaultdict(list)
    registers: dict[tuple[Pe | None, int, int], list[Word]] = defaultdict(list)
    writes: dict[tuple[Pe | None, int], int] = defaultdict(int)
    reads: dict[tuple[Pe | None, int], set[int]] = defaultdict(set)
    accesses: dict[int, int] = defaultdict(int)
    for word in configuration.words:
        ready = (word.slot + word.latency) % ii
        slots[word.pe, word.slot].append(word)
        if word.output:
            outputs[word.pe, ready].append(word)
        for register in word.registers:
            file = None if machine.is_shared(register) else word.pe
            registers[file, register, ready].append(word)
            writes[file, ready] += 1
        for operand in word.read:
            if isinstance(operand, Register):
                file = None if machine.is_shared(operand.register_number) else word.pe
                reads[file, word.slot].add(operand.register_number)
        accesses[word.slot] += word.operation is not None and word.opcode in ("load", "store")
    yield from _twice("one word per PE and cycle", slots.values())
    yield from _twice("one result per output register and cycle", outputs.values())
    yield from _twice("one value per register and cycle", registers.values())
    for rule, used in (
        ("read ports", {where: len(numbers) for where, numbers in reads.items()}),
        ("write ports", writes),
    ):
        for (pe, cycle), count in used.items():
            ports = _ports(machine, pe, rule)
            if ports is not None and count > ports:
                where = "shared register file" if pe is None else f"PE {list(pe)}"
                yield Violation(rule, f"{where}, cycle {cycle} of the II: {count} of {ports}")
    for cycle, count in accesses.items():
        if machine.memory_ports is not None and count > machine.memory_ports:
            place = f"cycle {cycle} of the II: {count} of {machine.memory_ports}"
            yield Violation("memory ports", place)


def _ports(machine: CgraMachine, pe: Pe | None, rule: str) -> int | None:
    """Ports of a PE's register file, or of the shared one (None), for what ``rule`` names; None for any number."""
    file = machine.shared_register_file if pe is None else machine.register_file
    if file is None:
        return None
    return file.read_ports if rule == "read ports" else file.write_ports


def _twice(rule: str, groups: Iterable[list[Word]]) -> Iterator[Violation]:
    for words in groups:
        if len(words) > 1:
            yield Violation(rule, "; ".join(named(word) for word in words))
