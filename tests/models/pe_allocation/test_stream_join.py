"""Maps that meet at other sizes: what streams, and what is refused with the operator that is in the way."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

from mapper.models.pe_allocation.stream.layer import StreamNetwork, stream_network
from mapper.workloads.document import InputError
from tests.sim.pe_allocation.onnx_network import Graph, layers, squeeze_and_excite, u_net


def streams(model: onnx.ModelProto) -> StreamNetwork:
    return stream_network(layers(model))


def refused(net: Graph, *outputs: str) -> str:
    with pytest.raises(InputError) as caught:
        streams(net.model(*outputs))
    return str(caught.value)


def test_nearest_upsampling_costs_nothing_and_is_read_several_times() -> None:
    network = streams(u_net())
    assert not network.host
    joined = next(layer for layer in network.layers if len(layer.feeds) == 2)
    assert [joined.stretch(network.layers[feed]) for feed in joined.feeds] == [(1, 1), (2, 2)]


def test_a_transposed_convolution_slides_over_its_map_with_zeros_between() -> None:
    network = streams(u_net(transposed=True))
    layer = next(layer for layer in network.layers if layer.op == "ConvTranspose")
    (feed,) = layer.feeds
    assert layer.spread == layer.stretch(network.layers[feed]) == (2, 2)
    assert layer.size == tuple(2 * side for side in network.layers[feed].output_size)
    assert (layer.strides, layer.pads) == ((1, 1), (1, 1))


def test_a_gate_goes_with_every_position() -> None:
    network = streams(squeeze_and_excite())
    product = next(layer for layer in network.layers if layer.op == "Mul")
    assert sorted(product.stretch(network.layers[feed]) for feed in product.feeds) == [(1, 1), (8, 10)]


def _interpolated(net: Graph, data: str) -> str:
    return net.enlarged(data, mode="linear")


def _by_corners(net: Graph, data: str) -> str:
    return net.enlarged(data, coordinate_transformation_mode="align_corners")


def _turned(net: Graph, data: str) -> str:
    return net.apply("Transpose", data, perm=[0, 1, 3, 2])


def _linear(net: Graph, data: str) -> str:
    return net.shaped(net.linear(net.shaped(data, 1, 4 * 36), 4 * 36, 4 * 36), 1, 4, 6, 6)


@pytest.mark.parametrize(
    ("between", "said"),
    [
        (_interpolated, "resize1 (Resize"),
        (_by_corners, "resize1 (Resize"),
        (_turned, "transpose1 (Transpose"),
        (_linear, "gemm1 (Gemm"),
    ],
)
def test_what_is_no_stream_of_pixels_is_refused_with_the_operator(between: Any, said: str) -> None:
    net = Graph(3, 6, 6)
    message = refused(net, net.convolution(between(net, net.convolution("x", 4)), 2))
    assert "conv2: reads" in message and said in message and message.endswith("end the network before it")
    assert "\n" not in message


@pytest.mark.parametrize("factor", [2, 3])
@pytest.mark.parametrize("way", ["half_pixel", "asymmetric", "pytorch_half_pixel"])
def test_all_ways_to_take_the_nearest_pixel_by_whole_factors_stream(way: str, factor: int) -> None:
    net = Graph(2, 4, 5)
    up = net.enlarged(
        net.convolution("x", 3), factor, coordinate_transformation_mode=way,
        nearest_mode="floor" if way == "asymmetric" else "round_prefer_floor",
    )  # fmt: skip
    layer = streams(net.model(net.convolution(up, 2))).layers[1]
    assert layer.size == (4 * factor, 5 * factor)


def test_places_that_are_not_taken_equally_often_are_no_stream() -> None:
    net = Graph(2, 4, 5)
    scales = np.array([1, 1, 2.5, 1], np.float32)
    up = net._add("Resize", [net.convolution("x", 3), "", net._constant(scales)], 3, mode="nearest")
    assert "resize1" in refused(net, net.convolution(up, 2))
