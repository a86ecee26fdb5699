"""What onnxruntime computes in single precision, and how far the machine's arithmetic is from it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mapper.models.trace_partition.data.fixed_point import ONE
from mapper.models.trace_partition.lowering.layer import HostLayer, TensorView, TraceLayer, TraceNetwork
from mapper.sim.trace_partition.functional.tensor_map import Memory, tensor_map
from mapper.workloads.network.network_layer import LayerNetwork

if TYPE_CHECKING:
    import onnx

Tensors = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Deviation:
    """How far a layer's result, or one of the network's, is from onnxruntime's of the same weights and images: the
    largest difference, the root of the mean square, and the largest number that onnxruntime gives."""

    name: str
    largest: float
    mean: float
    scale: float

    @property
    def relative(self) -> float:
        """The largest difference beside the largest number."""
        return self.largest / self.scale if self.scale else self.largest

    @property
    def relative_mean(self) -> float:
        return self.mean / self.scale if self.scale else self.mean


def onnx_results(model: onnx.ModelProto, weights: Tensors, given: Tensors, wanted: Sequence[str]) -> Tensors:
    """The tensors ``wanted`` of ``model`` with ``weights`` in place of its own constants, from onnxruntime."""
    import onnx
    import onnxruntime
    from onnx import numpy_helper

    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    graph = changed.graph
    nodes = [node for node in graph.node if weights.keys().isdisjoint(node.output)]
    kept = [tensor for tensor in graph.initializer if tensor.name not in weights]
    inputs = [value for value in graph.input if value.name not in weights]
    for field, values in ((graph.node, nodes), (graph.initializer, kept), (graph.input, inputs)):
        del field[:]
        field.extend(values)
    graph.initializer.extend(
        numpy_helper.from_array(np.asarray(value), name) for name, value in weights.items()
    )
    changed.ir_version = max(changed.ir_version, 4)  # constants need not stand among the inputs
    del graph.output[:]
    graph.output.extend(onnx.helper.make_tensor_value_info(tensor, 1, None) for tensor in wanted)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(
        changed.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return dict(zip(wanted, session.run(list(wanted), dict(given)), strict=True))


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
    own = tensor_map(view, memory).transpose(2, 0, 1).reshape(-1).astype(np.float64) / ONE
    exact = expected.reshape(-1).astype(np.float64)
    difference = np.abs(own - exact)
    mean = float(np.sqrt(np.mean(np.square(difference))))
    return Deviation(name, float(difference.max()), mean, float(np.abs(exact).max()))
