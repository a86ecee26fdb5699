"""Attributes of ONNX operators as plain values, defaults and small steering operands included."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import onnx
from onnx import numpy_helper

from mapper.workloads.document import InputError
from mapper.workloads.network.operator_network import Attribute
from mapper.workloads.onnx.file import SMALL_VALUE_ELEMENTS
from mapper.workloads.onnx.graph import Operator
from mapper.workloads.onnx.shape.inference import GraphShapes
from mapper.workloads.onnx.window import WINDOW_ATTRIBUTES

_STEERING_NUMBERS = frozenset({"min", "max", "constant_value", "ratio", "training_mode", "k"})
_STEERING_LISTS = frozenset(
    {"axes", "ends", "pads", "repeats", "scales", "sizes", "split", "starts", "steps"}
)
_SHAPE = "shape"
"""An operand that only tells the shape of the output, which is known."""

_LONGEST_TEXT = 200


def operator_attributes(
    operator: Operator, shapes: GraphShapes, opset: int, windowed: bool
) -> tuple[tuple[tuple[str, Attribute], ...], frozenset[int]]:
    """Attributes by name, and the positions of the operands that are among them.

    An operator that ONNX does not define has none; tensors, graphs and lists of more than
    ``SMALL_VALUE_ELEMENTS`` are left out, and if it is ``windowed`` what its window holds.

    Raises: InputError if one is of another type than ONNX says, or is not a finite number.
    """
    try:
        schema = onnx.defs.get_schema(operator.op, opset, operator.domain)
    except onnx.defs.SchemaError:
        return (), frozenset()
    if operator.domain:
        return (), frozenset()
    given = {entry.name: entry for entry in operator.node.attribute}
    found: dict[str, Attribute] = {}
    for name, described in sorted(schema.attributes.items()):
        if windowed and name in WINDOW_ATTRIBUTES:
            continue
        entry = given.get(name, described.default_value)
        kind: Any = described.type  # an enumeration of the C++ library's
        if name in given and entry.type != kind.value:
            remedy = f"{name} must be of type {kind.name}; repair the graph"
            raise InputError(shapes.source, operator.field(), remedy)
        value = _plain(entry)
        if value is not None:
            found[name] = _checked(value, name, operator, shapes.source)
    steering = _steering(operator, schema, shapes)
    found |= {name: value for name, value in steering.items() if value is not None}
    rank = len(shapes.sizes(operator.node.input[0], operator)) if operator.node.input else 0
    axis = found.get("axis")
    if isinstance(axis, int) and axis < 0:
        found["axis"] = axis + rank
    if operator.op in ("Softmax", "LogSoftmax", "Hardmax") and isinstance(found.get("axis"), int):
        found["axes"] = _softmax_axes(found, rank, opset)
    taken = {
        place
        for place, formal in enumerate(schema.inputs[: len(operator.node.input)])
        if formal.name in steering or (formal.name == _SHAPE and operator.op in ("Reshape", "Expand"))
    }
    return tuple(sorted(found.items())), frozenset(taken)


def _softmax_axes(found: Mapping[str, Attribute], rank: int, opset: int) -> tuple[int, ...]:
    """The axes that are normalised together: before opset 13 all from ``axis`` on."""
    axis = found["axis"]
    assert isinstance(axis, int)
    return (axis,) if opset >= 13 else tuple(range(axis, rank))


def _steering(operator: Operator, schema: Any, shapes: GraphShapes) -> dict[str, Attribute | None]:
    """Operands with small constant values that steer the operator; None for a bound that is infinite: none."""
    found: dict[str, Attribute | None] = {}
    for formal, tensor in zip(schema.inputs, operator.node.input, strict=False):
        if formal.name not in _STEERING_NUMBERS | _STEERING_LISTS or tensor not in shapes.constants:
            continue
        array = numpy_helper.to_array(shapes.constants[tensor]).reshape(-1)
        values = (array.astype(int) if array.dtype == bool else array).tolist()
        if formal.name in _STEERING_LISTS:
            found[formal.name] = _checked(tuple(values), formal.name, operator, shapes.source)
        elif len(values) == 1:
            unbounded = operator.op == "Clip" and math.isinf(values[0])
            found[formal.name] = (
                None if unbounded else _checked(values[0], formal.name, operator, shapes.source)
            )
    return found


def _plain(entry: onnx.AttributeProto) -> Attribute | None:
    kinds = onnx.AttributeProto
    if entry.type in (kinds.INT, kinds.FLOAT):
        return entry.i if entry.type == kinds.INT else float(entry.f)
    if entry.type == kinds.STRING:
        return str(entry.s.decode("utf-8", "replace"))[:_LONGEST_TEXT]
    lists = {kinds.INTS: entry.ints, kinds.FLOATS: entry.floats, kinds.STRINGS: entry.strings}
    values = lists.get(entry.type)
    if values is None or len(values) > SMALL_VALUE_ELEMENTS:
        return None
    if entry.type == kinds.STRINGS:
        return tuple(text.decode("utf-8", "replace")[:_LONGEST_TEXT] for text in values)
    return tuple(values)


def _checked(value: Attribute, name: str, operator: Operator, source: str) -> Attribute:
    entries = value if isinstance(value, tuple) else (value,)
    if any(isinstance(entry, float) and not math.isfinite(entry) for entry in entries):
        raise InputError(source, operator.field(), f"{name} is not a finite number; repair the graph")
    return value
