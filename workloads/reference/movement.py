"""What operators make that move data and compute nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.workloads.network.network_layer import NetworkLayer
from mapper.workloads.network.resize import nearest_places
from mapper.workloads.reference.elementwise import Tensors, unknown

Data = npt.NDArray[Any]


def moved(layer: NetworkLayer, data: Data, weights: Tensors) -> tuple[Data, ...]:
    """The outputs of a layer that moves ``data``.

    Raises: InputError if the operator's type, or a way to use it, has no reference here.
    """
    operator, shape = layer.operator, layer.output_shape
    if not has_movement(layer):
        raise unknown(operator)
    if operator.op == "Transpose":
        return (data.transpose(operator.integers("perm", tuple(reversed(range(data.ndim))))),)
    if operator.op == "Split":
        return _split(layer, data)
    if operator.op == "Slice":
        return (_cut(layer, data),)
    if operator.op == "Pad":
        return (_padded(layer, data),)
    places = nearest_places(operator, layer.inputs[0].shape, shape)
    if places is not None:
        return (data[np.ix_(*places)],)
    if operator.op == "Expand":
        return (np.broadcast_to(data, shape),)
    return (np.tile(data, [out // size for out, size in zip(shape, data.shape, strict=True)]),)


def has_movement(layer: NetworkLayer) -> bool:
    """Whether ``moved`` knows the operator's type and the way it is used."""
    operator = layer.operator
    if operator.op == "Split":
        return len(layer.outputs) >= len(operator.outputs) - 1
    if operator.op == "Slice":
        return operator.has("starts")
    if operator.op == "Pad":
        return ("mode", "constant") in operator.attributes and operator.has("pads")
    if operator.op in ("Resize", "Upsample"):
        return nearest_places(operator, layer.inputs[0].shape, layer.output_shape) is not None
    return operator.op in ("Transpose", "Expand", "Tile")


def _split(layer: NetworkLayer, data: Data) -> tuple[Data, ...]:
    """The parts that are read; one that nobody reads has what is left."""
    axis, sizes = layer.operator.integer("axis"), dict(layer.outputs)
    left = data.shape[axis] - sum(shape[axis] for shape in sizes.values())
    lengths = [sizes[name][axis] if name in sizes else left for name in layer.operator.outputs]
    parts = np.split(data, np.cumsum(lengths)[:-1], axis)
    return tuple(one for name, one in zip(layer.operator.outputs, parts, strict=True) if name in sizes)


def _cut(layer: NetworkLayer, data: Data) -> Data:
    operator = layer.operator
    starts, ends = operator.integers("starts"), operator.integers("ends")
    axes = operator.integers("axes", tuple(range(len(starts))))
    steps = operator.integers("steps", (1,) * len(starts))
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        size = data.shape[axis]
        first = min(max(start + size * (start < 0), 0), size if step > 0 else size - 1)
        last = min(max(end + size * (end < 0), 0 if step > 0 else -1), size)
        data = np.take(data, np.arange(first, last, step), axis)
    return data


def _padded(layer: NetworkLayer, data: Data) -> Data:
    operator = layer.operator
    flat = operator.integers("pads")
    axes = operator.integers("axes", tuple(range(data.ndim)))
    count = len(axes)
    pads = [(0, 0)] * data.ndim
    for axis, begin, end in zip(axes, flat[:count], flat[count:], strict=True):
        pads[axis] = (begin, end)
    for axis, (begin, end) in enumerate(pads):  # negative pads cut
        kept = slice(max(-begin, 0), data.shape[axis] - max(-end, 0))
        data = data[(slice(None),) * axis + (kept,)]
    grown = [(max(begin, 0), max(end, 0)) for begin, end in pads]
    fill = operator.number("constant_value", operator.number("value"))
    return np.pad(data, grown, constant_values=fill)
