"""The way of a matrix product and of a fully connected layer."""

from __future__ import annotations

import math

from mapper.models.modulo_schedule.network.algorithm import GEMM, Algorithm
from mapper.models.modulo_schedule.network.nest import Access, Nest
from mapper.models.modulo_schedule.network.way.activation import ends, unmapped
from mapper.workloads.network.network_layer import NetworkLayer


def product(layer: NetworkLayer) -> Algorithm:
    """A fully connected layer has its outputs along i and images along j, which lie row by row of an image; other
    products are those of the matrices as they lie."""
    if layer.work == "fully_connected":
        (batch, depth, outputs), repeats = layer.matrix, 1
        output = Access("c", (("i", 1), ("j", outputs)))
        factors = Access("a", (("i", depth), ("k", 1))), Access("b", (("j", depth), ("k", 1)))
    else:
        outputs, depth, batch = _factors(layer)
        repeats = max(1, math.prod(layer.output_shape) // (batch * outputs))
        output = Access("c", (("i", batch), ("j", 1)))
        turned = [layer.op == "Gemm" and bool(layer.operator.integer(name)) for name in ("transA", "transB")]
        factors = (
            Access("a", (("i", 1), ("k", outputs)) if turned[0] else (("i", depth), ("k", 1))),
            Access("b", (("k", 1), ("j", depth)) if turned[1] else (("k", batch), ("j", 1))),
        )
    loops = (("i", outputs), ("j", batch), ("k", depth))
    sums = Nest("gemm", loops, "multiply_add", output, factors, repeats)
    words = {
        "input": repeats * batch * depth,
        "weights": depth * outputs,
        "output": repeats * batch * outputs,
        "buffer": 0,
    }
    around = ends(layer, outputs, batch, repeats, output)
    return Algorithm(GEMM, (around[0], sums, *around[1:]), 1, 0, unmapped(layer), words)


def _factors(layer: NetworkLayer) -> tuple[int, int, int]:
    """Rows, depth and columns of a product of which either factor may be constant; vectors are one row or column."""
    operator, data = layer.operator, iter(layer.inputs)
    constant = dict(operator.weights)
    shapes = [constant[name] if name in constant else next(data).shape for name in operator.operands[:2]]
    left, right = (1, *shapes[0])[-2:], shapes[1][-2:] if len(shapes[1]) > 1 else (*shapes[1], 1)
    if layer.op == "Gemm":
        left = left[::-1] if operator.integer("transA") else left
        right = right[::-1] if operator.integer("transB") else right
    return left[0], left[1], right[1]
