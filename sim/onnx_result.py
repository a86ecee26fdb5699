"""What onnxruntime computes in single precision, and how far words are from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mapper.sim.onnx_session import exact_session

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
    session = exact_session(changed.SerializeToString())
    return dict(zip(wanted, session.run(list(wanted), dict(given)), strict=True))


def onnx_integers(model: onnx.ModelProto, given: Tensors, name: str) -> npt.NDArray[Any]:
    """A tensor of integers of a quantised ``model`` as onnxruntime has it when the model is run. It joins what stands
    between DequantizeLinear and QuantizeLinear to operators on integers, which round otherwise than these do, but of
    integers with sign only where nobody outside reads them (it makes them unsigned first), and not where two operators
    do. So only what makes the tensor is run, with one operator behind that makes numbers of the integers again."""
    import onnx
    from onnx import helper, numpy_helper

    changed, alive = onnx.ModelProto(), {name}
    changed.CopyFrom(model)
    graph, kept = changed.graph, []
    for node in reversed(model.graph.node):
        if not alive.isdisjoint(node.output):
            alive.update(node.input)
            kept.append(node)
    constants = [one for one in model.graph.initializer if one.name in alive]
    inputs = [one for one in model.graph.input if one.name in alive]
    for field, values in (
        (graph.node, [*reversed(kept)]),
        (graph.initializer, constants),
        (graph.input, inputs),
    ):
        del field[:]
        field.extend(values)
    own = {key: value for key, value in given.items() if key in alive}
    if kept[0].op_type != "QuantizeLinear":
        return np.asarray(onnx_results(changed, {}, own, [name])[name].astype(np.int64))
    ends, real = list(kept[0].input[1:]), f"{name} as numbers"
    graph.node.append(helper.make_node("DequantizeLinear", [name, *ends], [real]))
    held = {one.name: numpy_helper.to_array(one).reshape(-1)[0] for one in constants if one.name in ends}
    scale, zero = held[ends[0]], int(held[ends[1]]) if len(ends) > 1 else 0
    numbers = onnx_results(changed, {}, own, [real])[real]
    return np.asarray(np.rint(numbers / scale).astype(np.int64) + zero)


def deviation(name: str, own: npt.NDArray[Any], expected: npt.NDArray[Any]) -> Deviation:
    """How far the numbers ``own`` are from ``expected``, both in ONNX's order."""
    exact = expected.reshape(-1).astype(np.float64)
    difference = np.abs(own.reshape(-1).astype(np.float64) - exact)
    mean = float(np.sqrt(np.mean(np.square(difference))))
    return Deviation(name, float(difference.max()), mean, float(np.abs(exact).max()))
