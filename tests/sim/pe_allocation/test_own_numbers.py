"""A network's own weights on the array, beside onnxruntime, and beside Snowflake's arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from mapper.models.pe_allocation.configuration.configuration import configure
from mapper.models.pe_allocation.number.plan import NumberPlan
from mapper.models.pe_allocation.number.plan_file import plan_arrays, plan_document, read_plan
from mapper.models.pe_allocation.number.unknown import UnknownNumbersError
from mapper.models.pe_allocation.stream.layer import stream_network
from mapper.models.trace_partition.data.fixed_point import words
from mapper.models.trace_partition.data.quantisation import quantised
from mapper.models.trace_partition.lowering.building import trace_network
from mapper.sim.pe_allocation.own.numbers import TOLERANCE, Given, OwnNumbers, own_numbers
from mapper.sim.pe_allocation.reference import reference
from mapper.sim.pe_allocation.report import report
from mapper.sim.trace_partition.functional.tensor_map import tensor_map
from mapper.sim.trace_partition.reference import reference as on_snowflake
from mapper.workloads.catalogue import entry_bytes
from mapper.workloads.document import InputError
from mapper.workloads.network.weight import seeded_weights
from mapper.workloads.onnx.file import parse_model
from mapper.workloads.source import load_layers
from tests.sim.pe_allocation import onnx_network
from tests.sim.pe_allocation.example import allocated, array, problem_of
from tests.sim.pe_allocation.onnx_network import Graph, layers


def given(model: onnx.ModelProto) -> Given:
    weights = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    return Given(layers(model), model, weights, "net.onnx")


def from_catalogue(name: str) -> Given:
    network = load_layers(name, None)
    model = parse_model(entry_bytes(name), name).proto
    return Given(network, model, seeded_weights(network.operators, 0), "seed 0")


def numbers(net: Given, bits: int = 8, frames: int = 1) -> OwnNumbers:
    return own_numbers(net, stream_network(net.network), bits, frames, 0)


def made(own: OwnNumbers) -> tuple[Any, ...]:
    streams = own.plan.streams
    configuration = configure(streams, array(), allocated(streams), "calculus")
    return reference(own.plan.configured(configuration), own.data)


def worst(own: OwnNumbers) -> float:
    found, outputs = own.deviations(made(own))
    return max(one.relative_mean for one in (*found, *outputs))


def residual() -> onnx.ModelProto:
    """An addition of maps of other fractions, a normalisation that is folded, pools with padding, and a mean."""
    net = Graph(3, 9, 9)
    x = net.apply("Relu", net.convolution("x", 6))
    factors = [net._constant(np.linspace(low, 1, 6).astype(np.float32)) for low in (0.5, -0.3, -0.2, 0.4)]
    y = net._add("BatchNormalization", [net.convolution(x, 6), *factors], 6)
    z = net.apply("Relu", net.apply("Add", y, x))
    p = net.apply("AveragePool", z, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    q = net.apply("MaxPool", z, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    low, high = (net._constant(np.array(bound, np.float32)) for bound in (0, 6))
    c = net._add("Clip", [net.convolution(net.joined(p, q), 8), low, high], 8)
    return net.model(net.apply("Max", c, net.apply("Sigmoid", c)), net.apply("Sub", p, q))


MODELS: dict[str, Callable[[], onnx.ModelProto]] = {
    "gate": onnx_network.squeeze_and_excite,
    "gate first": partial(onnx_network.squeeze_and_excite, op="HardSigmoid", gate_first=True),
    "linear gate": onnx_network.linear_gate,
    "u-net": onnx_network.u_net,
    "transposed u-net": partial(onnx_network.u_net, transposed=True),
    "tiny yolo": onnx_network.tiny_yolo,
    "residual": residual,
}


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("name", MODELS)
def test_every_layer_is_within_the_tolerance_of_onnxruntime(name: str, bits: int) -> None:
    assert worst(numbers(given(MODELS[name]()), bits)) < TOLERANCE / 2


@pytest.mark.parametrize("name", ["lenet5", "mnist-tcpa", "cifar10"])
def test_networks_of_the_catalogue_are_within_the_tolerance(name: str) -> None:
    assert worst(numbers(from_catalogue(name))) < TOLERANCE / 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["lightcnn9", "squeezenet", "shufflenet", "resnet18", "googlenet", "alexnet", "densenet121"]
)
def test_large_networks_of_the_catalogue_are_within_the_tolerance(name: str) -> None:
    assert worst(numbers(from_catalogue(name))) < TOLERANCE


def test_the_array_streams_them_and_says_how_far_they_are(tmp_path: Any) -> None:
    net = given(onnx_network.squeeze_and_excite())
    streams = stream_network(net.network)
    allocation = allocated(streams)
    found = report(problem_of(streams, allocation, model="streaming"), allocation, 0, net)
    assert found["agrees"] and found["max_error"] == 0 and found["violations"] == []
    assert found["data"] == {"weights": "net.onnx"}
    beside = found["onnxruntime"]
    assert beside["compared"] and beside["within"] and beside["bits"] == 8
    assert set(beside["layers"]) == set(streams.names) and len(beside["outputs"]) == 1
    assert found["algorithms"]["outputs_equal"]


def test_weights_and_biases_of_the_file_are_the_arrays() -> None:
    model = onnx_network.squeeze_and_excite()
    first = numbers(given(model))
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    bias = changed.graph.initializer[1]
    bias.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(bias) + np.float32(0.5), bias.name))
    own = numbers(given(changed))
    half = 2.0 ** -own.plan.layers[0].made
    before, after = (np.ldexp(made(one)[0].astype(float), -one.plan.layers[0].made) for one in (first, own))
    assert np.abs(after - before - 0.5)[before > 0].max() <= 2 * half
    assert worst(own) < TOLERANCE / 2


def test_words_of_16_bits_are_snowflakes_bit_by_bit() -> None:
    net = Graph(3, 9, 8)
    x = net.apply("Relu", net.convolution("x", 6, stride=2))
    x = net.pool(net.convolution(x, 8, group=2))
    model = net.model(net.apply("Relu", net.transposed(x, 4)))
    own = numbers(given(model), 16)
    network = layers(model)
    trace = trace_network(network)
    image = words(own.frames[0]["x"])[0].transpose(1, 2, 0)
    memory = on_snowflake(trace, quantised(network, trace, own.plan.weights), (), {"x": image})
    for layer, maps in zip(trace.traced, made(own), strict=True):
        assert np.array_equal(tensor_map(layer.output, memory), maps[0]), layer.name


def _divided(net: Graph, data: str) -> str:
    return net.apply("Div", data, net.apply("Sigmoid", data))


def _beside_the_frame(net: Graph, data: str) -> str:
    return net.convolution(net.joined(data, "x"), 2)


@pytest.mark.parametrize(
    ("last", "said"), [(_divided, "div1 (Div)"), (_beside_the_frame, "reads the frame beside maps")]
)
def test_what_nothing_computes_is_named_and_whole_numbers_take_its_place(last: Any, said: str) -> None:
    net = Graph(3, 6, 6)
    model = net.model(last(net, net.convolution("x", 4)))
    with pytest.raises(UnknownNumbersError) as caught:
        numbers(given(model))
    assert said in str(caught.value)
    streams = stream_network(layers(model))
    allocation = allocated(streams)
    found = report(problem_of(streams, allocation, model="streaming"), allocation, 0, given(model))
    assert found["agrees"] and found["data"] == {"weights": "whole numbers"}
    assert not found["onnxruntime"]["compared"] and said in found["onnxruntime"]["reason"]


def written(plan: NumberPlan) -> NumberPlan:
    document = plan_document(plan, "net.onnx")
    return read_plan(plan.network, plan.streams, document, plan_arrays(plan), "constants.npz")


@pytest.mark.parametrize("name", MODELS)
def test_what_is_written_computes_the_same(name: str) -> None:
    own = numbers(given(MODELS[name]()))
    again = replace(own, plan=written(own.plan))
    assert all(np.array_equal(a, b) for a, b in zip(made(own), made(again), strict=True))
    assert plan_arrays(again.plan) == plan_arrays(own.plan)


@pytest.mark.parametrize(
    "change",
    [
        lambda fields: fields.pop("bits"),
        lambda fields: fields["layers"]["conv1"].update(shift="x"),
        lambda fields: fields["layers"]["conv1"].update(rule="other"),
        lambda fields: fields["layers"]["conv1"].update(operands=[]),
        lambda fields: fields["layers"]["conv1"]["arithmetic"].update(most=4000),
        lambda fields: fields["layers"].pop("mul1"),
    ],
)
def test_formats_of_another_network_are_refused(change: Callable[[dict[str, Any]], Any]) -> None:
    plan = numbers(given(onnx_network.squeeze_and_excite())).plan
    document = plan_document(plan, "net.onnx")
    change(document)
    with pytest.raises(InputError, match="has not the numbers of this network"):
        read_plan(plan.network, plan.streams, document, plan_arrays(plan), "constants.npz")
