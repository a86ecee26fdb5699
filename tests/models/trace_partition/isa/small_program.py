"""Small Snowflake programs written by hand."""

from __future__ import annotations

import numpy as np

from mapper.models.trace_partition.isa.assembly import assemble
from mapper.models.trace_partition.isa.instruction import Operation
from mapper.models.trace_partition.isa.program import (
    ClusterCode,
    Code,
    HostCall,
    Mark,
    PlacedTensor,
    Program,
    Segment,
)
from mapper.models.trace_partition.lowering.layer import TensorView

TENSOR_WORDS = 512
INPUT, OUTPUT = 0, TENSOR_WORDS
CODE = 2 * TENSOR_WORDS
"""Where the input, the output and the first cluster's code lie, in words."""


def addresses(code: Code) -> tuple[int, ...]:
    """Places of MOVI with MOVI.H of the same register after it."""
    movi, high = int(Operation.MOVI) << 28, 1 << 16
    return tuple(
        place
        for place in range(len(code) - 1)
        if int(code[place]) & 0xF0010000 == movi
        and int(code[place + 1]) & 0xFF810000 == int(code[place]) & 0xFF800000 | high
    )


def view(name: str, words: int = TENSOR_WORDS) -> TensorView:
    """A tensor as one pixel."""
    return TensorView(name, 1, 1, words, words)


def program_of(*texts: str, constants: tuple[int, ...] = (), calls: tuple[HostCall, ...] = ()) -> Program:
    """A program with the code of each cluster, an input ``x`` at INPUT and an output ``y`` at OUTPUT of TENSOR_WORDS,
    the code at CODE, one cluster after another, and ``constants`` after it (see `constants_at`)."""
    clusters: list[ClusterCode] = []
    address = CODE
    for text in texts:
        code = assemble(f"{text}\n.bank\n")
        clusters.append(ClusterCode(code, address, (Mark("conv1", 0),), addresses(code)))
        address += 2 * len(code)
    segments = (Segment("weights:conv1", address, np.array(constants, np.int16)),) if constants else ()
    return Program(
        name="hand",
        words=address + len(constants),
        clusters=tuple(clusters),
        segments=segments,
        tensors=(PlacedTensor("x", INPUT, TENSOR_WORDS), PlacedTensor("y", OUTPUT, TENSOR_WORDS)),
        calls=calls,
        inputs=((("x", view("x")),),),
        outputs=((("y", view("y")),),),
    )


def constants_at(banks: int) -> int:
    """Where the constants lie after so many banks of code of all clusters together."""
    return CODE + 1024 * banks


def address(register: str, place: int) -> str:
    """Code that loads an address, to be relocated."""
    return f"MOVI {register}, {place & 0xFFFF}\nMOVI.H {register}, {place >> 16}\n"


def pair(register: str, upper: int, lower: int) -> str:
    """Code that loads two numbers of 16 bits; no address (ADDI by 0 keeps the halves apart)."""
    return f"MOVI {register}, {lower}\nADDI r0, r0, 0\nMOVI.H {register}, {upper}\n"
