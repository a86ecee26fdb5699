"""Snowflake programs as files: read as written, whatever else the bytes may be."""

from __future__ import annotations

import json
import re
import struct
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.models.trace_partition.isa.program import HostCall, Program
from mapper.models.trace_partition.isa.program_file import (
    load_program,
    read_program,
    relocated,
    write_program,
)
from mapper.workloads.document import InputError
from tests.models.trace_partition.isa.small_program import OUTPUT, address, program_of, view

TEXT = f"""
{address("r1", OUTPUT)}
        MOVI r2, 3
again:  ADDI r2, r2, -1
        BNE r2, r0, again
        SYNC
        SYNC
        HALT 1
{address("r3", 70000)}
        HALT 0
"""
CALL = HostCall(
    1,
    "softmax1",
    "Softmax",
    (view("x"),),
    view("y"),
    (("axis", -1), ("beta", 0.75), ("mode", "x"), ("pads", (0, 1)), ("scales", (1.0, 2.5)), ("no", ())),
)
PROGRAM = program_of(TEXT, TEXT, constants=(1, -2, 32767), calls=(CALL,))
FILE = write_program(PROGRAM)


def same(one: Program, other: Program) -> bool:
    """Equal in every field, arrays included."""
    parts = [one, other]
    arrays = [[c.code for c in p.clusters] + [s.words for s in p.segments] for p in parts]
    bare = [
        replace(
            p,
            clusters=tuple(replace(c, code=np.zeros(0, np.uint32)) for c in p.clusters),
            segments=tuple(replace(s, words=np.zeros(0, np.int16)) for s in p.segments),
        )
        for p in parts
    ]
    return repr(bare[0]) == repr(bare[1]) and all(
        np.array_equal(a, b) for a, b in zip(arrays[0], arrays[1], strict=True)
    )


def with_header(change: Callable[[dict[str, Any]], None]) -> bytes:
    """The file with another header."""
    length = struct.unpack_from("<I", FILE, 12)[0]
    header = json.loads(FILE[16 : 16 + length])
    change(header)
    text = json.dumps(header).encode()
    return FILE[:12] + struct.pack("<I", len(text)) + text + FILE[16 + length :]


def test_a_program_comes_back_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "program.snow"
    path.write_bytes(FILE)
    assert same(load_program(path), PROGRAM)
    assert write_program(load_program(path)) == FILE


def test_attributes_keep_their_types() -> None:
    attributes = dict(read_program(FILE, "file").calls[0].attributes)
    assert [type(value) for value in attributes.values()] == [int, float, str, tuple, tuple, tuple]
    assert isinstance(attributes["scales"], tuple) and [type(x) for x in attributes["scales"]] == [
        float,
        float,
    ]


def test_relocation_moves_the_addresses_alone() -> None:
    moved = relocated(PROGRAM, 0x12345)
    code, before = moved.clusters[0].code, PROGRAM.clusters[0].code
    assert moved.base == 0x12345
    changed = np.flatnonzero(code != before).tolist()
    assert set(changed) <= {place + half for place in PROGRAM.clusters[0].relocations for half in (0, 1)}
    low, high = PROGRAM.clusters[0].relocations[1], PROGRAM.clusters[0].relocations[1] + 1
    assert (int(code[low]) & 0xFFFF) + ((int(code[high]) & 0xFFFF) << 16) == 70000 + 0x12345
    assert same(relocated(moved, 0), PROGRAM)
    assert same(read_program(write_program(moved), "file"), moved)


def test_a_base_beyond_the_addresses_is_refused() -> None:
    with pytest.raises(InputError, match="beyond the addresses of 32 bits"):
        relocated(PROGRAM, (1 << 32) - 1)


@pytest.mark.parametrize("length", [0, 7, 15, 16, 200, len(FILE) - 1])
def test_a_truncated_file_is_refused(length: int) -> None:
    with pytest.raises(InputError, match=r"^cut: "):
        read_program(FILE[:length], "cut")


def change_code(place: int, word: int) -> bytes:
    at = 16 + struct.unpack_from("<I", FILE, 12)[0] + 4 * place
    return FILE[:at] + struct.pack("<I", word) + FILE[at + 4 :]


RELOCATIONS = 512  # the first cluster's table stands after its one bank


