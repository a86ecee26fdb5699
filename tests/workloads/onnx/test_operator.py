"""ONNX operators are read with everything resolved that ONNX leaves implicit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from onnx import TensorProto, helper

from mapper.workloads.document import InputError
from mapper.workloads.network.operator_network import NetworkOperator, OperatorNetwork, Window
from mapper.workloads.onnx.file import read_model
from mapper.workloads.onnx.operator import operators_of

SaveModel = Callable[..., str]
node = helper.make_node


def read(path: str, batch: int | None = None) -> OperatorNetwork:
    """What the child process of ``read_operators`` does, in this process."""
    return operators_of(read_model(Path(path)), "net", batch)


def window(operator: NetworkOperator) -> Window:
    assert operator.window is not None
    return operator.window


def test_operators_are_named_by_type_and_counted(save_model: SaveModel) -> None:
    nodes = [
        node("Conv", ["x", "w"], ["a"]),
        node("MaxPool", ["a"], ["b"], kernel_shape=[1, 1]),
        node("GlobalAveragePool", ["a"], ["c"]),
        node("Sum", ["b", "c"], ["d"]),
        node("Add", ["d", "a"], ["e"]),
        node("Concat", ["e", "a"], ["f"], axis=-3),
        node("Conv", ["f", "v"], ["g"]),
        node("Relu2", ["g"], ["h"], domain="my.own"),
    ]
    path = save_model(nodes, {"x": [1, 2, 4, 4]}, {"w": [3, 2, 1, 1], "v": [3, 6, 1, 1]})
    network = read(path)
    names = ["conv1", "pool1", "pool2", "add1", "add2", "concat1", "conv2", "myownrelu2x1"]
    assert [operator.name for operator in network.operators] == names
    assert network.operator("myownrelu2x1").op == "my.own.Relu2"
    assert network.operator("concat1").integer("axis") == 1
    assert network.operator("add1").inputs == ("b", "c")
    assert [reader.name for reader in network.readers()["a"]] == ["pool1", "pool2", "add2", "concat1"]


def test_weights_are_names_and_shapes_and_leave_the_positions_of_operands(save_model: SaveModel) -> None:
    nodes = [node("Neg", ["b"], ["c"]), node("Gemm", ["w", "x", "c"], ["y"], transA=1, alpha=0.5)]
    network = read(save_model(nodes, {"x": [5, 3]}, {"w": [5, 4], "b": [3]}))
    (gemm,) = network.operators
    assert (gemm.operands, gemm.inputs) == (("w", "x", "c"), ("x",))
    assert gemm.weights == (("w", (5, 4)), ("c", (3,)))
    assert (gemm.integer("transA"), gemm.number("alpha"), gemm.number("beta"), gemm.macs) == (1, 0.5, 1.0, 60)
    assert network.tensors == {"x": (5, 3), "y": (4, 3)}


@pytest.mark.parametrize(
    ("mode", "pads"), [("SAME_UPPER", ((0, 1), (1, 1))), ("SAME_LOWER", ((1, 0), (1, 1)))]
)
@pytest.mark.parametrize("op", ["Conv", "MaxPool"])
def test_automatic_pads_are_resolved(save_model: SaveModel, op: str, mode: str, pads: object) -> None:
    options: dict[str, Any] = {"kernel_shape": [3, 3], "strides": [2, 1], "auto_pad": mode}
    inputs = ["x", "w"] if op == "Conv" else ["x"]
    path = save_model([node(op, inputs, ["y"], **options)], {"x": [1, 2, 6, 5]}, {"w": [3, 2, 3, 3]})
    network = read(path)
    found = window(network.operators[0])
    assert (found.pads, found.strides, found.dilations) == (pads, (2, 1), (1, 1))
    assert network.tensors["y"][2:] == (3, 5)


def test_a_pool_that_rounds_up_says_so_and_has_the_larger_output(save_model: SaveModel) -> None:
    pool = node(
        "AveragePool",
        ["x"],
        ["y"],
        kernel_shape=[3],
        strides=[2],
        ceil_mode=1,
        count_include_pad=1,
        pads=[1, 0],
    )
    network = read(save_model([pool], {"x": [1, 2, 7]}))
    assert window(network.operators[0]) == Window((3,), (2,), ((1, 0),), (1,), 1, True, True)
    assert network.tensors["y"] == (1, 2, 4)


def test_a_global_pool_has_its_whole_input_as_kernel(save_model: SaveModel) -> None:
    network = read(save_model([node("GlobalMaxPool", ["x"], ["y"])], {"x": [1, 2, 7, 5]}))
    assert window(network.operators[0]) == Window((7, 5), (1, 1), ((0, 0), (0, 0)), (1, 1))


def test_pads_of_a_transposed_convolution_follow_from_its_output_shape(save_model: SaveModel) -> None:
    options: dict[str, Any] = {"strides": [2], "output_shape": [8], "group": 2}
    path = save_model(
        [node("ConvTranspose", ["x", "w"], ["y"], **options)], {"x": [1, 4, 4]}, {"w": [4, 3, 3]}
    )
    network = read(path)
    assert window(network.operators[0]).pads == ((1, 0),)
    assert window(network.operators[0]).groups == 2
    assert (network.tensors["y"], network.macs) == ((1, 6, 8), 4 * 4 * 3 * 3)


def test_small_constants_that_steer_an_operator_are_attributes(save_model: SaveModel) -> None:
    def bounds(model: Any) -> None:
        model.graph.initializer.append(helper.make_tensor("low", TensorProto.FLOAT, [], [-1.5]))
        model.graph.initializer.append(helper.make_tensor("high", TensorProto.FLOAT, [], [float("inf")]))

    nodes = [
        node("Clip", ["x", "low", "high"], ["a"]),
        node("Pad", ["a", "pads"], ["b"]),
        node("Slice", ["b", "begin", "end", "", "step"], ["y"]),
    ]
    constants = {"pads": [0, 1, 2, 3], "begin": [1, 0], "end": [3, 9], "step": [1, 2]}
    clip, pad, cut = read(save_model(nodes, {"x": [2, 3]}, constants=constants, change=bounds)).operators
    assert (clip.operands, clip.weights, clip.attributes) == (("x",), (), (("min", -1.5),))
    assert pad.integers("pads") == (0, 1, 2, 3)
    assert (cut.integers("starts"), cut.integers("ends"), cut.integers("steps")) == ((1, 0), (3, 9), (1, 2))


@pytest.mark.parametrize(("opset", "axes"), [(11, (1, 2)), (13, (1,))])
def test_softmax_before_opset_13_covers_all_axes_from_its_own(
    save_model: SaveModel, opset: int, axes: tuple[int, ...]
) -> None:
    path = save_model([node("Softmax", ["x"], ["y"], axis=1)], {"x": [2, 3, 4]}, opset=opset)
    assert read(path).operators[0].integers("axes") == axes


def test_what_is_computed_from_constants_or_shapes_is_left_out(save_model: SaveModel) -> None:
    nodes = [
        node("Shape", ["x"], ["s"]),
        node("Abs", ["w"], ["v"]),
        node("Reshape", ["x", "s"], ["r"]),
        node("Mul", ["r", "v"], ["y"]),
    ]
    network = read(save_model(nodes, {"x": [2, 3]}, {"w": [3]}, outputs=["y"]))
    assert [operator.name for operator in network.operators] == ["reshape1", "mul1"]
    assert network.operator("reshape1").operands == ("x",)
    assert network.outputs == ("y",)


def test_an_input_that_nobody_reads_is_left_out(save_model: SaveModel) -> None:
    network = read(save_model([node("Relu", ["x"], ["y"])], {"x": [2, 3], "unused": [None, 4]}))
    assert network.inputs == ("x",)


def test_another_batch_changes_the_shapes_and_the_work(save_model: SaveModel) -> None:
    path = save_model([node("MatMul", ["x", "w"], ["y"])], {"x": ["N", 3]}, {"w": [3, 4]})
    network = read(path, 5)
    assert (network.batch, network.tensors["y"], network.macs) == (5, (5, 4), 60)


def test_a_tensor_that_an_operator_reads_must_have_a_shape(save_model: SaveModel) -> None:
    path = save_model([node("NonZero", ["x"], ["a"]), node("Relu", ["a"], ["y"])], {"x": [2, 3]})
    with pytest.raises(InputError, match=r"Relu 'n1': the shape of 'a' is unknown"):
        read(path)


def test_an_open_size_is_named_with_the_input_that_has_it(save_model: SaveModel) -> None:
    path = save_model([node("Relu", ["x"], ["y"])], {"x": [2, "K"]})
    with pytest.raises(InputError, match=r"input 'x': dimension 1 \('K'\) is open"):
        read(path)


@pytest.mark.parametrize(
    ("value", "fault"), [(0.5, "axis must be of type INT"), (9, "the shape of 'y' is unknown")]
)
def test_an_attribute_of_another_type_or_range_is_named(
    save_model: SaveModel, value: float, fault: str
) -> None:
    path = save_model([node("Concat", ["x", "x"], ["y"], axis=value)], {"x": [2, 3]}, outputs=["y"])
    with pytest.raises(InputError, match=fault):
        read(path)


def test_a_number_that_is_not_finite_is_refused(save_model: SaveModel) -> None:
    path = save_model([node("LeakyRelu", ["x"], ["y"], alpha=float("nan"))], {"x": [2, 3]})
    with pytest.raises(InputError, match="alpha is not a finite number"):
        read(path)


def test_a_graph_without_an_operator_on_its_input_is_refused(save_model: SaveModel) -> None:
    path = save_model([node("Abs", ["w"], ["y"])], {"x": [2, 3]}, {"w": [3]})
    with pytest.raises(InputError, match="no operator that depends on an input"):
        read(path)
