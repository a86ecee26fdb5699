"""What commands say of numbers that are too large to be counted exactly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

from mapper.arch.snowflake import snowflake_preset


@pytest.mark.parametrize(
    "words",
    [
        ("--fix", "mode=mixed", "--method", "cp-sat", "--max-buffer", "9" * 15),
        ("--fix", "mode=mixed", "--method", "cp-sat", "--min-throughput", "1e-300"),
        ("--model", "streaming", "--objective", "pes", "--method", "cp-sat", "--min-throughput", "1e-300"),
        ("--model", "streaming", "--objective", "latency", "--method", "ilp", "--min-throughput", "1e-300"),
    ],
)
def test_limits_beyond_every_number_are_no_limits(mapper: Any, words: tuple[str, ...]) -> None:
    code, _, err = mapper("solve", "mnist-tcpa", *words)
    assert code == 0 and "error" not in err


def test_a_network_of_numbers_too_large_is_one_line_and_exit_2(mapper: Any, tmp_path: Path) -> None:
    nodes = [
        helper.make_node(
            "MaxPool", [f"t{at}"], [f"t{at + 1}"], kernel_shape=[2, 2], strides=[2, 2], pads=[1, 1, 0, 0]
        )
        for at in range(40)
    ]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 3, 1, 1]) for name in ("t0", "t40")]
    graph = helper.make_graph(nodes, "deep", ends[:1], ends[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    path = tmp_path / "deep.onnx"
    onnx.save(model, str(path))
    for mode in ("layer-parallel", "mixed"):
        code, _, err = mapper("solve", str(path), "--arch", "tcpa-8x8", "--fix", f"mode={mode}")
        assert code == 2 and err.count("\n") == 1 and "cycles on few PEs" in err


def test_a_machine_whose_times_cannot_be_counted_is_one_line_and_exit_2(mapper: Any, tmp_path: Path) -> None:
    fields = snowflake_preset("snowflake-1cc")
    assert fields is not None
    path = tmp_path / "slow.json"
    path.write_text(json.dumps({**fields, "clock_mhz": 999999.999, "bandwidth_gb_s": 0.001}))
    code, _, err = mapper("solve", "vgg19", "--arch", str(path))
    assert code == 2 and err.count("\n") == 1
    assert "parts of a cycle" in err and "rounder clock_mhz" in err
