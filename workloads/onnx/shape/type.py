"""Types of ONNX tensors: element type and dimensions, each a number, a name or nothing."""

from __future__ import annotations

import math

import onnx

LONGEST_DIMENSION_NAME = 80

Dimension = int | str | None


def tensor_type(element: int, dimensions: tuple[Dimension, ...] | None) -> onnx.TypeProto:
    """The type with these dimensions; None instead of them: of unknown rank."""
    kind = onnx.TypeProto()
    kind.tensor_type.elem_type = element
    if dimensions is not None:
        kind.tensor_type.shape.SetInParent()
        for dimension in dimensions:
            entry = kind.tensor_type.shape.dim.add()
            if isinstance(dimension, int):
                entry.dim_value = dimension
            elif dimension is not None:
                entry.dim_param = dimension
    return kind


def dimensions_of(kind: onnx.TypeProto | None) -> tuple[Dimension, ...] | None:
    """The dimensions of a tensor type, or None where even their number is unknown."""
    if kind is None or not kind.HasField("tensor_type") or not kind.tensor_type.HasField("shape"):
        return None
    return tuple(_dimension(entry) for entry in kind.tensor_type.shape.dim)


def known_dimensions(kind: onnx.TypeProto | None) -> tuple[int, ...] | None:
    """The dimensions, if every one is a number."""
    dimensions = dimensions_of(kind)
    if dimensions is None:
        return None
    numbers = tuple(dimension for dimension in dimensions if isinstance(dimension, int))
    return numbers if len(numbers) == len(dimensions) else None


def elements(kind: onnx.TypeProto | None) -> int | None:
    """How many elements a tensor of this type has, if that is known."""
    dimensions = known_dimensions(kind)
    return None if dimensions is None else math.prod(dimensions)


def _dimension(entry: onnx.TensorShapeProto.Dimension) -> Dimension:
    if entry.HasField("dim_value"):
        return entry.dim_value
    name = entry.dim_param
    return name if isinstance(name, str) and 0 < len(name) <= LONGEST_DIMENSION_NAME else None
