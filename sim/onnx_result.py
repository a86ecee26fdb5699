"""What onnxruntime computes in single precision, and how far words are from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

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

    def to_json(self) -> dict[str, float]:
        """Differences beside the largest number."""
        return {"largest": self.relative, "mean": self.relative_mean, "scale": self.scale}

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
    graph.output.extend(onnx.ValueInfoProto(name=tensor) for tensor in wanted)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(
        changed.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return dict(zip(wanted, session.run(list(wanted), dict(given)), strict=True))


def deviation(name: str, own: npt.NDArray[Any], expected: npt.NDArray[Any]) -> Deviation:
    """How far the numbers ``own`` are from ``expected``, both in ONNX's order."""
    exact = expected.reshape(-1).astype(np.float64)
    difference = np.abs(own.reshape(-1).astype(np.float64) - exact)
    mean = float(np.sqrt(np.mean(np.square(difference))))
    return Deviation(name, float(difference.max()), mean, float(np.abs(exact).max()))
