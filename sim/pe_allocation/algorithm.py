"""The paper's three loop nests of a convolution, run as they stand with their misprints corrected
[Heidorn2019, sec. 3.3].

Corrected: Algorithm 2 tests for the last n, k1, k2 as ``== N`` and ``== K``, which never holds (they end at N-1 and
K-1); Algorithm 3 tests ``n == N-1``, which fails for steps of delta that do not end there (N = 24, delta = 2), reads
``input[m]`` and ``weights[m][n+d]`` for the same product (both have the map n+d), and runs n+d beyond N for N = 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.stream.layer import StreamLayer, StreamNetwork
from mapper.sim.pe_allocation.data import Integers

LARGEST_SIDE, MOST_FILTERS, MOST_DEPTH = 6, 6, 3
"""Layers are cut to this many rows and columns, filters and maps, since every product is a step of the loops."""


@dataclass(frozen=True)
class Nest:
    """A convolution: ``pixels`` N x rows x columns with its padding, ``weights`` M x N x K x K, ``bias`` M,
    ``strides``, and the R x C of the output."""

    pixels: Integers
    weights: Integers
    bias: Integers
    strides: tuple[int, int]
    size: tuple[int, int]


@dataclass(frozen=True)
class Trace:
    """``output`` M x R x C, and for each of its elements the cycle at whose end it is complete, of one product (of
    delta products on each of P PEs) a cycle."""

    output: Integers
    complete: Integers


def algorithm_1(nest: Nest) -> Trace:
    """Filter by filter over the whole image: m, r, c, n, k1, k2."""
    (filters, depth, high, wide), (rows, columns), (down, across) = (
        nest.weights.shape,
        nest.size,
        nest.strides,
    )
    output, complete = _blank(nest)
    cycle = 0
    for m in range(filters):
        for r in range(rows):
            for c in range(columns):
                for n in range(depth):
                    for k1 in range(high):
                        for k2 in range(wide):
                            pixel = nest.pixels[n, down * r + k1, across * c + k2]
                            output[m, r, c] += nest.weights[m, n, k1, k2] * pixel
                            cycle += 1
                output[m, r, c] += nest.bias[m]
                complete[m, r, c] = cycle
    return Trace(output, complete)


def algorithm_2(nest: Nest) -> Trace:
    """Pixel by pixel, filters innermost: r, c, k1, k2, n, m."""
    (filters, depth, high, wide), (rows, columns), (down, across) = (
        nest.weights.shape,
        nest.size,
        nest.strides,
    )
    output, complete = _blank(nest)
    cycle = 0
    for r in range(rows):
        for c in range(columns):
            for k1 in range(high):
                for k2 in range(wide):
                    for n in range(depth):
                        for m in range(filters):
                            pixel = nest.pixels[n, down * r + k1, across * c + k2]
                            output[m, r, c] += nest.weights[m, n, k1, k2] * pixel
                            cycle += 1
                            if k1 == high - 1 and k2 == wide - 1 and n == depth - 1:
                                output[m, r, c] += nest.bias[m]
                                complete[m, r, c] = cycle
    return Trace(output, complete)


def algorithm_3(nest: Nest, pes: int, delta: int) -> Trace:
    """Algorithm 2 on P PEs of delta units; PEs run in step."""
    output, complete = _blank(nest)
    for p in range(pes):
        _program(nest, p, pes, delta, output, complete)
    return Trace(output, complete)


def _program(nest: Nest, p: int, pes: int, delta: int, output: Integers, complete: Integers) -> None:
    """The program of PE p: r, c, k1, k2, n by delta, m by P from p, the units at once."""
    (filters, depth, high, wide), (rows, columns), (down, across) = (
        nest.weights.shape,
        nest.size,
        nest.strides,
    )
    cycle = 0
    for r in range(rows):
        for c in range(columns):
            for k1 in range(high):
                for k2 in range(wide):
                    for n in range(0, depth, delta):
                        # PEs with fewer filters wait for those that have ceil(M/P).
                        for m in range(p, p + -(-filters // pes) * pes, pes):
                            cycle += 1
                            if m >= filters:
                                continue
                            for d in range(min(delta, depth - n)):
                                pixel = nest.pixels[n + d, down * r + k1, across * c + k2]
                                output[m, r, c] += nest.weights[m, n + d, k1, k2] * pixel
                            if k1 == high - 1 and k2 == wide - 1 and n + delta >= depth:
                                output[m, r, c] += nest.bias[m]
                                complete[m, r, c] = cycle


def _blank(nest: Nest) -> tuple[Integers, Integers]:
    shape = (len(nest.weights), *nest.size)
    return np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)


def following_start(trace: Trace, window: tuple[int, int]) -> int:
    """The cycle at which a layer that reads all maps of a window of ``window`` rows and columns can start."""
    return int(trace.complete[:, : window[0], : window[1]].max())


def compared(network: StreamNetwork, allocation: Allocation, seed: int = 0) -> dict[str, Any] | None:
    """The three algorithms on the first convolution that another layer reads, cut to a few rows, filters and maps:
    whether their outputs are equal, cycles of the layer, and when the following layer can start. None if the network
    has no such layer."""
    for at, layer in enumerate(network.layers):
        if layer.operation == "convolution" and network.readers[at]:
            break
    else:
        return None
    following = network.layers[network.readers[at][0]]
    nest = small_nest(layer, seed)
    pes, delta = min(allocation.pes[at], len(nest.weights)), allocation.delta[at]
    runs: dict[str, Callable[[], Trace]] = {
        "algorithm_1": lambda: algorithm_1(nest),
        "algorithm_2": lambda: algorithm_2(nest),
        "algorithm_3": lambda: algorithm_3(nest, pes, delta),
    }
    traces = {name: run() for name, run in runs.items()}
    outputs = [trace.output for trace in traces.values()]
    inside = [max(1, following.reach[axis] - following.pads[axis]) for axis in (0, 1)]
    window = (min(inside[0], nest.size[0]), min(inside[1], nest.size[1]))
    return {
        "layer": layer.name,
        "following": following.name,
        "cut_to": {
            "filters": len(nest.weights),
            "depth": nest.weights.shape[1],
            "output_size": list(nest.size),
            "pes": pes,
            "window_of_following": list(window),
        },
        "outputs_equal": all(np.array_equal(outputs[0], other) for other in outputs[1:]),
        "cycles": {name: int(trace.complete.max()) for name, trace in traces.items()},
        "following_start": {name: following_start(trace, window) for name, trace in traces.items()},
    }


def small_nest(layer: StreamLayer, seed: int) -> Nest:
    """Seeded pixels and weights of ``layer``, cut to a small one."""
    stream = np.random.default_rng([seed, 2])
    filters, depth = min(layer.filters, MOST_FILTERS), min(layer.depth, MOST_DEPTH)
    rows, columns = (min(side, LARGEST_SIDE) for side in layer.output_size)
    spans = [
        (side - 1) * stride + kernel
        for side, stride, kernel in zip((rows, columns), layer.strides, layer.kernel, strict=True)
    ]
    return Nest(
        stream.integers(-128, 127, (depth, *spans), endpoint=True),
        stream.integers(-127, 127, (filters, depth, *layer.kernel), endpoint=True),
        stream.integers(-127, 127, filters, endpoint=True),
        layer.strides,
        (rows, columns),
    )
