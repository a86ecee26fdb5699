"""What runs beside the array equals onnxruntime's: pools exactly or to rounding, floats to a tolerance."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime
import pytest
from onnx import TensorProto, helper

from mapper.models.algorithm_selection.number.seeded import seeded_numbers
from mapper.sim.algorithm_selection.beside import average_pool, beside, local_response, max_pool, softmax
from mapper.workloads.network.builder import NetworkBuilder
from mapper.workloads.network.operator_network import Window
from mapper.workloads.source import load_layers

DATA = np.random.default_rng(0).integers(-128, 128, (2, 7, 9, 8), np.int8)
TOLERANCE = 1e-5


def onnx(op: str, **attributes: Any) -> npt.NDArray[np.float64]:
    """What onnxruntime makes of the data in single precision."""
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None] * 4) for name in "xy"]
    graph = helper.make_graph(
        [helper.make_node(op, ["x"], ["y"], **attributes)], "one", values[:1], values[1:]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return np.asarray(session.run(None, {"x": DATA.astype(np.float32)})[0], np.float64)


@pytest.mark.parametrize("ceil", [False, True])
@pytest.mark.parametrize("pads", [(0, 0), (1, 1), (0, 1)])
def test_the_pooling_unit_finds_the_largest_of_each_window(pads: tuple[int, int], ceil: bool) -> None:
    window = Window((3, 3), (2, 2), (pads, pads), (1, 1), ceil=ceil)
    wanted = onnx(
        "MaxPool",
        kernel_shape=(3, 3),
        strides=(2, 2),
        pads=(pads[0], pads[0], pads[1], pads[1]),
        ceil_mode=ceil,
    )
    assert np.array_equal(max_pool(DATA, window, wanted.shape[2:]), wanted)


@pytest.mark.parametrize("counted", [False, True])
def test_average_pools_are_the_nearest_integers(counted: bool) -> None:
    window = Window((3, 2), (2, 1), ((1, 1), (0, 1)), (1, 1), count_pads=counted)
    wanted = onnx(
        "AveragePool", kernel_shape=(3, 2), strides=(2, 1), pads=(1, 0, 1, 1), count_include_pad=int(counted)
    )
    made = average_pool(DATA, window, wanted.shape[2:])
    assert np.abs(made - wanted).max() <= 0.5 + TOLERANCE


@pytest.mark.parametrize("size", [3, 5])
def test_lrn_is_onnxruntime_s_within_the_tolerance(size: int) -> None:
    wanted = onnx("LRN", size=size, alpha=1e-2, beta=0.75, bias=1.0)
    made = local_response(DATA.astype(np.float64), size, (1e-2, 0.75, 1.0))
    assert np.abs(made / np.where(wanted == 0, 1, wanted) - (wanted != 0)).max() < TOLERANCE


def test_softmax_is_onnxruntime_s_within_the_tolerance() -> None:
    assert np.abs(softmax(DATA.astype(np.float64), (1,)) - onnx("Softmax", axis=1)).max() < TOLERANCE


@pytest.mark.parametrize("op", ["Max", "Min", "Sub", "Mul", "Div"])
def test_elementwise_operators_without_a_unit_take_sixteenths(op: str, tmp_path: Path) -> None:
    net = NetworkBuilder("joining", 3, 6, 5)
    parts = [net.convolution(net.input, name, 4, 1) for name in ("conv1", "conv2")]
    (tmp_path / "joining.onnx").write_bytes(
        net.model(net.convolution(net.apply(op, "join", *parts), "conv3", 2, 1), 2).SerializeToString()
    )
    network = load_layers(str(tmp_path / "joining.onnx"))
    layer = next(one for one in network.layers if one.op == op)
    one, other = (np.random.default_rng(seed).integers(-128, 128, (1, 4, 6, 5), np.int8) for seed in (1, 2))
    (made,) = beside(layer, [one, other], seeded_numbers(network, 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        wanted = JOINED[op](one / 16, other / 16)
    assert np.array_equal(made, np.clip(np.floor(np.nan_to_num(wanted) * 16 + 0.5), -128, 127))


JOINED: dict[str, Callable[[Any, Any], Any]] = {
    "Max": np.maximum,
    "Min": np.minimum,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": np.divide,
}
