"""onnxruntime's operators on quantised tensors (QLinearAdd, QLinearConcat, ...), unfolded into the lines that other
quantised models have: DequantizeLinear, ONNX's own operator, QuantizeLinear.

Operators: ContribOperators.md of onnxruntime, domain ``com.microsoft``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, numpy_helper

DOMAIN = "com.microsoft"
SINGLE = {
    "QLinearGlobalAveragePool": "GlobalAveragePool",
    "QLinearAveragePool": "AveragePool",
    "QLinearLeakyRelu": "LeakyRelu",
    "QLinearSigmoid": "Sigmoid",
}
"""Of one tensor: its scale and zero point, those of the result."""
PAIRS = {"QLinearAdd": "Add", "QLinearMul": "Mul"}
OWN_ATTRIBUTES = frozenset({"channels_last"})
"""What onnxruntime's operators say beside what ONNX's do."""

Quantised = tuple[str, str, str]
"""Names of a tensor of integers, of its scale and of its zero point ("" where there is none)."""


def unfolded(proto: onnx.ModelProto) -> onnx.ModelProto:
    """The model with such operators unfolded; the same one if it has none. What has no such form stays as it is."""
    if not any(node.domain == DOMAIN for node in proto.graph.node):
        return proto
    changed = onnx.ModelProto()
    changed.CopyFrom(proto)
    nodes = [one for node in proto.graph.node for one in _Unfolding(changed.graph, node).nodes()]
    del changed.graph.node[:]
    changed.graph.node.extend(nodes)
    return changed


class _Unfolding:
    def __init__(self, graph: onnx.GraphProto, node: onnx.NodeProto) -> None:
        self.graph, self.node = graph, node

    def nodes(self) -> Iterator[onnx.NodeProto]:
        node, given = self.node, list(self.node.input)
        if node.domain != DOMAIN or any(one.name == "channels_last" and one.i for one in node.attribute):
            yield node
        elif node.op_type in SINGLE and len(given) >= 4:
            yield from self._around(SINGLE[node.op_type], [_quantised(given[:3])], _result(given[3:5]))
        elif node.op_type in PAIRS and len(given) >= 7:
            operands = [_quantised(given[:3]), _quantised(given[3:6])]
            yield from self._around(PAIRS[node.op_type], operands, _result(given[6:8]))
        elif node.op_type == "QLinearConcat":
            operands = [_quantised(given[at : at + 3]) for at in range(2, len(given), 3)]
            yield from self._around("Concat", operands, _result(given[:2]))
        elif node.op_type == "QGemm" and len(given) >= 8 and self._constants(given[1], given[4]):
            yield from self._product(given)
        else:
            yield node

    def _product(self, given: Sequence[str]) -> Iterator[onnx.NodeProto]:
        """A bias is in units of both scales."""
        operands = [_quantised(given[:3]), _quantised(given[3:6])]
        if given[6]:
            unit = self._constant(given[1]) * self._constant(given[4])
            scale = f"{self.node.output[0]}.unit"
            self.graph.initializer.append(numpy_helper.from_array(unit.astype(np.float32), scale))
            operands.append((given[6], scale, ""))
        yield from self._around("Gemm", operands, _result(given[7:9]))

    def _around(
        self, op: str, operands: Sequence[Quantised], result: tuple[str, str]
    ) -> Iterator[onnx.NodeProto]:
        made = self.node.output[0]
        reals = []
        for place, (integers, scale, zero) in enumerate(operands):
            reals.append(f"{made}.operand{place}")
            axis: dict[str, Any] = {"axis": self._columns} if op == "Gemm" and place == 1 else {}
            if op == "Gemm" and place == 2:
                axis = {"axis": 0}
            yield helper.make_node("DequantizeLinear", _trimmed(integers, scale, zero), reals[-1:], **axis)
        own = helper.make_node(op, reals, [f"{made}.real"], name=self.node.name)
        own.attribute.extend(one for one in self.node.attribute if one.name not in OWN_ATTRIBUTES)
        yield own
        yield helper.make_node("QuantizeLinear", _trimmed(f"{made}.real", *result), [made])

    @property
    def _columns(self) -> int:
        """The axis of a matrix along which scales may differ: its columns, as the product has them."""
        return 0 if any(one.name == "transB" and one.i for one in self.node.attribute) else 1

    def _constants(self, *names: str) -> bool:
        return {*names} <= {one.name for one in self.graph.initializer}

    def _constant(self, name: str) -> npt.NDArray[Any]:
        return numpy_helper.to_array(next(one for one in self.graph.initializer if one.name == name))


def _quantised(names: Sequence[str]) -> Quantised:
    integers, scale, zero = (*names, "", "")[:3]
    return integers, scale, zero


def _result(names: Sequence[str]) -> tuple[str, str]:
    scale, zero = (*names, "")[:2]
    return scale, zero


def _trimmed(*names: str) -> list[str]:
    return [name for name in names if name]
