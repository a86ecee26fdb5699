"""The way of what is computed element by element."""

from __future__ import annotations

import math

from mapper.models.modulo_schedule.network.algorithm import DIRECT, Algorithm
from mapper.models.modulo_schedule.network.nest import Access, Nest, Operation
from mapper.models.modulo_schedule.network.way.activation import activation, mapped, numbers, unmapped
from mapper.workloads.network.network_layer import NetworkLayer

_ELEMENTWISE: dict[str, Operation] = {
    "Add": "add", "Sum": "add", "Sub": "subtract", "Mul": "multiply", "Max": "larger",
}  # fmt: skip


def direct(layer: NetworkLayer) -> Algorithm | None:
    """Element by element; None where the array lacks the function or shapes are broadcast."""
    size = math.prod(layer.output_shape)
    output, loops = Access("out", (("p", 1),)), (("p", size),)
    words = {"input": size * len(layer.inputs), "weights": 0, "output": size, "buffer": 0}
    nests: list[Nest] = []
    if layer.work == "batch_normalization":
        batch, channels, *rest = layer.output_shape
        plane = math.prod(rest)
        access = (("i", plane), ("j", 1))
        per_channel = (("i", 1),)
        nests.append(
            Nest(
                "normalisation", (("i", channels), ("j", plane)), "affine", Access("out", access),
                (Access("in", access), Access("factor", per_channel), Access("shift", per_channel)), batch,
            )
        )  # fmt: skip
    elif layer.work == "activation":
        operation = mapped(layer.operator)
        if operation is None:
            return None
        source = Access("in", (("p", 1),))
        nests.append(Nest("activation", loops, operation, output, (source,), 1, numbers(layer.operator)))
    else:
        operation = _ELEMENTWISE.get(layer.op)
        same = all(one.shape == layer.output_shape for one in layer.inputs)
        if operation is None or not same or len(layer.inputs) != 2:
            return None
        sources = tuple(Access(name, (("p", 1),)) for name in ("in", "other"))
        nests.append(Nest("elementwise", loops, operation, output, sources))
    nests += activation(layer.merged[-1:], loops, output, 1)
    return Algorithm(DIRECT, tuple(nests), 0, 0, unmapped(layer), words)
