"""Seeded weights, and whole networks of the catalogue run on them as onnxruntime runs them."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from mapper.workloads.catalogue import CATALOGUE, entry_bytes
from mapper.workloads.network.network_layer import LayerNetwork
from mapper.workloads.network.weight import seeded_inputs, seeded_weights
from mapper.workloads.reference.layer import network_results
from mapper.workloads.reference.window import Order
from mapper.workloads.source import load_layers, load_operators

SEED = 5
QUICK = ["lenet5", "cifar10", "squeezenet", "shufflenet", "mnist-tcpa"]
LONG = [name for name, entry in CATALOGUE.items() if entry.origin != "document" and name not in QUICK]


def run_by_onnxruntime(name: str, network: LayerNetwork, weights: dict[str, Any]) -> dict[str, Any]:
    """What every layer makes, with these weights in place of the catalogue's constants."""
    import onnxruntime

    proto = onnx.ModelProto.FromString(entry_bytes(name))
    graph = proto.graph
    nodes = [node for node in graph.node if weights.keys().isdisjoint(node.output)]
    kept = [tensor for tensor in graph.initializer if tensor.name not in weights]
    inputs = [value for value in graph.input if value.name not in weights]
    for field, values in ((graph.node, nodes), (graph.initializer, kept), (graph.input, inputs)):
        del field[:]
        field.extend(values)
    graph.initializer.extend(numpy_helper.from_array(value, key) for key, value in weights.items())
    proto.ir_version = max(proto.ir_version, 4)
    made = [layer.output for layer in network.layers]
    del graph.output[:]
    graph.output.extend(onnx.helper.make_tensor_value_info(tensor, 1, None) for tensor in made)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    results = session.run(made, seeded_inputs(network.operators, SEED))
    return dict(zip(made, results, strict=True))


def check(name: str, order: Order) -> None:
    network = load_layers(name)
    weights = seeded_weights(network.operators, SEED)
    own = network_results(network, seeded_inputs(network.operators, SEED), weights, lambda layer: order)
    other = run_by_onnxruntime(name, network, weights)
    for layer in network.layers:
        largest = np.abs(other[layer.output]).max()
        assert np.abs(own[layer.output] - other[layer.output]).max() <= 3e-5 * largest, layer.name


@pytest.mark.parametrize("order", ["gemm", "optcgra"])
@pytest.mark.parametrize("name", QUICK)
def test_every_layer_of_a_network_is_that_of_onnxruntime(name: str, order: Order) -> None:
    check(name, order)


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_every_layer_of_a_large_network_is_that_of_onnxruntime(name: str) -> None:
    check(name, "gemm")


def test_a_part_has_the_weights_that_it_has_in_the_whole() -> None:
    whole, part = (seeded_weights(load_operators(name), SEED) for name in ("squeezenet", "squeezenet/conv3"))
    assert list(part) == [name for name, _ in load_operators("squeezenet/conv3").operators[0].weights]
    assert all(np.array_equal(part[name], whole[name]) for name in part)


def test_another_seed_gives_other_weights_of_the_same_shapes() -> None:
    network = load_operators("lenet5")
    first, second = seeded_weights(network, 1), seeded_weights(network, 2)
    assert [value.shape for value in first.values()] == [value.shape for value in second.values()]
    assert not any(np.array_equal(first[name], second[name]) for name in first)


def test_weights_are_small_integers_times_a_power_of_two_and_keep_the_scale() -> None:
    network = load_layers("resnet50")
    weights = seeded_weights(network.operators, SEED)
    kernel = weights["gpu_0/conv1_w_0"]
    integers = kernel * 2.0 ** round(np.log2(127 / np.abs(kernel).max()))
    assert np.array_equal(integers, np.rint(integers))
    variances = [
        weights[layer.merged[0].operands[4]] for layer in network.layers if layer.work == "convolution"
    ]
    assert all(value.min() >= 0.5 and value.max() < 1 for value in variances)
    results = network_results(
        load_layers("squeezenet"),
        seeded_inputs(load_operators("squeezenet"), SEED),
        seeded_weights(load_operators("squeezenet"), SEED),
        lambda layer: "gemm",
    )
    assert all(0.05 < value.std() < 50 for name, value in results.items() if value.shape[1:2] != (1000,))
