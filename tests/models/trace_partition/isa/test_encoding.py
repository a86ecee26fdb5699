"""Snowflake's instructions and their 32 bits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.models.trace_partition.isa.encoding import decode, encode, fault, first_fault
from mapper.models.trace_partition.isa.instruction import (
    DEAL,
    RELU,
    UNITS_SHIFT,
    WRITE,
    Instruction,
    MacMode,
    Operation,
    Start,
    Target,
)
from mapper.workloads.document import InputError
from tests.models.trace_partition.isa.random_instruction import instructions


@pytest.mark.parametrize(
    ("instruction", "word"),
    [
        (Instruction(Operation.HALT, immediate=3), 0x0000_0003),
        (Instruction(Operation.MOVI, a=1, immediate=0xFFFF), 0x1080_FFFF),
        (Instruction(Operation.MOVI, a=31, immediate=2, high=True), 0x1F81_0002),
        (Instruction(Operation.ADD, a=1, b=2, c=3), 0x2088_6000),
        (Instruction(Operation.ADDI, a=1, b=1, immediate=-1), 0x3087_FFFF),
        (Instruction(Operation.BNE, a=0, b=31, immediate=-131072), 0x407E_0000),
        (Instruction(Operation.WAIT, a=2, immediate=16), 0x6100_0010),
        (Instruction(Operation.SYNC), 0x7000_0000),
        (Instruction(Operation.LD, 1, 2, 3, 4, DEAL << UNITS_SHIFT | Target.WBUF), 0x8088_6415),
        (Instruction(Operation.TMOV, 1, 2, 3, 4, 3 << UNITS_SHIFT), 0x9088_640C),
        (Instruction(Operation.VMOV, b=9, c=8, flags=6), 0xA025_0006),
        (Instruction(Operation.MAC, 1, 2, 3, 4, MacMode.LANE | Start.BIAS << 2 | WRITE | RELU), 0xB088_6456),
        (Instruction(Operation.VMOV, b=9, c=8, flags=3), 0xA025_0003),
        (Instruction(Operation.MAX, 1, 2, 3, flags=0x51), 0xC088_6051),
        (Instruction(Operation.MAX, 1, 2, 3, flags=0x90), 0xC088_6090),
    ],
)
def test_bits_lie_where_the_page_says(instruction: Instruction, word: int) -> None:
    assert encode(instruction) == word
    assert decode(word, "code", 0) == instruction


@settings(derandomize=True, deadline=None, max_examples=400)
@given(instructions())
def test_an_instruction_comes_back_from_its_bits(instruction: Instruction) -> None:
    word = encode(instruction)
    assert 0 <= word < 1 << 32
    assert decode(word, "code", 0) == instruction


words = st.integers(0, (1 << 32) - 1) | instructions().map(encode).flatmap(
    lambda word: st.integers(0, 31).map(lambda bit: word ^ 1 << bit)
)


@settings(derandomize=True, deadline=None, max_examples=600)
@given(words)
def test_every_word_is_an_instruction_of_the_same_bits_or_an_input_error(word: int) -> None:
    try:
        instruction = decode(word, "code", 700)
    except InputError as error:
        assert str(error).startswith("code: instruction 700 (bank 1, place 188): ")
        assert "compile the network again" in str(error)
        assert fault(word) is not None
    else:
        assert encode(instruction) == word
        assert fault(word) is None


@settings(derandomize=True, deadline=None)
@given(st.lists(words, max_size=8))
def test_many_words_are_judged_as_each_of_them(many: list[int]) -> None:
    faults = [place for place, word in enumerate(many) if fault(word) is not None]
    assert first_fault(np.array(many, np.uint32)) == (faults[0] if faults else None)


@pytest.mark.parametrize(
    "instruction",
    [
        Instruction(Operation.ADD, a=32),
        Instruction(Operation.ADD, d=1),
        Instruction(Operation.ADD, immediate=1),
        Instruction(Operation.ADD, flags=1),
        Instruction(Operation.ADDI, c=1),
        Instruction(Operation.ADDI, immediate=131072),
        Instruction(Operation.ADDI, high=True),
        Instruction(Operation.HALT, immediate=-1),
        Instruction(Operation.MOVI, immediate=-1),
        Instruction(Operation.WAIT, a=4),
        Instruction(Operation.LD, flags=6 << UNITS_SHIFT),
        Instruction(Operation.LD, flags=DEAL << UNITS_SHIFT | Target.FILL),
        Instruction(Operation.LD, a=1, flags=Target.CODE),
        Instruction(Operation.TMOV, flags=4 << UNITS_SHIFT),
        Instruction(Operation.VMOV, flags=3, d=1),
        Instruction(Operation.MAC, flags=3),
    ],
)
def test_what_an_operation_lacks_is_not_encoded(instruction: Instruction) -> None:
    with pytest.raises(ValueError, match=instruction.operation.name):
        encode(instruction)
