"""ONNX models changed field by field, as an exporter with a fault, or somebody with intent, would write them."""

from __future__ import annotations

from random import Random
from typing import Any

import onnx
from google.protobuf.descriptor import FieldDescriptor

from tests.fuzz.mutation.byte import LARGEST_BYTES, NUMBERS, mutated_bytes
from tests.fuzz.mutation.text import HOSTILE

_TEXTS = (*HOSTILE, "x", "w", "Conv", "Gemm", "MatMul", "MaxPool", "AveragePool", "Concat", "Add", "Relu", "Reshape",
          "Flatten", "Split", "Einsum", "Loop", "If", "Constant", "Dropout", "Softmax", "LRN", "Shape", "Gather",
          "ConvTranspose", "GlobalAveragePool", "BatchNormalization", "Expand", "Tile", "NonZero", "kernel_shape",
          "strides", "pads", "dilations", "group", "auto_pad", "SAME_UPPER", "VALID", "axis", "ai.onnx.ml")  # fmt: skip
_WHOLE = (FieldDescriptor.CPPTYPE_INT32, FieldDescriptor.CPPTYPE_INT64, FieldDescriptor.CPPTYPE_ENUM)


def mutated_onnx(data: bytes, random: Random) -> bytes:
    """``data``, an ONNX model, with one of its fields changed, or one byte."""
    if random.random() < 0.15:
        return mutated_bytes(data, random)
    try:
        model = onnx.ModelProto.FromString(data)
    except Exception:  # protobuf has an error type of its own per implementation
        return mutated_bytes(data, random)
    message: Any = model
    # The graph is where nearly all is; from there on any field of any message.
    if random.random() < 0.9 and model.HasField("graph"):
        message = model.graph
    for _ in range(8):
        inner = [
            field
            for field, _ in message.ListFields()
            if field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE and field.name != "metadata_props"
        ]
        if not inner or random.random() < 0.15:
            break
        value = getattr(message, random.choice(inner).name)
        message = random.choice(value) if hasattr(value, "add") else value
    try:
        _change(message, random)
        return bytes(model.SerializeToString()[:LARGEST_BYTES])
    except (ValueError, TypeError, AttributeError):
        return mutated_bytes(data, random)


def _change(message: Any, random: Random) -> None:
    """Change one field of ``message``."""
    fields = [field for field, _ in message.ListFields()] or list(message.DESCRIPTOR.fields)
    if random.random() < 0.15:
        fields = list(message.DESCRIPTOR.fields)
    field = random.choice(fields)
    value = getattr(message, field.name)
    if hasattr(value, "extend"):
        _change_list(message, field, value, random)
    elif field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE or random.random() < 0.15:
        message.ClearField(field.name)
    else:
        setattr(message, field.name, _scalar(field, value, random))


def _change_list(message: Any, field: Any, value: Any, random: Random) -> None:
    many = len(value)
    at = random.randrange(many) if many else 0
    choice = random.randrange(6)
    if choice == 0 and many:
        del value[at]
    elif choice == 1 and many:
        value.extend([value[at]] * random.choice((1, 1, 2, 50)))
    elif choice == 2:
        message.ClearField(field.name)
    elif choice == 3 and many > 1:
        items = list(value)
        items[0], items[at] = items[at], items[0]
        copies = [type(item).FromString(item.SerializeToString()) if hasattr(item, "ListFields") else item
                  for item in items]  # fmt: skip
        message.ClearField(field.name)
        value.extend(copies)
    elif hasattr(value, "add"):
        if many:
            _change(value[at], random)
        else:
            value.add()
    elif many and random.random() < 0.7:
        value[at] = _scalar(field, value[at], random)
    else:
        value.append(_scalar(field, value[at] if many else None, random))


def _scalar(field: Any, value: Any, random: Random) -> Any:
    """A value of the field's type that may mean trouble."""
    if field.cpp_type in _WHOLE:
        bits = 31 if field.cpp_type == FieldDescriptor.CPPTYPE_INT32 else 63
        near = value if isinstance(value, int) else 1
        number = random.choice((*NUMBERS, -1, -2, near + 1, near - 1, -near, 2 * near, 3, 4, 8, 100, 10**9))
        if field.cpp_type == FieldDescriptor.CPPTYPE_ENUM:
            return random.randrange(-1, 24)
        return max(-(1 << bits), min((1 << bits) - 1, number))
    if field.cpp_type in (FieldDescriptor.CPPTYPE_FLOAT, FieldDescriptor.CPPTYPE_DOUBLE):
        return random.choice((0.0, -1.0, 1e30, float("nan"), float("inf"), 0.5))
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        return random.choice(_TEXTS).replace("\ud800", "")
    if field.type == FieldDescriptor.TYPE_BYTES:
        return mutated_bytes(value or b"", random)
    return random.choice((0, 1, 2, 1 << 31))
