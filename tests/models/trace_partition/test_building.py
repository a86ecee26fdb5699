"""How networks become layer objects of the accelerator, and where their tensors lie."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

from mapper.models.trace_partition.lowering.building import trace_network
from mapper.models.trace_partition.lowering.layer import HostLayer, TensorView, TraceLayer, TraceNetwork
from mapper.models.trace_partition.tile.window import window_classes
from mapper.workloads.catalogue import CATALOGUE
from mapper.workloads.document import InputError
from mapper.workloads.source import load_layers
from tests.sim.trace_partition.onnx_layer import layers, model, node, traced

NETWORKS = [name for name, entry in CATALOGUE.items() if entry.origin != "document"]
KERNEL = {"w": np.ones((6, 4, 3, 3), np.float32), "v": np.ones((6, 4, 3, 3), np.float32)}


def of(nodes: list[onnx.NodeProto], shape: tuple[int, ...] = (1, 4, 6, 6), **weights: Any) -> TraceNetwork:
    read = {name for entry in nodes for name in entry.input}
    held = {name: value for name, value in (KERNEL | weights).items() if name in read}
    return traced(model(nodes, shape, held))


def views(layer: TraceLayer | HostLayer) -> list[TensorView]:
    if isinstance(layer, HostLayer):
        return [*layer.inputs, layer.output]
    return [layer.input, layer.output, *([layer.residual] if layer.residual else [])]


def words(view: TensorView) -> set[int]:
    pixels = range(view.height * view.width)
    return {view.offset + at * view.pitch + channel for at in pixels for channel in range(view.channels)}


@pytest.mark.parametrize("name", NETWORKS)
def test_every_network_becomes_layers_that_keep_its_work(name: str) -> None:
    network = load_layers(name)
    trace = trace_network(network)
    assert sum(layer.macs for layer in trace.layers) == network.macs
    sizes = dict(trace.tensors)
    written = {view.tensor for _, view in trace.inputs}
    for layer in trace.layers:
        for view in views(layer):
            assert (
                view.offset + (view.height * view.width - 1) * view.pitch + view.channels
                <= sizes[view.tensor]
            )
            assert view.channels <= view.pitch
        assert {view.tensor for view in views(layer) if view != layer.output} <= written
        written.add(layer.output.tensor)
    assert len({layer.name for layer in trace.layers}) == len(trace.layers)


@pytest.mark.parametrize("name", ["resnet50", "densenet121", "googlenet", "shufflenet", "lightcnn9"])
def test_every_operator_is_a_layer_or_merged_into_one(name: str) -> None:
    network = load_layers(name)
    trace = trace_network(network)
    found = [layer.name for layer in trace.layers]
    found += [merged for layer in trace.traced for merged, _ in layer.merged]
    behind_host = {"Reshape"} if name == "shufflenet" else set()
    lost = [
        one.name for one in network.operators.operators if one.name not in found and one.op not in behind_host
    ]
    assert not lost
    assert len(found) == len(set(found))


def test_normalisation_relu_and_the_shortcut_are_merged_into_resnets_convolutions() -> None:
    trace = trace_network(load_layers("resnet50"))
    assert [layer.op for layer in trace.hosted] == ["Softmax"]
    added = [layer for layer in trace.traced if layer.residual is not None]
    assert len(added) == 16
    assert all(
        layer.relu and [op for _, op in layer.merged] == ["BatchNormalization", "Sum", "Relu"]
        for layer in added
    )


def test_an_addition_is_merged_into_the_later_of_its_convolutions() -> None:
    nodes = [node("Conv", ["x", "w"], ["a"]), node("Conv", ["x", "v"], ["b"]), node("Add", ["a", "b"], ["y"])]
    first, second = of(nodes).traced
    assert first.residual is None
    assert second.residual == first.output
    assert second.merged == (("add1", "Add"),)


@pytest.mark.parametrize(
    "nodes",
    [
        # read by somebody else; rectified before
        [node("Conv", ["x", "w"], ["a"]), node("Relu", ["x"], ["r"]), node("Conv", ["r", "v"], ["b"]),
         node("Add", ["a", "b"], ["c"]), node("Sum", ["c", "b"], ["y"])],
        [node("Conv", ["x", "w"], ["a"]), node("Conv", ["x", "v"], ["b"]), node("Relu", ["b"], ["r"]),
         node("Add", ["a", "r"], ["y"])],
    ],
)  # fmt: skip
def test_an_addition_that_cannot_be_merged_is_a_layer(nodes: list[onnx.NodeProto]) -> None:
    layer = next(layer for layer in of(nodes).traced if layer.name == "add1")
    assert (layer.work, layer.kernel) == ("lane", (1, 1))
    assert layer.residual is not None


def test_the_larger_of_two_halves_is_merged_behind_fully_connected_layers_too() -> None:
    trace = trace_network(load_layers("lightcnn9"))
    halved = [layer for layer in trace.traced if layer.mfm]
    assert (len(halved), halved[-1].op, halved[-1].filters, halved[-1].output.channels) == (
        10,
        "Gemm",
        512,
        256,
    )
    assert not trace.hosted


def test_parts_of_a_concatenation_are_written_in_place() -> None:
    trace = trace_network(load_layers("googlenet"))
    joined = next(layer for layer in trace.traced if ("concat1", "Concat") in layer.merged).output.tensor
    parts = [layer.output for layer in trace.traced if layer.output.tensor == joined]
    assert sorted((part.offset, part.channels, part.pitch) for part in parts) == [
        (0, 64, 256), (64, 128, 256), (192, 32, 256), (224, 32, 256),
    ]  # fmt: skip


def test_nested_concatenations_share_one_tensor() -> None:
    trace = trace_network(load_layers("densenet121"))
    first = next(layer for layer in trace.traced if layer.name == "pool1").output
    assert (first.offset, first.channels, first.pitch) == (0, 64, 256)
    assert not [layer for layer in trace.traced if layer.op == "Identity"]
    assert (
        len({layer.output.tensor for layer in trace.traced if layer.output.pitch > layer.output.channels})
        == 4
    )


def test_no_two_layers_write_the_same_words() -> None:
    nodes = [
        node("Conv", ["x", "w"], ["a"]), node("Conv", ["x", "v"], ["b"]), node("Concat", ["a", "b"], ["c"], axis=1),
        node("Concat", ["b", "c", "b"], ["y"], axis=1),
    ]  # fmt: skip
    trace = of(nodes)
    copies = [layer for layer in trace.traced if layer.op == "Identity"]
    assert [copy.work for copy in copies] == ["lane", "lane"]
    written: dict[str, set[int]] = {}
    for layer in trace.layers:
        seen = written.setdefault(layer.output.tensor, set())
        assert seen.isdisjoint(words(layer.output))
        seen |= words(layer.output)
    ((_, output),) = trace.outputs
    assert words(output) == written[output.tensor]


def test_a_flattened_part_of_a_concatenation_is_copied_to_one_piece() -> None:
    nodes = [
        node("Conv", ["x", "w"], ["a"]), node("Conv", ["x", "v"], ["b"]), node("Concat", ["a", "b"], ["y"], axis=1),
        node("Flatten", ["b"], ["f"]), node("Gemm", ["f", "m"], ["z"]),
    ]  # fmt: skip
    trace = of(nodes, m=np.ones((96, 3), np.float32))
    product, copy = (next(one for one in trace.traced if one.op == op) for op in ("Gemm", "Identity"))
    assert product.input == TensorView(copy.output.tensor, 1, 1, 96, 96)
    assert copy.input.pitch == 12 and copy.output.pitch == 6
    assert trace.layers.index(copy) < trace.layers.index(product)


def test_products_of_single_pixels_run_as_one_column() -> None:
    trace = of([node("Conv", ["x", "k"], ["y"])], (1, 4, 5, 3), k=np.ones((7, 4, 1, 1), np.float32))
    (layer,) = trace.traced
    assert (layer.rows, layer.columns, layer.input.height, layer.input.width) == (15, 1, 15, 1)
    strided = of(
        [node("Conv", ["x", "k"], ["y"], strides=[2, 2])], (1, 4, 5, 3), k=np.ones((7, 4, 1, 1), np.float32)
    )
    assert (strided.traced[0].rows, strided.traced[0].columns) == (3, 2)


def test_a_depthwise_convolution_goes_channel_by_channel_unless_it_multiplies_channels() -> None:
    def work(filters: int) -> tuple[str, int]:
        nodes = [node("Conv", ["x", "k"], ["y"], group=4)]
        (layer,) = of(nodes, k=np.ones((filters, 1, 3, 3), np.float32)).traced
        return layer.work, layer.groups

    assert (work(4), work(8)) == (("lane", 1), ("convolution", 4))


def test_pads_end_where_the_last_window_does() -> None:
    # Of 6 columns with stride 2 the last window ends at the edge; a pool that rounds up reaches beyond it.
    (layer,) = of([node("Conv", ["x", "w"], ["y"], strides=[2, 2], pads=[1, 1, 1, 1])]).traced
    assert layer.pads == ((1, 0), (1, 0))
    (pool,) = of([node("MaxPool", ["x"], ["y"], kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)]).traced
    assert pool.pads == ((0, 1), (0, 1))


def test_a_transposed_convolution_is_one_of_the_spread_map() -> None:
    nodes = [node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 3], pads=[1, 0, 0, 2])]
    (layer,) = of(nodes, (1, 6, 5, 4)).traced
    assert (layer.upsample, layer.stride, layer.spread) == ((2, 3), (1, 1), (9, 10))
    assert layer.pads == ((1, 2), (2, 0))
    assert [layer.rows, layer.columns] == [
        size + sum(pad) - 2 for size, pad in zip(layer.spread, layer.pads, strict=True)
    ]


def test_windows_of_an_average_that_are_clipped_alike_share_a_class() -> None:
    nodes = [node("AveragePool", ["x"], ["y"], kernel_shape=[3, 3], pads=[1, 1, 1, 1])]
    classes = window_classes(of(nodes).traced[0])
    assert classes.rows == ((1, 3), (0, 3), (0, 2))
    assert (classes.count, classes.number(0, 0), classes.number(2, 3), classes.number(5, 5)) == (9, 0, 4, 8)
    counting = [
        node("AveragePool", ["x"], ["y"], kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)
    ]
    assert window_classes(of(counting).traced[0]).count == 1


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        ([node("Conv", ["x", "w"], ["a"]), node("LRN", ["a"], ["y"], size=3)], "division"),
        ([node("Conv", ["x", "w"], ["a"]), node("Softmax", ["a"], ["y"], axis=1)], "exponential"),
        ([node("Conv", ["x", "w"], ["a"]), node("ThresholdedRelu", ["a"], ["y"])], "no such activation"),
        ([node("Conv", ["x", "w"], ["a"]), node("Transpose", ["a"], ["y"])], "moves no elements"),
        ([node("Conv", ["x", "w"], ["a"]), node("MatMul", ["a", "a"], ["y"])], "constant weights"),
        ([node("Conv", ["x", "w"], ["a"]), node("Mul", ["a", "a"], ["y"])], "maps of one size"),
        ([node("Conv", ["x", "w"], ["a"]), node("Concat", ["a", "a"], ["y"], axis=3)], "only channels"),
    ],
)
def test_what_the_accelerator_lacks_runs_on_the_host_with_a_reason(
    nodes: list[onnx.NodeProto], reason: str
) -> None:
    (hosted,) = of(nodes).hosted
    assert reason in hosted.reason
    assert hosted.elements > 0


def test_an_operator_that_nobody_runs_is_named() -> None:
    nodes = [node("Conv", ["x", "w"], ["a"]), node("Gelu", ["a"], ["y"])]
    network = layers(model(nodes, (1, 4, 6, 6), {"w": KERNEL["w"]}, opset=20))
    with pytest.raises(InputError, match="gelu1: Gelu runs neither on the accelerator nor on the host"):
        trace_network(network)


def test_several_images_are_refused_with_the_option_that_helps() -> None:
    with pytest.raises(InputError, match="has 4 images; give --batch 1"):
        trace_network(load_layers("lenet5", 4))


@pytest.mark.parametrize(
    ("nodes", "shape", "weights"),
    [
        ([node("Conv", ["x", "m"], ["y"])], (5, 7, 9), {"m": np.ones((2, 7, 3), np.float32)}),
    ],
)
def test_several_rows_of_images_are_refused_alike(
    nodes: list[onnx.NodeProto], shape: tuple[int, ...], weights: dict[str, Any]
) -> None:
    with pytest.raises(InputError, match="works on 5 images; give --batch 1"):
        of(nodes, shape, **weights)


def test_an_image_without_a_batch_is_one_image() -> None:
    nodes = [node("Unsqueeze", ["x", "axes"], ["a"]), node("Conv", ["a", "w"], ["y"])]
    proto = model(nodes, (4, 6, 6), {"w": KERNEL["w"]}, {"axes": [0]})
    assert [layer.op for layer in traced(proto).layers] == ["Conv"]


def test_pads_that_cut_the_input_are_refused() -> None:
    nodes = [node("ConvTranspose", ["x", "w"], ["y"], pads=[3, 3, 3, 3])]
    with pytest.raises(InputError, match="pads that cut its input"):
        of(nodes, (1, 6, 9, 9))


def test_a_network_without_a_layer_for_the_accelerator_is_refused() -> None:
    with pytest.raises(InputError, match="no layer that the accelerator runs"):
        trace_network(load_layers("googlenet/softmax1"))
