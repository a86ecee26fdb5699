"""Small constants in ONNX graphs: the shapes, axes and pads that other shapes depend on."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import onnx
from onnx import numpy_helper

from mapper.workloads.onnx.file import SMALL_VALUE_ELEMENTS
from mapper.workloads.onnx.graph import Operator
from mapper.workloads.onnx.shape.type import elements, known_dimensions

_FOLDED = (
    "Abs Add And Cast Ceil Concat ConstantOfShape Div Equal Expand Flatten Floor Gather Greater "
    "GreaterOrEqual Identity Less LessOrEqual Max Min Mod Mul Neg Not Or Range ReduceMax ReduceMin "
    "ReduceProd ReduceSum Reshape Slice Split Sqrt Squeeze Sub Tile Transpose Unsqueeze Where"
)
_IS_FOLDED = frozenset(_FOLDED.split())
_NUMBERS = frozenset(
    (
        onnx.TensorProto.INT32,
        onnx.TensorProto.INT64,
        onnx.TensorProto.BOOL,
        onnx.TensorProto.FLOAT,
        onnx.TensorProto.DOUBLE,
    )
)


def is_small(tensor: onnx.TensorProto) -> bool:
    """Whether the tensor may steer shapes, so that its value is looked at."""
    return (
        tensor.data_type in _NUMBERS
        and len(tensor.dims) <= 2
        and math.prod(tensor.dims) <= SMALL_VALUE_ELEMENTS
        and tensor.data_location == onnx.TensorProto.DEFAULT
    )


def shape_values(operator: Operator, types: Mapping[str, onnx.TypeProto]) -> dict[str, onnx.TensorProto]:
    """What ``Shape`` or ``Size`` gives of a tensor whose dimensions are numbers; nothing otherwise."""
    dimensions = known_dimensions(types.get(operator.node.input[0])) if operator.node.input else None
    if dimensions is None or not operator.node.output:
        return {}
    if operator.op == "Size":
        value = np.array(math.prod(dimensions), dtype=object)
    else:
        bounds = {str(entry.name): entry.i for entry in operator.node.attribute}
        value = np.array(
            dimensions[bounds.get("start", 0) : bounds.get("end", len(dimensions))], dtype=object
        )
    if any(not 0 <= number < 1 << 63 for number in value.flat):
        return {}
    return {operator.node.output[0]: numpy_helper.from_array(value.astype(np.int64))}


def folded_values(
    operator: Operator,
    constants: Mapping[str, onnx.TensorProto],
    types: Mapping[str, onnx.TypeProto],
    opset: int,
) -> dict[str, onnx.TensorProto]:
    """The outputs of an operator on small constants, when they are small too; nothing otherwise."""
    from onnx.reference import ReferenceEvaluator  # slow to import, and most networks compute no shapes

    node = operator.node
    named = [name for name in node.input if name]
    if operator.op not in _IS_FOLDED or operator.domain or any(name not in constants for name in named):
        return {}
    if operator.op == "ConstantOfShape" and _makes_weights(node):
        return {}
    for name in filter(None, node.output):
        count = elements(types.get(name))
        if (
            count is None
            or not 0 <= count <= SMALL_VALUE_ELEMENTS
            or len(known_dimensions(types[name]) or ()) > 2
        ):
            return {}
    graph = onnx.helper.make_graph(
        [node],
        "fold",
        [onnx.helper.make_value_info(name, types[name]) for name in dict.fromkeys(named)],
        [onnx.helper.make_value_info(name, types[name]) for name in node.output if name],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)])
    try:
        with np.errstate(all="ignore"):
            feeds = {name: numpy_helper.to_array(constants[name]) for name in named}
            results = ReferenceEvaluator(model).run(None, feeds)
            values = [numpy_helper.from_array(np.asarray(result)) for result in results]
    except Exception:  # an operator that cannot be computed has no constant value; inference goes on without
        return {}
    names = [name for name in node.output if name]
    return {name: value for name, value in zip(names, values, strict=True) if is_small(value)}


def _makes_weights(node: onnx.NodeProto) -> bool:
    """``ConstantOfShape`` is of float unless it says otherwise, and then stands for weights."""
    return not any(
        entry.name == "value" and entry.t.data_type in (onnx.TensorProto.INT64, onnx.TensorProto.INT32)
        for entry in node.attribute
    )
