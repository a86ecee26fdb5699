"""Programs that no Snowflake can run end with their place, and none runs for ever."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.models.trace_partition.isa.instruction import Instruction, Operation
from mapper.models.trace_partition.isa.mnemonic import mnemonic_of, written
from mapper.models.trace_partition.isa.program import HostCall
from mapper.models.trace_partition.lowering.layer import TensorView
from mapper.sim.trace_partition.functional.memory import Memory
from mapper.sim.trace_partition.functional.simulation import run
from mapper.workloads.document import InputError
from tests.models.trace_partition.isa.random_instruction import instructions
from tests.models.trace_partition.isa.small_program import (
    CODE,
    TENSOR_WORDS,
    address,
    pair,
    program_of,
    view,
)
from tests.sim.trace_partition.code import MACHINE, Words, executed, no_host

_NUMBERS = st.sampled_from((0, 1, 15, 64, 65, 300, 1024, 16384, 32760, 65535)) | st.integers(0, 2**32 - 1)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.lists(_NUMBERS, min_size=8, max_size=8), st.lists(instructions(), max_size=40))
def test_whatever_instructions_do_the_run_ends_or_is_refused(
    registers: list[int], body: list[Instruction]
) -> None:
    code = "".join(address(f"r{register}", number) for register, number in enumerate(registers, 1))
    for instruction in body:
        fields = {field: getattr(instruction, field) % 9 for field in mnemonic_of(instruction).registers}
        small = min(instruction.immediate, 9) if instruction.operation is not Operation.MOVI else 300
        code += (
            written(replace(instruction, immediate=small if instruction.immediate else 0, **fields)) + "\n"
        )
    image = {(0, "x"): np.zeros((1, 1, TENSOR_WORDS), np.int16)}
    with suppress(InputError):
        run(program_of(code + "HALT 0"), MACHINE, image, no_host, budget=1 << 16)


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ("MOVI r2, 32760\nMOVI r3, 9\nMAC.COOP.ZERO r0, r2, r0, r3", r"r2=32760.*beyond the end of Buf"),
        ("MOVI r3, 1025\nMAC.INDP.ZERO r0, r0, r0, r3", "beyond the end of WBuf"),
        ("MOVI r3, 65\nMAC.LANE.ZERO r0, r0, r0, r3", "more words than"),
        ("MOVI r3, 65\nMAX r0, r0, r3", "more words than"),
        ("MOVI r3, 5\nVMOV.ADD.C r0, r3", "more words than"),
        (
            "MOVI r3, 5\nVMOV.BIAS r0, r3\nMAC.COOP.ZERO.W r0, r0, r0, r3",
            "4 results, but the extent is larger",
        ),
        ("MAC.COOP.ZERO r0, r0, r0, r0\nMAC.LANE.CONT r0, r0, r0, r0", "sums of another mode"),
        (pair("r3", 2, 1) + "MOVI r4, 1\nTMOV.3 r3, r0, r3, r4", "beyond the program's memory"),
        (pair("r3", 2, 1) + "ADDI r1, r0, -1\nLD.B.A r0, r1, r3, r0", "beyond the program's memory"),
        (pair("r3", 9, 8) + pair("r4", 65535, 0) + "LD.B.D r0, r0, r3, r4", "beyond the end of Buf"),
        (pair("r3", 65535, 8) + pair("r4", 65535, 0) + "LD.W.D r0, r0, r3, r4", "beyond the end of WBuf"),
        ("ADDI r1, r0, -1\nLD.I r1", "a bank beyond the program's memory"),
        ("LD.I r0\n", "not an instruction"),
        ("HALT 3", "no such host operation"),
        ("BNE r0, r0, +5\nBNE r0, r0, +5\nSYNC", "a branch in a delay slot"),
        ("BNE r0, r0, -1", "beyond its bank"),
        ("ADD r0, r0, r0\n" * 512, "place 511: ADD .* the next has not been loaded"),
    ],
)
def test_what_the_machine_cannot_do_ends_the_run_with_its_place(code: str, fault: str) -> None:
    with pytest.raises(InputError, match=rf"^program hand: cluster 0, bank.*{fault}"):
        executed(program_of(code + "\nHALT 0"))


def test_a_cluster_that_waits_for_one_that_has_stopped_is_an_error() -> None:
    with pytest.raises(
        InputError, match="cluster 1, bank 0, place 1: SYNC: waits for a cluster that has stopped"
    ):
        executed(program_of("SYNC\nHALT 0", "SYNC\nSYNC\nHALT 0"))


@pytest.mark.parametrize(
    "body", ["ADDI r1, r1, 1", "LD.F.A r0, r0, r3, r0", "MAC.INDP.ZERO r0, r0, r0, r4", "LD.I r5", "HALT 1"]
)
def test_a_program_without_an_end_meets_the_limit(body: str) -> None:
    code = pair("r3", 2000, 30000) + f"MOVI r4, 1000\nMOVI r5, {CODE}\n"
    code += f"again: BNE r3, r0, again\n{body}\nADD r0, r0, r0\nHALT 0"
    done: list[HostCall] = []
    program = program_of(code, calls=(HostCall(1, "softmax1", "Softmax", (view("x"),), view("y")),))
    image = {(0, "x"): np.zeros((1, 1, TENSOR_WORDS), np.int16)}
    with pytest.raises(InputError, match="the limit of instructions and words is reached"):
        run(program, MACHINE, image, lambda call, _: done.append(call), budget=1 << 20)
    assert len(done) <= 64


@pytest.mark.parametrize("shown", [view("z"), view("x", TENSOR_WORDS + 1), replace(view("x"), offset=-1)])
def test_no_view_leads_out_of_its_tensor(shown: TensorView) -> None:
    with pytest.raises(InputError, match="program hand: "):
        Memory(program_of("HALT 0"), MACHINE).view(shown)


def test_a_program_for_more_clusters_is_refused() -> None:
    with pytest.raises(InputError, match="needs 3 clusters; snowflake-2cc has 2"):
        executed(program_of("HALT 0", "HALT 0", "HALT 0"))


def test_a_program_larger_than_the_memory_is_refused() -> None:
    program = replace(program_of("HALT 0"), words=1 << 30)
    with pytest.raises(InputError, match="ends beyond the memory"):
        executed(program)


@pytest.mark.parametrize(
    ("images", "remedy"),
    [
        ({}, "image 0, x: is missing; give it"),
        (
            {(0, "x"): np.zeros((1, 1, 512), np.int16), (1, "x"): np.zeros((1, 1, 512), np.int16)},
            "image 1, x: is not an input",
        ),
        ({(0, "x"): np.zeros((1, 1, 500), np.int16)}, r"give int16 \[1, 1, 512\]"),
        ({(0, "x"): np.zeros((1, 1, 512), np.float32)}, "is float32"),
    ],
)
def test_images_must_be_the_inputs(images: dict[tuple[int, str], Words], remedy: str) -> None:
    with pytest.raises(InputError, match=remedy):
        run(program_of("HALT 0"), MACHINE, images)
