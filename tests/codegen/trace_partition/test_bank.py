"""Code is grouped into banks of 512 instructions that no loop crosses and of which each loads the next."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.arch.snowflake import BANK_INSTRUCTIONS
from mapper.codegen.trace_partition.bank import BANK_WORDS, BankedCode, LayerPieces
from mapper.codegen.trace_partition.register import CODE_REGISTER, Piece
from mapper.models.trace_partition.isa.encoding import decode
from mapper.models.trace_partition.isa.instruction import Instruction, Operation, Queue, Target
from mapper.models.trace_partition.isa.program import ClusterCode
from mapper.workloads.document import InputError

ADDRESS = 0x1_F000
_STEP = Instruction(Operation.ADDI, 1, 1, immediate=1)


def _loop(size: int) -> Piece:
    """A loop of ``size`` instructions."""
    return Piece((*[_STEP] * (size - 3), Instruction(Operation.BNE, 1, 2, immediate=3 - size), _STEP, _STEP))


def _single(number: int) -> Piece:
    return Piece((Instruction(Operation.MOVI, 3, immediate=number),))


def _address(number: int) -> Piece:
    high = Instruction(Operation.MOVI, 4, immediate=number, high=True)
    return Piece((Instruction(Operation.MOVI, 4, immediate=number), high), address=True)


def _banks(code: ClusterCode) -> list[list[Instruction]]:
    instructions = [decode(int(word), "code", place) for place, word in enumerate(code.code)]
    return [
        instructions[start : start + BANK_INSTRUCTIONS]
        for start in range(0, len(instructions), BANK_INSTRUCTIONS)
    ]


def _is_load(instruction: Instruction) -> bool:
    return instruction.operation is Operation.LD and instruction.flags == Target.CODE


_pieces = st.lists(
    st.one_of(
        st.integers(4, 200).map(_loop), st.integers(0, 9).map(_single), st.integers(0, 9).map(_address)
    ),
    max_size=40,
)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(_pieces)
def test_every_bank_but_the_last_loads_the_next_and_waits_for_it(pieces: list[Piece]) -> None:
    code = BankedCode([LayerPieces("conv1", pieces)]).at(ADDRESS)
    banks = _banks(code)
    assert all(len(bank) == BANK_INSTRUCTIONS for bank in banks)
    for number, bank in enumerate(banks):
        last = number == len(banks) - 1
        loads = [place for place, instruction in enumerate(bank) if _is_load(instruction)]
        assert loads == ([] if last else [2 if number == 0 else 0])
        assert bank[-1] == (Instruction(Operation.HALT) if last else Instruction(Operation.WAIT, Queue.CODE))


@settings(derandomize=True, deadline=None, max_examples=60)
@given(_pieces)
def test_no_piece_crosses_a_bank_and_none_is_lost(pieces: list[Piece]) -> None:
    code = BankedCode([LayerPieces("conv1", pieces)]).at(ADDRESS)
    banks = _banks(code)
    bank, place = 0, 4
    for piece in pieces:
        size = len(piece.instructions)
        if place + size > BANK_INSTRUCTIONS - 1:
            bank, place = bank + 1, 2
        assert banks[bank][place : place + size] == list(piece.instructions)
        place += size


def test_a_loop_that_ends_a_bank_has_its_delay_slots_in_it() -> None:
    code = BankedCode([LayerPieces("conv1", [_loop(507)])]).at(ADDRESS)
    assert len(_banks(code)) == 1
    assert len(_banks(BankedCode([LayerPieces("conv1", [_loop(508)])]).at(ADDRESS))) == 2


def test_the_register_of_the_code_goes_from_bank_to_bank() -> None:
    code = BankedCode([LayerPieces("conv1", [_loop(300)] * 3)]).at(ADDRESS)
    banks = _banks(code)
    low, high = banks[0][:2]
    assert (low.a, high.a, high.high) == (CODE_REGISTER, CODE_REGISTER, True)
    assert low.immediate | high.immediate << 16 == ADDRESS + BANK_WORDS
    assert [bank[place].immediate for bank, place in zip(banks, (3, 1), strict=False)] == [BANK_WORDS] * 2


def test_relocations_name_the_first_of_the_two_that_load_an_address() -> None:
    code = BankedCode([LayerPieces("conv1", [_loop(300), _address(7), _loop(300), _address(8)])]).at(ADDRESS)
    instructions = [instruction for bank in _banks(code) for instruction in bank]
    assert [instructions[place].immediate for place in code.relocations[1:]] == [7, 8]
    assert code.relocations[0] == 0


def test_marks_are_where_layers_begin() -> None:
    layers = [LayerPieces("conv1", [_single(1)] * 10), LayerPieces("conv2", [_single(2)])]
    code = BankedCode(layers).at(ADDRESS)
    assert [(mark.layer, mark.place) for mark in code.marks] == [("conv1", 4), ("conv2", 14)]


def test_a_loop_longer_than_a_bank_is_an_error_that_names_its_layer() -> None:
    with pytest.raises(InputError, match=r"layer conv7.*loop of 510 instructions.*smaller tiles"):
        BankedCode([LayerPieces("conv7", [_loop(510)])])


def test_what_a_bank_has_left_is_jumped_over() -> None:
    code = BankedCode([LayerPieces("conv1", [_loop(300), _loop(300)])]).at(ADDRESS)
    bank = _banks(code)[0]
    jump = bank[4 + 300]
    assert (jump.operation, jump.a, jump.b) == (Operation.BNE, CODE_REGISTER, 0)
    assert 4 + 300 + jump.immediate == BANK_INSTRUCTIONS - 1
