"""Small ONNX files for the tests of workloads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

Shape = Sequence[int | str | None]


@pytest.fixture
def save_model(tmp_path: Path) -> Callable[..., str]:
    """Writes a model of these nodes and gives its path; ``inputs`` and ``weights`` map names to shapes."""

    def save(
        nodes: Sequence[onnx.NodeProto],
        inputs: dict[str, Shape],
        weights: dict[str, Sequence[int]] | None = None,
        *,
        constants: dict[str, Sequence[int]] | None = None,
        outputs: Sequence[str] = (),
        element: int = TensorProto.FLOAT,
        opset: int = 17,
        change: Callable[[onnx.ModelProto], Any] = lambda model: None,
        name: str = "net.onnx",
    ) -> str:
        initialisers = [
            helper.make_tensor(key, TensorProto.INT64, [len(values)], values)
            for key, values in (constants or {}).items()
        ]
        claimed = [
            TensorProto(name=key, data_type=element, dims=list(dims)) for key, dims in (weights or {}).items()
        ]
        graph = helper.make_graph(
            list(nodes),
            "net",
            [helper.make_tensor_value_info(key, element, dims) for key, dims in inputs.items()],
            [helper.make_tensor_value_info(key, element, None) for key in outputs],
            [*initialisers, *claimed],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
        change(model)
        path = tmp_path / name
        path.write_bytes(model.SerializeToString())
        return str(path)

    return save
