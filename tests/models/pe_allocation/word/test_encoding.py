"""Bits of programs: what is written is read back, and what is no program is refused in one line."""

from __future__ import annotations

import random

import pytest

from mapper.models.pe_allocation.word.encoding import (
    HEADER,
    MAGIC,
    decode,
    encode,
    header_of,
    read_programs,
    word_bits,
    write_programs,
)
from mapper.models.pe_allocation.word.operation import Code, Fifo, Operation, Register, Word
from mapper.models.pe_allocation.word.program import LayerWords
from mapper.workloads.document import InputError
from tests.models.pe_allocation.word.test_program import MNIST, words
from tests.sim.pe_allocation.example import allocated


def codes_of(layer: LayerWords) -> list[Code | None]:
    return [None if one is None else one.code for one in layer.pes]


CODES = [codes_of(layer) for layer in words()]
SMALL = Code(
    (
        Word((), ((0, 0), (1, 1))),
        Word((Operation("add", Register("OD", 0), Register("RC", 0), Register("FD", 0)),), ((0, 0),)),
    ),
    (-5,),
    (Fifo(2, True, (7, -8)),),
    0,
    0,
    1,
)


def test_every_program_is_read_back_from_its_bits() -> None:
    for codes in CODES:
        assert list(read_programs(write_programs(codes, 48), "x")) == codes


def test_a_pe_without_a_program_is_read_back_as_that() -> None:
    codes = codes_of(words(allocation=allocated(MNIST, 4, 2, 8, 1, 2))[1])
    assert codes[1] is None
    assert list(read_programs(write_programs(codes, 48), "x")) == codes


def test_bits_stand_where_the_format_says() -> None:
    bits = "".join(f"{byte:08b}" for byte in encode(SMALL, 16))
    head = header_of(SMALL, 16)
    begin = sum(width for _, width in HEADER)
    constant, fifo = (
        f"{-5 & 0xFFFF:016b}",
        f"{2:024b}" + "1" + f"{2:024b}" + f"{7:016b}" + f"{-8 & 0xFFFF:016b}",
    )
    # One adder; registers of a bank in 3 bits and a number in 1; two branches of a signal and a word in a bit each.
    assert word_bits(head) == 3 + 3 * (3 + 1) + 2 * 2
    rest = "000" + "0" * 12 + "00" + "11"
    add = "001" + "101" + "0" + "100" + "0" + "001" + "0" + "00" + "00"
    assert bits[begin:].startswith(constant + fifo + rest + add)
    assert decode(encode(SMALL, 16), "x") == SMALL


def test_a_file_that_ends_early_is_refused_wherever_it_ends() -> None:
    data = write_programs(CODES[1], 48)
    for length in range(len(data)):
        with pytest.raises(InputError, match="generate"):
            read_programs(data[:length], "x")


def test_changed_bits_are_a_program_or_one_line() -> None:
    stream, data = random.Random(0), write_programs(CODES[1], 48)
    refused = 0
    for _ in range(300):
        changed = bytearray(data)
        for _ in range(stream.randint(1, 3)):
            changed[stream.randrange(len(MAGIC), len(data))] = stream.randrange(256)
        try:
            read_programs(bytes(changed), "x")
        except InputError as error:
            assert "\n" not in str(error)
            refused += 1
    assert refused > 50
