"""Compute objects become loops that issue exactly the vector instructions that the object means."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.codegen.trace_partition.compute_code import compute_code
from mapper.codegen.trace_partition.register import Piece, RegisterFile
from mapper.models.trace_partition.isa.instruction import (
    COOP_MOVE,
    MAX_START,
    RELU,
    START_SHIFT,
    WIDE,
    WRITE,
    MacMode,
    Move,
    Operation,
    Start,
)
from mapper.models.trace_partition.steps.loop_nest import MOST_UNROLLED
from mapper.models.trace_partition.steps.step import ComputeObject, Loop, Trace
from tests.codegen.trace_partition.core import issued

_MODES = {"coop": MacMode.COOP, "indp": MacMode.INDP, "lane": MacMode.LANE}
Vector = tuple[Operation, int, tuple[int, ...]]
NO_LOOP = Loop()


def _meant(o: ComputeObject) -> list[Vector]:
    """The vector instructions of ``o`` by its definition: operation, flags, operands."""
    found: list[Vector] = []
    coop = COOP_MOVE if o.mode == "coop" else 0
    for block, row, column in product(range(o.blocks.count), range(o.rows.count), range(o.columns.count)):
        turns = ((o.blocks, block), (o.rows, row), (o.columns, column))

        def grown(name: str, start: int, turns: tuple[tuple[Loop, int], ...] = turns) -> int:
            return start + sum(turn * int(getattr(loop, name)) for loop, turn in turns)

        if o.bias is not None and row == column == 0:
            found.append((Operation.VMOV, Move.BIAS | coop, (grown("bias", o.bias), o.extent)))
        if o.initial is not None:
            kind = Move.PARTIAL if o.initial_wide else Move.ADD
            found.append((Operation.VMOV, kind | coop, (grown("initial", o.initial), o.extent)))
        for number, trace in enumerate(o.traces):
            first, last = number == 0, number == len(o.traces) - 1
            maps, out = grown("maps", o.maps) + trace.maps, (grown("out", o.out),) if last else ()
            flags = (WRITE | (RELU if o.relu else 0)) if last else 0
            if o.operation == "max":
                found.append((Operation.MAX, flags | first * MAX_START, (*out, maps, trace.length)))
                continue
            start = (Start.BIAS if o.initial is None else Start.INITIAL) if first else Start.CONTINUE
            flags |= _MODES[o.mode] | start << START_SHIFT | (WIDE if last and o.wide else 0)
            weights = grown("weights", o.weights) + trace.weights
            found.append((Operation.MAC, flags, (*out, maps, weights, trace.length)))
    return found


def _written(objects: list[ComputeObject]) -> tuple[list[Vector], list[Piece]]:
    """The vector instructions that the code of ``objects`` issues, one object after another."""
    pieces: list[Piece] = []
    registers = RegisterFile(pieces.append)
    for o in objects:
        compute_code(o, registers, pieces.append)
    found: list[Vector] = []
    for i, a, b, c, d in issued(pieces):
        match i.operation:
            case Operation.VMOV:
                operands: tuple[int, ...] = (b, c)
            case Operation.MAX:
                operands = (a, b, c) if i.flags & WRITE else (b, c)
            case _:
                operands = (a, b, c, d) if i.flags & WRITE else (b, c, d)
        found.append((i.operation, i.flags, operands))
    return found, pieces


def _object(traces: tuple[Trace, ...] = (Trace(0, 0, 64),), **fields: object) -> ComputeObject:
    usual: dict[str, object] = {
        "operation": "mac",
        "mode": "coop",
        "maps": 16,
        "weights": 32,
        "out": 20_000,
        "bias": 30_000,
        "initial": None,
        "initial_wide": False,
        "extent": 4,
        "blocks": NO_LOOP,
        "rows": NO_LOOP,
        "columns": NO_LOOP,
        "traces": traces,
    }
    return ComputeObject(**{**usual, **fields})  # type: ignore[arg-type]


_counts = st.integers(1, 3)
_words = st.integers(-300, 300)
_loops = st.builds(
    Loop,
    _counts,
    maps=_words,
    weights=st.sampled_from([0, 0, 16, 48]),
    out=_words,
    bias=st.sampled_from([0, 4]),
    initial=_words,
)
_traces = st.builds(
    Trace, st.integers(0, 200), st.integers(0, 3).map(lambda n: 16 * n), st.sampled_from([5, 64])
)


def _windows(rows: int, columns: int, maps: int, weights: int) -> tuple[Trace, ...]:
    return tuple(
        Trace(300 * row + maps * column, weights * (columns * row + column), 64)
        for row in range(rows)
        for column in range(columns)
    )


_lists = st.one_of(
    st.lists(_traces, min_size=1, max_size=20).map(tuple),
    st.builds(
        _windows, st.integers(1, 8), st.integers(1, 8), st.sampled_from([0, 64]), st.sampled_from([0, 16])
    ),
)


@st.composite
def _objects(draw: st.DrawFn) -> ComputeObject:
    maximum = draw(st.booleans())
    initial = None if maximum else draw(st.sampled_from([None, 25_000]))
    return _object(
        draw(_lists),
        operation="max" if maximum else "mac",
        mode=draw(st.sampled_from(["indp"] if maximum else ["coop", "indp", "lane"])),
        maps=5_000,
        weights=1_000,
        bias=None if maximum else 30_000,
        initial=initial,
        initial_wide=initial is not None and draw(st.booleans()),
        blocks=draw(_loops),
        rows=draw(_loops),
        columns=draw(_loops),
        wide=not maximum and draw(st.booleans()),
        relu=draw(st.booleans()),
    )


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.lists(_objects(), min_size=1, max_size=2))
def test_the_code_issues_the_vector_instructions_that_the_objects_mean(objects: list[ComputeObject]) -> None:
    written, _ = _written(objects)
    assert written == [vector for o in objects for vector in _meant(o)]


def test_addresses_grow_further_than_an_instruction_can_add() -> None:
    o = _object(
        (Trace(0, 0, 8), Trace(200_000, 16, 8)),
        out=1 << 20,
        rows=Loop(3, maps=300_000, out=150_000),
        columns=Loop(2, maps=32, out=16),
    )
    assert _written([o, o])[0] == _meant(o) * 2


def test_a_turn_of_one_trace_takes_four_instructions() -> None:
    _, pieces = _written([_object(columns=Loop(7, maps=64, out=16))])
    assert len(pieces[-1].instructions) == 4


@pytest.mark.parametrize("kernel", [2, 3, 11])
def test_a_turn_takes_two_instructions_per_trace_and_two_more(kernel: int) -> None:
    traces = tuple(Trace(500 * row, 48 * row, 33) for row in range(kernel))
    _, pieces = _written([_object(traces, columns=Loop(7, maps=12, out=16))])
    assert len(pieces[-1].instructions) == 2 * kernel + 2


def test_loops_of_one_turn_are_left_out() -> None:
    _, pieces = _written([_object()])
    assert [i.operation for piece in pieces[-2:] for i in piece.instructions] == [
        Operation.VMOV,
        Operation.MAC,
    ]
    assert all(i.operation is not Operation.BNE for piece in pieces for i in piece.instructions)


def test_a_long_accumulate_loop_stays_a_loop() -> None:
    traces = _windows(12, 12, 64, 16)
    assert len(traces) > MOST_UNROLLED
    _, pieces = _written([_object(traces, mode="lane", extent=64)])
    assert sum(len(piece.instructions) for piece in pieces) < len(traces)


def test_numbers_that_a_register_holds_are_not_loaded_again() -> None:
    o = _object(columns=Loop(7, maps=64, out=16))
    _, once = _written([o])
    _, twice = _written([o, o])
    assert len(twice) - len(once) < len(once)
