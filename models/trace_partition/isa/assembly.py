"""Assembler and disassembler of a cluster's code, inverse to each other.

A line holds a label and a colon, or an instruction, or ``.bank``, which pads with ``HALT 0`` up to the next bank of 512
(nothing at the beginning of one); a semicolon begins a comment. The target of a branch is a label or, with a sign, a
distance in instructions.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mapper.arch.snowflake import BANK_INSTRUCTIONS
from mapper.models.trace_partition.isa.encoding import decode, encode
from mapper.models.trace_partition.isa.instruction import Instruction, Operation
from mapper.models.trace_partition.isa.mnemonic import MNEMONICS, written
from mapper.models.trace_partition.isa.program import Code, Mark
from mapper.workloads.document import InputError
from mapper.workloads.text.plain_text import plain

MOST_INSTRUCTIONS = 1 << 24
"""Of one cluster's code."""
BRANCHES = (Operation.BNE, Operation.BLT)
_PADDING = Instruction(Operation.HALT)
_LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_REGISTER = re.compile(r"r([0-9]|[12][0-9]|3[01])")
_NUMBER = re.compile(r"[+-]?(?:0x[0-9a-fA-F]{1,8}|(?:0|[1-9][0-9]{0,8}))")


def disassemble(code: Code | Sequence[int], source: str, marks: Sequence[Mark] = ()) -> str:
    """The listing of a cluster's code: each instruction with bank, place in it and bits after a semicolon, each layer
    of ``marks`` above its first instruction.

    Raises: InputError naming source and place for a word that is no instruction.
    """
    words = [int(word) for word in code]
    known: dict[int, Instruction] = {}  # most instructions stand many times
    for place, word in enumerate(words):
        if word not in known:
            known[word] = decode(word, source, place)
    instructions = [known[word] for word in words]
    texts = {word: written(instruction) for word, instruction in known.items()}
    targets = {
        place + i.immediate
        for place, i in enumerate(instructions)
        if i.operation in BRANCHES and 0 <= place + i.immediate < len(instructions)
    }
    layers: dict[int, list[str]] = {}
    for mark in marks:
        layers.setdefault(mark.place, []).append(plain(mark.layer))
    lines: list[str] = []
    shown = 0
    for first in range(0, len(instructions), BANK_INSTRUCTIONS):
        bank = range(first, min(first + BANK_INSTRUCTIONS, len(instructions)))
        shown = _end_of_code(instructions, bank, targets)
        lines.append(f".bank ; {first // BANK_INSTRUCTIONS}")
        for place in range(first, shown):
            lines.extend(f"; layer {name}" for name in layers.get(place, ()))
            if place in targets:
                lines.append(f"L{place}:")
            i, text = instructions[place], texts[words[place]]
            if i.operation in BRANCHES:
                to = place + i.immediate
                text = written(i, f"L{to}" if to in targets else f"{i.immediate:+d}")
            where = f"{place // BANK_INSTRUCTIONS}:{place % BANK_INSTRUCTIONS:03d}"
            lines.append(f"{'    ' + text:<44}; {where} {words[place]:08x}")
    if shown < len(instructions):
        lines.append(".bank")
    return "\n".join(lines) + "\n" if lines else ""


def _end_of_code(instructions: Sequence[Instruction], bank: range, targets: set[int]) -> int:
    """Behind the last place of a bank that is written out: the rest is padding that ``.bank`` stands for."""
    if len(bank) < BANK_INSTRUCTIONS:
        return bank.stop
    last = bank.stop - 1
    while (
        last > bank.start and instructions[last] == instructions[last - 1] == _PADDING and last not in targets
    ):
        last -= 1
    return last + 1


def assemble(text: str, source: str = "assembly") -> Code:
    """The words of a listing.

    Raises: InputError naming source, line and remedy.
    """
    words: list[tuple[int, Instruction, str | None]] = []
    labels: dict[str, int] = {}
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        rest = line.split(";", 1)[0].strip()
        label, colon, rest_of_line = rest.partition(":")
        if colon:
            name, rest = label.strip(), rest_of_line.strip()
            if not _LABEL.fullmatch(name):
                raise _error(
                    source,
                    number,
                    f"{name[:40]!r} is not a label; write letters, digits and _ before the colon",
                )
            if name in labels:
                raise _error(source, number, f"the label {name} occurs twice; rename one")
            labels[name] = len(words)
        if rest == ".bank":
            padding = -len(words) % BANK_INSTRUCTIONS
            words.extend([(number, _PADDING, None)] * padding)
        elif rest:
            words.append((number, *_parsed(rest, source, number)))
        if len(words) > MOST_INSTRUCTIONS:
            raise _error(source, number, f"more than {MOST_INSTRUCTIONS} instructions; split the program")
    code = np.zeros(len(words), np.uint32)
    for place, (number, instruction, label_used) in enumerate(words):
        if label_used is not None:
            if label_used not in labels:
                raise _error(source, number, f"there is no label {label_used}; write one or a distance")
            instruction = replace(instruction, immediate=labels[label_used] - place)
        try:
            code[place] = encode(instruction)
        except ValueError as error:
            raise _error(source, number, f"{error}; change the number") from None
    return code


def _parsed(text: str, source: str, number: int) -> tuple[Instruction, str | None]:
    """An instruction, and the label that its immediate shall lead to, if there is one."""
    name, _, rest_of_line = text.partition(" ")
    mnemonic = MNEMONICS.get(name)
    if mnemonic is None:
        near = difflib.get_close_matches(name[:40], MNEMONICS, n=1)
        remedy = f"write {near[0]}" if near else "the mnemonics stand in docs/snowflake/machine.md"
        raise _error(source, number, f"{name[:40]!r} is not an instruction; {remedy}")
    operands = [operand.strip() for operand in rest_of_line.split(",")] if rest_of_line.strip() else []
    wanted = [f"r{field}" for field in mnemonic.registers] + ["number"] * mnemonic.immediate
    if len(operands) != len(wanted):
        raise _error(source, number, f"{len(operands)} operands; write {' '.join([name, ', '.join(wanted)])}")
    fields: dict[str, int] = {"a": mnemonic.queue}
    for field, operand in zip(mnemonic.registers, operands, strict=False):
        register = _REGISTER.fullmatch(operand)
        if register is None:
            raise _error(source, number, f"{operand[:40]!r} is not a register; write r0 to r31")
        fields[field] = int(register[1])
    label = None
    if mnemonic.immediate:
        if _NUMBER.fullmatch(operands[-1]):
            fields["immediate"] = int(operands[-1], 0)
        elif mnemonic.operation in BRANCHES and _LABEL.fullmatch(operands[-1]):
            label = operands[-1]
        else:
            raise _error(
                source, number, f"{operands[-1][:40]!r} is not a number; write one such as 12 or 0x1f"
            )
    return Instruction(mnemonic.operation, flags=mnemonic.flags, high=mnemonic.high, **fields), label


def _error(source: str, number: int, remedy: str) -> InputError:
    return InputError(source, f"line {number}", remedy)
