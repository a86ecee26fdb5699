"""onnxruntime's sums of integers, which saturate on some processors unless it is told not to."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from onnx import TensorProto, helper, numpy_helper

from mapper.sim.onnx_session import exact_session

DEPTH = 64
EXTREME: dict[Any, tuple[int, int]] = {np.uint8: (0, 255), np.int8: (-128, 127)}


def product(data: Any, weights: npt.NDArray[Any]) -> bytes:
    """A product of ``data`` integers by constant ``weights``, scaled to integers like the data."""
    one, zero = (
        numpy_helper.from_array(np.array(1, np.float32), "one"),
        numpy_helper.from_array(np.array(0, data), "zero"),
    )
    constants = [
        numpy_helper.from_array(weights, "w"),
        numpy_helper.from_array(np.array(0, weights.dtype), "none"),
        numpy_helper.from_array(np.array(1 << 15, np.float32), "scale"),
    ]
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(data))
    node = helper.make_node("QLinearMatMul", ["x", "one", "zero", "w", "one", "none", "scale", "zero"], ["y"])
    ends = [helper.make_tensor_value_info(name, kind, None) for name in ("x", "y")]
    graph = helper.make_graph([node], "product", ends[:1], ends[1:], [one, zero, *constants])
    opset = [helper.make_opsetid("", 13)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=8)
    return bytes(model.SerializeToString())


@pytest.mark.parametrize("data", [np.uint8, np.int8])
def test_sums_of_the_largest_products_are_exact(data: Any) -> None:
    random = np.random.default_rng(0)
    images = random.choice(EXTREME[data], (8, DEPTH)).astype(data)
    weights = random.choice(EXTREME[np.int8], (DEPTH, 8)).astype(np.int8)
    (found,) = exact_session(product(data, weights)).run(None, {"x": images})
    sums = images.astype(np.int64) @ weights.astype(np.int64)
    limits = np.iinfo(data)
    assert np.array_equal(found, np.clip(np.rint(sums / (1 << 15)), limits.min, limits.max))


def test_a_session_takes_models_whose_results_are_integers_of_32_bits() -> None:
    weights = np.full((DEPTH, 1), 127, np.int8)
    node = helper.make_node("MatMulInteger", ["x", "w"], ["y"])
    ends = [
        helper.make_tensor_value_info("x", TensorProto.UINT8, None),
        helper.make_tensor_value_info("y", TensorProto.INT32, None),
    ]
    graph = helper.make_graph([node], "product", ends[:1], ends[1:], [numpy_helper.from_array(weights, "w")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    (found,) = exact_session(model.SerializeToString()).run(None, {"x": np.full((1, DEPTH), 255, np.uint8)})
    assert found == 255 * 127 * DEPTH
