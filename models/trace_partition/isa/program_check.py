"""Checks of every program beyond the form of its file: places in memory, instructions, branches, relocations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from mapper.arch.snowflake import BANK_INSTRUCTIONS, INSTRUCTION_BYTES, WORD_BYTES
from mapper.models.trace_partition.isa.encoding import (
    A_SHIFT,
    HIGH,
    OPERATION_SHIFT,
    decode,
    first_fault,
    place_name,
)
from mapper.models.trace_partition.isa.instruction import DELAY_SLOTS, IMMEDIATE_BITS, Operation
from mapper.models.trace_partition.isa.program import ClusterCode, Program
from mapper.models.trace_partition.lowering.layer import TensorView
from mapper.workloads.document import InputError

AGAIN = "compile the network again"


def check_program(program: Program, source: str) -> None:
    """Raises: InputError naming the first place of ``source`` where something is not as it must be."""
    if program.base + program.words > 1 << 32:
        raise InputError(source, "base", f"the program ends beyond the addresses of 32 bits; {AGAIN}")
    _check_places(program, source)
    _check_views(program, source)
    for number, cluster in enumerate(program.clusters):
        _check_code(cluster, f"{source}: cluster {number}")


def _check_places(program: Program, source: str) -> None:
    """Everything lies within the program's words; code and segments lie apart, from one another and from tensors.
    Tensors that are not needed at the same time may share words."""
    constants = [(s.address, s.address + len(s.words), f"segment {s.name}") for s in program.segments]
    for number, cluster in enumerate(program.clusters):
        words = len(cluster.code) * INSTRUCTION_BYTES // WORD_BYTES
        constants.append((cluster.address, cluster.address + words, f"code of cluster {number}"))
    tensors = [(t.address, t.address + t.words, f"tensor {t.name}") for t in program.tensors]
    fixed = {name for _, _, name in constants}
    end, last = 0, ""  # of the constant that ends last so far
    tensor_end, tensor = 0, ""
    for first, after, name in sorted(constants + tensors):
        if after > program.words:
            raise InputError(source, name, f"ends beyond the program's {program.words} words; {AGAIN}")
        if first == after:
            continue
        if first < end:
            raise InputError(source, name, f"overlaps {last}; {AGAIN}")
        if name in fixed:
            if first < tensor_end:
                raise InputError(source, name, f"overlaps {tensor}; {AGAIN}")
            end, last = after, name
        elif after > tensor_end:
            tensor_end, tensor = after, name
    _check_names((t.name for t in program.tensors), "tensor", source)
    _check_names((s.name for s in program.segments), "segment", source)
    _check_names((str(call.number) for call in program.calls), "call", source)
    for image in (*program.inputs, *program.outputs):
        _check_names((name for name, _ in image), "input or output", source)


def _check_names(names: Iterable[str], kind: str, source: str) -> None:
    name, times = next(iter(Counter(names).most_common(1)), ("", 1))
    if times > 1:
        raise InputError(source, f"{kind} {name}", f"occurs twice; {AGAIN}")


def _check_views(program: Program, source: str) -> None:
    """Every view lies within its tensor, and its pixels lie apart."""
    words = {tensor.name: tensor.words for tensor in program.tensors}

    def check(view: TensorView, owner: str) -> None:
        if view.tensor not in words:
            raise InputError(source, owner, f"there is no tensor {view.tensor}; {AGAIN}")
        end = view.offset + (view.height * view.width - 1) * view.pitch + view.channels
        if end > words[view.tensor] or view.pitch < view.channels:
            raise InputError(source, owner, f"is not within tensor {view.tensor}; {AGAIN}")

    for call in program.calls:
        for view in (*call.inputs, call.output):
            check(view, f"call {call.number}")
    for image in (*program.inputs, *program.outputs):
        for name, view in image:
            check(view, name)


def _check_code(cluster: ClusterCode, source: str) -> None:
    """Every word is an instruction, branches stay in their bank and out of delay slots, relocations are addresses."""
    code = cluster.code
    wrong = first_fault(code)
    if wrong is not None:
        decode(int(code[wrong]), source, wrong)
    operation = code >> np.uint32(OPERATION_SHIFT)
    places = np.flatnonzero((operation == Operation.BNE) | (operation == Operation.BLT))
    distance = (code[places] & np.uint32((1 << IMMEDIATE_BITS) - 1)).astype(np.int64)
    distance -= distance >> (IMMEDIATE_BITS - 1) << IMMEDIATE_BITS
    within = places % BANK_INSTRUCTIONS
    to = within + distance
    leaves = (to < 0) | (to >= BANK_INSTRUCTIONS) | (within + DELAY_SLOTS >= BANK_INSTRUCTIONS)
    if leaves.any():
        place = int(places[np.argmax(leaves)])
        raise InputError(source, place_name(place), f"the branch, or a delay slot, leaves its bank; {AGAIN}")
    close = np.diff(places) <= DELAY_SLOTS
    if close.any():
        place = int(places[1:][np.argmax(close)])
        raise InputError(source, place_name(place), f"is a branch in a delay slot; {AGAIN}")
    for mark in cluster.marks:
        if mark.place >= len(code):
            raise InputError(source, f"mark {mark.layer}", f"lies beyond the code; {AGAIN}")
    _check_relocations(cluster, source)


def _check_relocations(cluster: ClusterCode, source: str) -> None:
    """Each names a MOVI followed by a MOVI.H of the same register; they ascend and do not overlap."""
    code, relocations = cluster.code, np.array(cluster.relocations, np.int64)
    beyond = relocations >= len(code) - 1
    if beyond.any():
        place = int(relocations[np.argmax(beyond)])
        raise InputError(source, "relocations", f"{place} is not in the code; {AGAIN}")
    mask = np.uint32(15 << OPERATION_SHIFT | 31 << A_SHIFT | HIGH)
    low, high = code[relocations] & mask, code[relocations + 1] & mask
    wrong = (low >> np.uint32(OPERATION_SHIFT) != Operation.MOVI) | (low & np.uint32(HIGH) != 0)
    wrong |= high != low | np.uint32(HIGH)
    wrong[1:] |= np.diff(relocations) < 2
    if wrong.any():
        place = int(relocations[np.argmax(wrong)])
        remedy = f"is not a MOVI with the MOVI.H of its register after it, or out of order; {AGAIN}"
        raise InputError(source, f"relocations: {place_name(place)}", remedy)
