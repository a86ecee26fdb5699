"""Load and store objects become exactly their transfers; those of equal distance a loop."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.codegen.trace_partition.register import Piece, RegisterFile
from mapper.codegen.trace_partition.transfer_code import transfer_code
from mapper.models.trace_partition.isa.instruction import ALL_UNITS, DEAL, UNITS_SHIFT, Operation, Target
from mapper.models.trace_partition.steps.step import Transfer
from tests.codegen.trace_partition.core import issued

PLACES = {"x": 70_000, "weights:conv1": 3_000_000}
Moved = tuple[int, int, int, int, int]
"""Flags, first word in the buffer, first word in memory or value, size, pitches."""


def _written(transfers: list[Transfer], store: bool = False) -> tuple[list[Moved], list[Piece]]:
    pieces: list[Piece] = []
    transfer_code(transfers, store, PLACES, RegisterFile(pieces.append), pieces.append)
    found = []
    for i, a, b, c, d in issued(pieces):
        assert i.operation is (Operation.TMOV if store else Operation.LD)
        found.append((i.flags, b, a, c, d) if store else (i.flags, a, b, c, d))
    return found, pieces


def _meant(transfer: Transfer, store: bool = False) -> Moved:
    units = {"all": ALL_UNITS, "deal": DEAL}.get(str(transfer.units), transfer.units)
    assert isinstance(units, int)
    target = {"buf": Target.BUF, "wbuf": Target.WBUF, "fill": Target.FILL}[transfer.target]
    memory = PLACES[transfer.tensor] + transfer.memory
    pitches = (transfer.local_pitch, transfer.memory_pitch)
    if transfer.target == "fill":
        memory, pitches = transfer.value % (1 << 16), (transfer.local_pitch, 0)
    if store:
        target, pitches = Target.BUF, (transfer.memory_pitch, transfer.local_pitch)
    pitch = pitches[0] << 16 | pitches[1] if transfer.count > 1 else 0
    flags = units << UNITS_SHIFT | target
    return flags, transfer.local, memory, transfer.count << 16 | transfer.words, pitch


_transfers = st.builds(
    Transfer,
    target=st.sampled_from(["buf", "wbuf", "fill"]),
    units=st.sampled_from([0, 3, "all"]),
    local=st.integers(0, 1000),
    tensor=st.sampled_from(sorted(PLACES)),
    memory=st.integers(0, 2_000_000),
    count=st.integers(1, 40),
    words=st.integers(1, 60_000),
    local_pitch=st.integers(0, 500),
    memory_pitch=st.integers(0, 65_535),
    value=st.sampled_from([0, -32768]),
)


@st.composite
def _rows(draw: st.DrawFn) -> list[Transfer]:
    """Transfers, each repeated at equal distances."""
    found = []
    for first in draw(st.lists(_transfers, min_size=1, max_size=4)):
        local, memory = draw(st.sampled_from([0, 0, 48])), draw(st.sampled_from([0, 700, 140_000]))
        for turn in range(draw(st.integers(1, 9))):
            found.append(
                replace(first, local=first.local + turn * local, memory=first.memory + turn * memory)
            )
    return found


@settings(derandomize=True, deadline=None, max_examples=100)
@given(_rows())
def test_the_code_requests_the_loads_that_are_meant(transfers: list[Transfer]) -> None:
    assert _written(transfers)[0] == [_meant(transfer) for transfer in transfers]


@settings(derandomize=True, deadline=None, max_examples=50)
@given(_rows())
def test_the_code_requests_the_stores_that_are_meant(transfers: list[Transfer]) -> None:
    stores = [replace(transfer, target="buf", units=2) for transfer in transfers]
    assert _written(stores, store=True)[0] == [_meant(transfer, store=True) for transfer in stores]


@pytest.mark.parametrize(("count", "loops"), [(3, False), (4, True), (60, True)])
def test_transfers_of_equal_distance_are_a_loop(count: int, loops: bool) -> None:
    transfers = [Transfer("buf", 1, 64 * turn, "x", 700 * turn, 1, 64, 0, 0) for turn in range(count)]
    _, pieces = _written(transfers)
    branches = [i for piece in pieces for i in piece.instructions if i.operation is Operation.BNE]
    assert len(branches) == loops
    assert not loops or sum(len(piece.instructions) for piece in pieces) < 14
