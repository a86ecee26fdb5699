"""How far the machine's arithmetic is from what onnxruntime computes in single precision."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from mapper.models.trace_partition.data.fixed_point import ONE
from mapper.models.trace_partition.lowering.layer import HostLayer, TensorView, TraceLayer, TraceNetwork
from mapper.sim.onnx_result import Deviation, deviation
from mapper.sim.trace_partition.functional.tensor_map import Memory, tensor_map
from mapper.workloads.network.network_layer import LayerNetwork

Tensors = Mapping[str, npt.NDArray[Any]]


def made_tensors(network: LayerNetwork, trace: TraceNetwork) -> dict[str, str]:
    """The ONNX tensor that each layer of ``trace`` makes, with all that is merged; copies make none."""
    operators = {operator.name: operator for operator in network.operators.operators}
    tensors, found = network.operators.tensors, {}
    for layer in trace.layers:
        merged = layer.merged if isinstance(layer, TraceLayer) else ()
        chain = [operators[name] for name in (layer.name, *(name for name, _ in merged)) if name in operators]
        words = layer.output.height * layer.output.width * layer.output.channels
        made = [one.output for one in chain if math.prod(tensors.get(one.output, (0,))) == words]
        if made:
            found[layer.name] = made[-1]
    return found


def deviations(
    network: LayerNetwork, trace: TraceNetwork, memory: Memory, results: Tensors
) -> tuple[tuple[Deviation, ...], tuple[Deviation, ...]]:
    """Of each layer whose ONNX tensor is in ``results``, in order, and of the network's outputs."""
    made = made_tensors(network, trace)
    layers: list[TraceLayer | HostLayer] = [
        layer for layer in trace.layers if made.get(layer.name) in results
    ]
    return (
        tuple(_deviation(layer.name, layer.output, memory, results[made[layer.name]]) for layer in layers),
        tuple(
            _deviation(name, view, memory, results[name]) for name, view in trace.outputs if name in results
        ),
    )


def _deviation(name: str, view: TensorView, memory: Memory, expected: npt.NDArray[Any]) -> Deviation:
    return deviation(name, tensor_map(view, memory).transpose(2, 0, 1) / ONE, expected)
