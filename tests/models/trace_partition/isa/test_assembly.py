"""Snowflake's assembler and disassembler."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.models.trace_partition.isa.assembly import assemble, disassemble
from mapper.models.trace_partition.isa.encoding import decode, encode
from mapper.models.trace_partition.isa.instruction import Instruction, Operation
from mapper.models.trace_partition.isa.mnemonic import MNEMONICS
from mapper.models.trace_partition.isa.program import Mark
from mapper.workloads.document import InputError
from tests.models.trace_partition.isa.random_instruction import instructions

COUNTDOWN = """
        MOVI r1, 3        ; three turns
again:  ADDI r1, r1, -1
        BNE r1, r0, again
        ADD r2, r2, r1    ; in the delay slots
        ADD r3, r2, r0
        HALT 0
"""


def test_a_label_is_the_distance_to_its_instruction() -> None:
    code = assemble(COUNTDOWN)
    assert decode(int(code[2]), "code", 2) == Instruction(Operation.BNE, a=1, immediate=-1)


def test_a_listing_shows_labels_places_bits_and_layers() -> None:
    listing = disassemble(assemble(COUNTDOWN), "code", (Mark("conv1", 1),))
    assert listing.splitlines() == [
        ".bank ; 0",
        f"{'    MOVI r1, 3':<44}; 0:000 10800003",
        "; layer conv1",
        "L1:",
        f"{'    ADDI r1, r1, -1':<44}; 0:001 3087ffff",
        f"{'    BNE r1, r0, L1':<44}; 0:002 4083ffff",
        f"{'    ADD r2, r2, r1':<44}; 0:003 21082000",
        f"{'    ADD r3, r2, r0':<44}; 0:004 21880000",
        f"{'    HALT 0':<44}; 0:005 00000000",
    ]


def test_bank_pads_with_halt() -> None:
    code = assemble("SYNC\n.bank\n.bank\nSYNC\n")
    assert len(code) == 513
    assert code[0] == code[512] == encode(Instruction(Operation.SYNC))
    assert not code[1:512].any()


def test_padding_is_not_listed() -> None:
    code = assemble("SYNC\n.bank\nSYNC\n.bank\n")
    listing = disassemble(code, "code")
    assert len(listing.splitlines()) == 7
    assert np.array_equal(assemble(listing), code)


def test_a_layer_name_cannot_smuggle_in_an_instruction() -> None:
    code = assemble("SYNC\n")
    listing = disassemble(code, "code", (Mark("conv1\nHALT 7\u2028HALT 8", 0),))
    assert np.array_equal(assemble(listing), code)


programs = st.lists(st.tuples(instructions(), st.sampled_from((1, 1, 1, 1, 300, 511))), max_size=8)


@settings(derandomize=True, deadline=None, max_examples=300)
@given(instructions())
def test_assembler_and_disassembler_are_inverse_for_every_instruction(instruction: Instruction) -> None:
    word = encode(instruction)
    assert assemble(disassemble([word], "code")).tolist() == [word]


@settings(derandomize=True, deadline=None, max_examples=30)
@given(programs, st.integers(-20, 20), st.booleans())
def test_assembler_and_disassembler_are_inverse_for_whole_programs(
    runs: list[tuple[Instruction, int]], distance: int, whole: bool
) -> None:
    words = [encode(instruction) for instruction, times in runs for _ in range(times)]
    words += [encode(Instruction(Operation.BNE, a=1, immediate=distance)), 0, 0]
    words += [0] * (-len(words) % 512 if whole else 0)
    code = np.array(words, np.uint32)
    listing = disassemble(code, "code")
    assert np.array_equal(assemble(listing), code)
    assert disassemble(assemble(listing), "code") == listing


def test_every_mnemonic_is_read_back() -> None:
    for text, mnemonic in MNEMONICS.items():
        operands = [f"r{number}" for number in range(1, len(mnemonic.registers) + 1)]
        line = f"{text} {', '.join(operands + ['7'] * mnemonic.immediate)}".strip()
        listed = disassemble(assemble(line), "code").splitlines()[-1].split(";")[0].split()
        assert " ".join(listed).replace("+7", "7") == line


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("ADDD r1, r2, r3", "'ADDD' is not an instruction; write ADD"),
        ("FROBNICATE", "'FROBNICATE' is not an instruction; the mnemonics stand in"),
        ("ADD r1, r2", "2 operands; write ADD ra, rb, rc"),
        ("ADD r1, r2, r32", "'r32' is not a register; write r0 to r31"),
        ("ADDI r1, r2, 200000", "is not within"),
        ("MOVI r1, -1", "is not within"),
        ("ADDI r1, r2, x", "'x' is not a number"),
        ("BNE r1, r0, away", "there is no label away"),
        ("1st: SYNC", "'1st' is not a label"),
        ("twice: SYNC", "occurs twice"),
        ("LD.F.D r1, r2, r3, r4", "is not an instruction; write LD."),
    ],
)
def test_a_mistake_is_named_with_its_line_and_remedy(line: str, remedy: str) -> None:
    with pytest.raises(InputError) as caught:
        assemble(f"twice: SYNC\n{line}\n", "hand.s")
    assert str(caught.value).startswith("hand.s: line 2: ")
    assert remedy in str(caught.value)


def test_a_word_that_is_no_instruction_is_named_with_its_place() -> None:
    with pytest.raises(
        InputError, match=r"file\.bin: instruction 1 \(bank 0, place 1\): 0xffffffff is not an instruction"
    ):
        disassemble([0, 0xFFFF_FFFF], "file.bin")
