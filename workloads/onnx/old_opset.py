"""Models of ONNX's first opsets, brought to the oldest that is read, by onnx's own version converter."""

from __future__ import annotations

from collections.abc import Mapping

import onnx
import onnx.shape_inference
import onnx.version_converter
from onnx import helper

from mapper.workloads.document import InputError

OLDEST_OPSET = 7
"""From here on operands broadcast as numpy's do."""
OLD_OPSETS = range(1, OLDEST_OPSET)
BROADCASTING = frozenset(
    {"Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor", "Equal", "Greater", "Less", "PRelu"}
)
"""Operators whose second operand had to be told how to broadcast."""


def convert_old(proto: onnx.ModelProto, source: str) -> onnx.ModelProto:
    """The same model at ``OLDEST_OPSET``. The converter goes up one opset at a time, as it asks for shapes that only
    the rules of each opset tell.

    Raises: InputError if it cannot be converted.
    """
    version = next((entry.version for entry in proto.opset_import if entry.domain in ("", "ai.onnx")), 1)
    if any(tensor.data_location == onnx.TensorProto.EXTERNAL for tensor in proto.graph.initializer):
        remedy = f"opset {version} cannot have external data; save the model with its data, or convert it"
        raise InputError(source, "opset_import", remedy)
    try:
        proto = onnx.shape_inference.infer_shapes(proto, data_prop=True)
        for target in range(version, OLDEST_OPSET):
            # The last opset in which operands say how they broadcast knows shapes after operators that those before
            # it say nothing of, such as Gemm.
            proto = _aligned(proto) if target + 1 == OLDEST_OPSET else proto
            proto = onnx.version_converter.convert_version(proto, target + 1)
            proto = onnx.shape_inference.infer_shapes(proto, data_prop=True)
    except MemoryError:
        raise
    except Exception as error:  # of C++, of several types
        why = " ".join(str(error).split())[:160]
        remedy = f"opset {version} cannot be converted to {OLDEST_OPSET} ({why}); export the model again"
        raise InputError(source, "opset_import", remedy) from None
    return proto


def _aligned(proto: onnx.ModelProto) -> onnx.ModelProto:
    """The model with each operand that ``axis`` puts under other dimensions than the last reshaped to stand there: of
    this the converter (1.23) makes an operand of too many dimensions, under the wrong ones.

    Raises: ValueError if the ranks are unknown or do not fit.
    """
    ranks = _ranks(proto.graph)
    nodes = []
    for place, node in enumerate(proto.graph.node):
        own = {attribute.name: attribute for attribute in node.attribute}
        if node.op_type in BROADCASTING and "broadcast" in own and own["broadcast"].i:
            behind = _behind(node, own["axis"].i, ranks, place) if "axis" in own else 0
            if behind:
                second = ranks[node.input[1]]
                aligned = f"{node.input[1]} under axis {own['axis'].i} of operator {place}"
                axes = list(range(second, second + behind))
                nodes.append(helper.make_node("Unsqueeze", [node.input[1]], [aligned], axes=axes))
                node.input[1] = aligned
            kept = [one for name, one in own.items() if name not in ("axis", "broadcast")]
            del node.attribute[:]
            node.attribute.extend(kept)
        nodes.append(node)
    del proto.graph.node[:]
    proto.graph.node.extend(nodes)
    return proto


def _behind(node: onnx.NodeProto, axis: int, ranks: Mapping[str, int], place: int) -> int:
    """Dimensions of the first operand behind those under which ``axis`` puts the second.

    Raises: ValueError if the ranks are unknown or do not fit.
    """
    first, second = (ranks.get(name) for name in node.input[:2])
    if first is None or second is None:
        raise ValueError(f"the ranks of operands of {node.op_type} {place} are unknown")
    behind = first - (axis if axis >= 0 else axis + first) - second
    if behind < 0:
        raise ValueError(f"{node.op_type} {place} has no axis {axis}")
    return behind


def _ranks(graph: onnx.GraphProto) -> Mapping[str, int]:
    values = (*graph.input, *graph.value_info, *graph.output)
    ranks = {
        one.name: len(one.type.tensor_type.shape.dim)
        for one in values
        if one.type.tensor_type.HasField("shape")
    }
    return ranks | {tensor.name: len(tensor.dims) for tensor in graph.initializer}
