"""The ways of a pool: its window written out in the body, or as loops of its own."""

from __future__ import annotations

import math
from dataclasses import replace

from mapper.models.modulo_schedule.network.algorithm import MERGED_POOL, POOL, Algorithm
from mapper.models.modulo_schedule.network.nest import Access, Nest, Operation
from mapper.models.modulo_schedule.network.way.activation import activation, unmapped
from mapper.workloads.network.network_layer import NetworkLayer

WHOLE_WINDOW = 16
"""Words of a pool's window up to which its copies stand in the body."""


def pooling(layer: NetworkLayer) -> tuple[Algorithm, ...]:
    window = layer.window
    batch, channels, *sizes = layer.inputs[0].shape
    rows, columns = layer.output_shape[2:]
    pads = [sum(pad) for pad in window.covering_pads(tuple(sizes), (rows, columns))]
    height, width = (size + pad for size, pad in zip(sizes, pads, strict=True))
    planes, (down, right) = batch * channels, window.strides
    taps = window.kernel[0] * window.kernel[1]
    copied = planes * height * width if any(pads) else 0
    words = {
        "input": math.prod(layer.inputs[0].shape),
        "weights": 0,
        "output": math.prod(layer.output_shape),
        "buffer": copied,
    }
    greatest = layer.work == "max_pool"
    divisor = () if greatest else (float(taps),)
    rim = rim_elements(layer)
    operation: Operation = "max" if greatest else "sum"
    size = (("p", planes * rows * columns),)
    flat = Access("out", (("p", 1),))
    after = activation(layer.merged[-1:], size, flat, 1)
    rim += unmapped(layer)
    if taps <= WHOLE_WINDOW:
        reach = tuple(r * width + c for r in range(window.kernel[0]) for c in range(window.kernel[1]))
        source = Access("in", (("c", height * width), ("y", down * width), ("x", right)), reach)
        output = Access("out", (("c", rows * columns), ("y", columns), ("x", 1)))
        small = (("c", planes), ("y", rows), ("x", columns))
        nests = (Nest("pool", small, operation, output, (source,), 1, divisor), *after)
        plain = Algorithm(POOL, nests, 0, copied, rim, words)
        jump = down * width - columns * right
        if rows == 1 or jump == 0:
            return (plain,)
        merged = Nest(
            "pool",
            (("c", planes), ("yx", rows * columns)),
            operation,
            Access("out", (("c", rows * columns), ("yx", 1))),
            (Access("in", (("c", height * width), ("yx", right)), reach),),
            1,
            divisor,
            merged=(columns, jump),
        )
        return plain, replace(plain, name=MERGED_POOL, nests=(merged, *after))
    output = Access("out", (("c", rows * columns), ("y", columns), ("x", 1)))
    strides = (("c", height * width), ("y", down * width), ("x", right), ("r", width), ("q", 1))
    loops = (
        ("c", planes), ("y", rows), ("x", columns), ("r", window.kernel[0]), ("q", window.kernel[1]),
    )  # fmt: skip
    fill = Nest("fill", size, "fill", flat, (Access("start", ()),))
    pool = Nest("pool", loops, operation, output, (Access("in", strides),))
    scale = () if greatest else (Nest("scale", size, "scale", flat, (flat,), 1, divisor),)
    return (Algorithm(POOL, (fill, pool, *scale, *after), 1, copied, rim, words),)


def rim_elements(layer: NetworkLayer) -> int:
    """Elements of a pool that are mended in VLIW mode: averages that leave padding, or what is beyond it, out divide by
    other numbers at the rim."""
    if layer.work != "average_pool":
        return 0
    window = layer.window
    batch, channels, *sizes = layer.inputs[0].shape
    rows, columns = layer.output_shape[2:]
    pads = [sum(pad) for pad in window.covering_pads(tuple(sizes), (rows, columns))]
    counted = [sum(pad) for pad in window.pads] if window.count_pads else [0, 0]
    return 0 if pads == counted else 2 * batch * channels * (rows + columns)
