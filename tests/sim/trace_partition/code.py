"""Pieces of programs written by hand, and their run on the functional simulator."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mapper.arch.snowflake import SnowflakeMachine
from mapper.arch.source import load_machine
from mapper.models.trace_partition.isa.program import HostCall, Program
from mapper.sim.trace_partition.functional.memory import Memory
from mapper.sim.trace_partition.functional.simulation import Execution, run
from tests.models.trace_partition.isa.small_program import (
    OUTPUT,
    TENSOR_WORDS,
    address,
    pair,
    view,
)

Words = npt.NDArray[np.int16]


def machine() -> SnowflakeMachine:
    found, _ = load_machine("snowflake-2cc")
    assert isinstance(found, SnowflakeMachine)
    return found


MACHINE = machine()
RAMP = np.arange(TENSOR_WORDS, dtype=np.int16) - 200


def executed(program: Program, image: Sequence[int] | Words = RAMP) -> tuple[list[int], Execution]:
    """The words of the output ``y``, and the run."""
    words = np.zeros((1, 1, TENSOR_WORDS), np.int16)
    words[0, 0, : len(image)] = image
    execution = run(program, MACHINE, {(0, "x"): words}, no_host)
    return execution.view(view("y"))[0, 0].tolist(), execution


def no_host(call: HostCall, memory: Memory) -> None:
    raise AssertionError(f"nothing calls {call.name}")


def load(mnemonic: str, local: int, memory: int, count: int, words: int, pitches: tuple[int, int]) -> str:
    """A load of ``count`` pieces, with local and memory pitch."""
    shape = pair("r22", count, words) + pair("r23", *pitches)
    return f"MOVI r20, {local}\n{address('r21', memory)}{shape}{mnemonic} r20, r21, r22, r23\n"


def fill(local: int, value: int, words: int) -> str:
    """Words of Buf of every unit."""
    return f"MOVI r20, {local}\nMOVI r21, {value & 0xFFFF}\n{pair('r22', 1, words)}LD.F.A r20, r21, r22, r0\n"


def store(unit: int, output: int, local: int, words: int) -> str:
    """Words of one unit's Buf into the output."""
    return (
        f"{address('r20', OUTPUT + output)}MOVI r21, {local}\n{pair('r22', 1, words)}"
        f"TMOV.{unit} r20, r21, r22, r0\n"
    )


def numbers(**registers: int) -> str:
    """Code that loads small numbers into registers."""
    return "".join(f"MOVI {register}, {number}\n" for register, number in registers.items())


def show(register: str, output: int) -> str:
    """Code that writes a register's lower half into the output."""
    return (
        f"MOVI r20, 0\n{pair('r22', 1, 1)}LD.F.0 r20, {register}, r22, r0\n"
        f"{address('r20', OUTPUT + output)}TMOV.0 r20, r0, r22, r0\n"
    )
