"""Small ONNX models as layers of the accelerator, and beside onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from mapper.models.trace_partition.data.fixed_point import ONE, words
from mapper.models.trace_partition.data.quantisation import quantised
from mapper.models.trace_partition.lowering.building import trace_network
from mapper.models.trace_partition.lowering.host_call import host_calls
from mapper.models.trace_partition.lowering.layer import TraceNetwork
from mapper.sim.onnx_result import onnx_results
from mapper.sim.trace_partition.functional.tensor_map import tensor_map
from mapper.sim.trace_partition.reference import reference
from mapper.workloads.network.building import network_layers
from mapper.workloads.network.network_layer import LayerNetwork
from mapper.workloads.onnx.file import parse_model
from mapper.workloads.onnx.operator import operators_of

node = helper.make_node
Tensors = Mapping[str, Any]


def sixteenths(shape: Sequence[int], seed: int, largest: int = 24) -> Any:
    """Multiples of 1/16: products are multiples of 1/256, which Q8.8 holds exactly."""
    integers = np.random.default_rng(seed).integers(-largest, largest + 1, shape)
    return integers.astype(np.float32) / np.float32(16)


def model(
    nodes: Sequence[onnx.NodeProto],
    shape: Sequence[int],
    weights: Tensors,
    constants: Mapping[str, Sequence[int]] | None = None,
    outputs: Sequence[str] = (),
    opset: int = 17,
) -> onnx.ModelProto:
    """A model of one input ``x``; its outputs are ``outputs`` or what nobody reads."""
    made = dict.fromkeys(name for entry in nodes for name in entry.output if name)
    read = {name for entry in nodes for name in entry.input}
    handed = outputs or [name for name in made if name not in read]
    held = [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in weights.items()]
    held += [
        helper.make_tensor(name, TensorProto.INT64, [len(values)], values)
        for name, values in (constants or {}).items()
    ]
    graph = helper.make_graph(
        list(nodes),
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in handed],
        held,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def layers(proto: onnx.ModelProto, batch: int | None = None) -> LayerNetwork:
    return network_layers(operators_of(parse_model(proto.SerializeToString(), "net"), "net", batch))


def traced(proto: onnx.ModelProto) -> TraceNetwork:
    return trace_network(layers(proto))


def both(proto: onnx.ModelProto, weights: Tensors, seed: int = 7) -> dict[str, tuple[Any, Any]]:
    """Every output of the machine's arithmetic, as numbers in ONNX's shape, and of onnxruntime."""
    network = layers(proto)
    trace = trace_network(network)
    given = sixteenths(network.operators.tensors["x"], seed)
    (view,) = (view for _, view in trace.inputs)
    image = words(given).reshape(view.channels, view.height, view.width).transpose(1, 2, 0)
    data, calls = quantised(network, trace, weights), host_calls(network, trace, weights)
    memory = reference(trace, data, calls, {"x": image})
    expected = onnx_results(proto, weights, {"x": given}, [name for name, _ in trace.outputs])
    return {
        name: (
            tensor_map(view, memory).transpose(2, 0, 1).reshape(expected[name].shape) / np.float64(ONE),
            expected[name],
        )
        for name, view in trace.outputs
    }


def check(proto: onnx.ModelProto, weights: Tensors, steps: float = 0.5) -> None:
    """Every output is onnxruntime's, rounded to Q8.8: at most so many steps of 1/256 from it."""
    for name, (own, other) in both(proto, weights).items():
        limited = np.clip(other, -128, 128 - 1 / ONE)
        assert np.abs(own - limited).max() <= steps / ONE + 1e-5, name