@pytest.mark.parametrize(
    ("data", "remedy"),
    [
        (b"ELF" + FILE, "is not a Snowflake program"),
        (FILE[:8] + struct.pack("<I", 9) + FILE[12:], "version: is 9"),
        (FILE[:12] + struct.pack("<I", 0xFFFFFFFF) + FILE[16:], "header: 4294967295 bytes"),
        (FILE[:16] + b"[" * 400 + FILE[416:], "Invalid JSON"),
        (FILE + b"\0", "code and data should be"),
        (with_header(lambda h: h.update(words=1 << 40)), "words: must be at most"),
        (with_header(lambda h: h.update(words=100)), "ends beyond the program's 100 words"),
        (with_header(lambda h: h.update(base=(1 << 32) - 1)), "base: the program ends beyond"),
        (with_header(lambda h: h.pop("calls")), "calls: is missing; add it"),
        (with_header(lambda h: h.update(more=1)), "more: unknown key"),
        (with_header(lambda h: h["clusters"][0].update(instructions=513)), "multiple of 512"),
        (with_header(lambda h: h["clusters"][0].update(instructions=1 << 24)), "code and data should be"),
        (with_header(lambda h: h["clusters"][1].update(address=1025)), "overlaps code of cluster 0"),
        (with_header(lambda h: h["segments"][0].update(address=5)), "overlaps tensor x"),
        (with_header(lambda h: h["tensors"][1].update(address=700)), "code of cluster 0: overlaps tensor y"),
        (with_header(lambda h: h["tensors"][1].update(name="x")), "tensor x: occurs twice"),
        (with_header(lambda h: h["tensors"][0].update(words=1 << 30)), "ends beyond the program's"),
        (with_header(lambda h: h["inputs"][0][0]["view"].update(tensor="z")), "there is no tensor z"),
        (with_header(lambda h: h["inputs"][0][0]["view"].update(width=2)), "x: is not within tensor x"),
        (with_header(lambda h: h["calls"][0]["output"].update(channels=4, pitch=1)), "call 1: is not within"),
        (with_header(lambda h: h["outputs"][0][0]["view"].update(offset=1)), "y: is not within tensor y"),
        (with_header(lambda h: h["clusters"][0]["marks"][0].update(place=512)), "mark conv1: lies beyond"),
        (change_code(2, 0xF0000000), r"cluster 0: instruction 2 \(bank 0, place 2\): 0xf0000000 is no"),
        (change_code(510, 0x4083FFFF), "place 510.*a delay slot, leaves its bank"),
        (change_code(9, 0x4083FF00), "place 9.*leaves its bank"),
        (change_code(5, 0x4083FFFF), "place 5.*is a branch in a delay slot"),
        (change_code(RELOCATIONS, 511), "relocations: 511 is not in the code"),
        (change_code(RELOCATIONS, 1), "is not a MOVI with the MOVI.H"),
        (change_code(RELOCATIONS + 1, 0), "is not a MOVI with the MOVI.H.*out of order"),
    ],
)
def test_a_hostile_file_is_refused_in_one_line(data: bytes, remedy: str) -> None:
    with pytest.raises(InputError) as caught:
        read_program(data, "file")
    message = str(caught.value)
    assert message.startswith("file: ") or message.startswith("file: cluster 0")
    assert "\n" not in message
    assert re.search(remedy, message), message


@settings(derandomize=True, deadline=None, max_examples=300)
@given(st.lists(st.tuples(st.integers(0, len(FILE) - 1), st.integers(0, 255)), min_size=1, max_size=4))
def test_a_file_with_other_bytes_is_a_program_or_an_input_error(changes: list[tuple[int, int]]) -> None:
    data = bytearray(FILE)
    for place, byte in changes:
        data[place] = byte
    _read_or_refuse(bytes(data))


HEADER = json.loads(FILE[16 : 16 + struct.unpack_from("<I", FILE, 12)[0]])
VALUES = st.one_of(
    st.sampled_from(
        (0, 1, -1, 511, 512, 513, 1 << 16, 1 << 24, 1 << 31, 1 << 32, 1 << 70, 1.5, 1e400, True, None)
    ),
    st.sampled_from(("", "x", "y", "\0\n", "n" * 300, [], {}, [[]], [1, "a"])),
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    return found + [place for key, child in children for place in _places(child, (*path, key))]


@settings(derandomize=True, deadline=None, max_examples=300)
@given(st.lists(st.tuples(st.sampled_from(_places(HEADER)), VALUES), min_size=1, max_size=3))
def test_a_header_with_other_values_is_a_program_or_an_input_error(
    changes: list[tuple[tuple[Any, ...], Any]],
) -> None:
    def change(header: Any) -> None:
        for path, value in changes:
            at = header
            with suppress(KeyError, IndexError, TypeError):  # an earlier change took the place away
                for key in path[:-1]:
                    at = at[key]
                at[path[-1]] = value

    _read_or_refuse(with_header(change))


def _read_or_refuse(data: bytes) -> None:
    try:
        program = read_program(data, "file")
    except InputError as error:
        assert str(error).startswith("file")
        return
    assert same(read_program(write_program(program), "file"), program)


def test_reading_takes_no_more_memory_than_a_few_times_the_file() -> None:
    data = with_header(lambda header: header.update(words=1 << 31))
    tracemalloc.start()
    try:
        read_program(data, "file")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 40 * len(data) + (1 << 20)
