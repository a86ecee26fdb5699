"""PBQP files: every form gives back what was written, and bad ones are one clear line."""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.workloads.document import InputError
from mapper.workloads.pbqp.binary import MAGIC, pbqp_binary
from mapper.workloads.pbqp.document import pbqp_document
from mapper.workloads.pbqp.file import pbqp_from_bytes, read_pbqp, write_pbqp
from mapper.workloads.pbqp.instance import LARGEST_TOTAL, PbqpInstance, instance
from mapper.workloads.pbqp.text import pbqp_text
from tests.solver.pbqp.oracle import instances

GOOD = b"2 1\n2\n1 2\n3\n4 inf 6\n0 1\n2 3\n1 2 3\n4 5 inf\n"


def _same(one: PbqpInstance, other: PbqpInstance) -> bool:
    return one.exact == other.exact and all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("vertex_offset", "vertex_cost", "edge_end", "edge_offset", "edge_cost")
    )


def test_the_text_form_is_read_exactly() -> None:
    found = pbqp_from_bytes(GOOD, "a.in", "a")
    assert found.exact and found.costs(1).tolist() == [4, found.infinity, 6]
    assert found.matrix(0).tolist() == [[1, 2, 3], [4, 5, found.infinity]]


@settings(derandomize=True, deadline=None)
@given(instances())
def test_every_form_gives_back_what_was_written(problem: PbqpInstance) -> None:
    for data in (
        pbqp_text(problem).encode(),
        json.dumps(pbqp_document(problem)).encode(),
        pbqp_binary(problem),
    ):
        assert _same(pbqp_from_bytes(data, "a", "a"), problem)


@pytest.mark.parametrize("suffix", [".in", ".json", ".pbqp"])
@pytest.mark.parametrize("cost", [0.1, (1 << 56) + 1, -3])
def test_costs_keep_every_digit_in_every_form(tmp_path: Path, suffix: str, cost: float) -> None:
    problem = instance([[cost, math.inf]])
    write_pbqp(problem, tmp_path / f"a{suffix}")
    assert _same(read_pbqp(tmp_path / f"a{suffix}")[0], problem)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "ends before the number of vertices"),
        (b"\x00\xff", "is not a cost"),
        (b"0 0", "line 1: the number of vertices is 0"),
        (b"-3 0", "line 1: the number of vertices is -3"),
        (b"1000000000 1000000000\n", "claims 1000000000 vertices"),
        (b"1 0\n1000000000\n1\n", "calls for 1000000000 numbers"),
        (b"1 0\n2\n1 nan\n", "line 3: 'nan' is not a cost"),
        (b"1 0\n2\n1 -inf\n", "minus infinity"),
        (b"1 0\n2\n1 x\n", "line 3: 'x' is not a cost"),
        (b"1 0\n0.5\n1 2\n", "line 2: the number of choices of vertex 0 is 0.5"),
        (b"1 0\n1\n99999999999999999999999\n", "scale the costs"),
        (b"1 0\n1\n2305843009213693952\n", "scale the costs"),
        (b"1 0\n1\n5 6\n", "goes on after the last"),
        (GOOD.replace(b"0 1\n", b"0 2\n"), "line 6: edge 0 names vertex 2"),
        (GOOD.replace(b"2 3\n1", b"3 2\n1"), "line 7: the matrix of edge 0 (0 1) is 3 x 2 but must be 2 x 3"),
        (GOOD[:-6], "edge 0 calls for 6 numbers but 4 are left"),
        (b"2 0\n3\n1 2 3\n", "ends before the number of choices of vertex 1"),
        (b"{", "neither YAML nor JSON"),
        (b'{"schema": "mapper.pbqp/2"}', "schema: must be mapper.pbqp/1"),
        (b'{"schema": "mapper.pbqp/1"}', "vertices: must be a list"),
        (b'{"schema": "mapper.pbqp/1", "vertices": [[1, true]]}', "vertices.0.1: is not a cost"),
        (b'{"schema": "mapper.pbqp/1", "vertices": [[NaN]]}', "vertices.0.0: is not a cost"),
        (b'{"schema": "mapper.pbqp/1", "vertices": [[]]}', "has no choice"),
        (b'{"schema": "mapper.pbqp/1", "vertices": [[1]], "edge": []}', "edge: unknown key"),
        (b'{"schema": "mapper.pbqp/1", "vertices": [[1]], "edges": [{"ends": [0, 1], "costs": []}]}', "no such"),
        (struct.pack("<8sQQQQQ", MAGIC, 8, 1 << 30, 1 << 30, 1 << 30, 1 << 62), "claims"),
        (struct.pack("<8sQQQQQ", MAGIC, 7, 0, 0, 0, 0), "the width is"),
        (struct.pack("<8sQQQQQ", MAGIC, 8, 0, 0, 0, 0), "give at least one"),
        (struct.pack("<8sQQQQQI", MAGIC, 8, 1, 0, 0, 0, 0), "has no choice"),
        (struct.pack("<8sQQQQQId", MAGIC, 0, 1, 0, 1, 0, 1, math.nan), "vertex 0"),
        (MAGIC, "not a binary PBQP"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line_that_names_the_place(data: bytes, said: str) -> None:
    with pytest.raises(InputError) as caught:
        pbqp_from_bytes(data, "bad.in", "bad")
    assert str(caught.value).startswith("bad.in: ") and said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_ends_in_the_middle_of_its_last_edge_names_the_edge() -> None:
    with pytest.raises(InputError, match="line 9: edge 0"):
        pbqp_from_bytes(b"2 1\n2\n1 2\n3\n4 5 6\n0 1\n2 3\n1 2 3\n4\n", "cut.in", "cut")


@settings(derandomize=True, deadline=None, max_examples=300)
@given(st.binary(max_size=60), st.integers(0, len(GOOD)))
def test_no_bytes_make_the_reader_fail_otherwise(noise: bytes, at: int) -> None:
    for data in (GOOD[:at] + noise, pbqp_binary(instance([[1, 2]]))[:at] + noise, b"{" + noise):
        try:
            assert pbqp_from_bytes(data, "a", "a").vertices > 0
        except InputError as error:
            assert len(str(error)) < 700


def test_the_largest_total_is_still_read() -> None:
    large = LARGEST_TOTAL - (1 << 48)
    assert pbqp_from_bytes(f"1 0 1 {large}".encode(), "a", "a").value([0]) == large
