"""Open dimensions of an ONNX file are given sizes by name, for whatever machine it is mapped to."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import mapper as package
from mapper.kind.part import Options


@pytest.fixture
def block(tmp_path: Path) -> str:
    """A product of tokens by a matrix and one of tokens by tokens, with any number of both tokens and images."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["q"], name="/query/MatMul"),
        helper.make_node("Transpose", ["x"], ["t"], perm=[0, 2, 1]),
        helper.make_node("MatMul", ["q", "t"], ["y"], name="/scores/MatMul"),
    ]
    weight = numpy_helper.from_array(np.ones((64, 64), np.float32), "w")
    ends = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["images", "seq", 64]),
        helper.make_tensor_value_info("y", TensorProto.FLOAT, ["images", "seq", "seq"]),
    ]
    graph = helper.make_graph(nodes, "block", ends[:1], ends[1:], [weight])
    path = tmp_path / "block.onnx"
    path.write_bytes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()
    )
    return str(path)


def test_layers_have_the_sizes_that_are_given(block: str) -> None:
    found = package.solve(block, options=Options(batch=1, dim={"seq": 24}))
    macs = [part.problem.nest.iterations for part in found.posed.parts]
    assert macs == [24 * 64 * 64, 24 * 24 * 64]


def test_the_first_dimension_is_given_by_its_name_too(block: str) -> None:
    found = package.solve(block, options=Options(dim={"seq": 8, "images": 3}))
    assert found.posed.parts[0].problem.nest.iterations == 3 * 8 * 64 * 64


def test_the_document_holds_the_sizes_and_is_simulated_as_it_stands(
    mapper: Any, block: str, tmp_path: Path
) -> None:
    path = tmp_path / "solution.json"
    code, _, err = mapper(
        "solve", block, "--batch", "1", "--dim", "seq=24", "--arch", "snowflake-1cc", "-o", str(path)
    )
    assert code == 0, err
    document = json.loads(path.read_text())
    assert document["problem"]["options"]["dim"] == {"seq": 24}
    assert document["problem"]["structure"]["operators"]["dims"] == {"seq": 24}
    assert mapper("simulate", str(path))[0] == 0


def test_without_sizes_the_one_line_says_what_to_give(mapper: Any, block: str) -> None:
    code, _, line = mapper("solve", block, "--batch", "1")
    assert code == 2 and "dimension 1 ('seq') is open; give --dim seq=SIZE" in line


@pytest.mark.parametrize(
    ("workload", "words", "expected"),
    [
        (None, "sequence=8", "is no open dimension of .*; there are seq"),
        ("resnet18", "seq=8", "resnet18 has no open dimensions"),
        ("matmul", "seq=8", "matmul has no open dimensions"),
        ("gemm", "seq=8", "is for open dimensions of ONNX networks"),
        (None, "seq=0", "no size from 1 to"),
        (None, "seq=9999999999", "no size from 1 to"),
        (None, "seq", "write NAME=SIZE"),
    ],
)
def test_what_is_no_size_of_an_open_dimension_is_one_line(
    mapper: Any, block: str, workload: str | None, words: str, expected: str
) -> None:
    code, _, line = mapper("solve", workload or block, "--dim", words)
    assert code == 2 and len(line.splitlines()) == 1 and re.search(expected, line), line
