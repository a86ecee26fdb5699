"""The paper's three loop nests of a convolution, run as they stand with their misprints corrected
[Heidorn2019, sec. 3.3].

Corrected: Algorithm 2 tests for the last n, k1, k2 as ``== N`` and ``== K``, which never holds (they end at N-1 and
K-1); Algorithm 3 tests ``n == N-1``, which fails for steps of delta that do not end there (N = 24, delta = 2), reads
``input[m]`` and ``weights[m][n+d]`` for the same product (both have the map n+d), and runs n+d beyond N for N = 1.
Filters of a group read that group's maps, and windows may be dilated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mapper.models.compiled import compiled
from mapper.sim.pe_allocation.data import Integers

Pair = tuple[int, int]


@dataclass(frozen=True)
class Nest:
    """A convolution: ``pixels`` maps x rows x columns with its padding, ``weights`` M x N x K x K, ``bias`` M,
    ``strides``, the R x C of the output, ``dilations``, and how many filters read the same N maps (0: all)."""

    pixels: Integers
    weights: Integers
    bias: Integers
    strides: Pair
    size: Pair
    dilations: Pair = (1, 1)
    group_filters: int = 0

    @property
    def steps(self) -> tuple[int, ...]:
        """Strides, dilations, and filters of a group, as the loops take them."""
        return (*self.strides, *self.dilations, self.group_filters or len(self.weights))


@dataclass(frozen=True)
class Trace:
    """``output`` M x R x C, and for each of its elements the cycle at whose end it is complete, of one product (of
    delta products on each of P PEs) a cycle."""

    output: Integers
    complete: Integers

    @property
    def cycles(self) -> int:
        """Until all are complete."""
        return int(self.complete.max())


def algorithm_1(nest: Nest) -> Trace:
    """Filter by filter over the whole image: m, r, c, n, k1, k2."""
    output, complete = _blank(nest)
    _first(nest.pixels, nest.weights, nest.bias, nest.steps, output, complete)
    return Trace(output, complete)


def algorithm_2(nest: Nest) -> Trace:
    """Pixel by pixel, filters innermost: r, c, k1, k2, n, m."""
    output, complete = _blank(nest)
    _second(nest.pixels, nest.weights, nest.bias, nest.steps, output, complete)
    return Trace(output, complete)


def algorithm_3(nest: Nest, pes: int, delta: int) -> Trace:
    """Algorithm 2 on P PEs of delta units; PEs run in step."""
    output, complete = _blank(nest)
    for p in range(pes):
        _third(nest.pixels, nest.weights, nest.bias, nest.steps, (p, pes, delta), output, complete)
    return Trace(output, complete)


def following_start(trace: Trace, window: Pair) -> int:
    """The cycle at which a layer that reads all maps of a window of ``window`` rows and columns can start."""
    return int(trace.complete[:, : window[0], : window[1]].max())


def _blank(nest: Nest) -> tuple[Integers, Integers]:
    shape = (len(nest.weights), *nest.size)
    return np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)


def _algorithm_1(pixels: Any, weights: Any, bias: Any, steps: Any, output: Any, complete: Any) -> None:
    filters, depth, high, wide = weights.shape
    down, across, apart, beside, share = steps
    cycle = 0
    for m in range(filters):
        base = m // share * depth
        for r in range(output.shape[1]):
            for c in range(output.shape[2]):
                for n in range(depth):
                    for k1 in range(high):
                        for k2 in range(wide):
                            pixel = pixels[base + n, down * r + apart * k1, across * c + beside * k2]
                            output[m, r, c] += weights[m, n, k1, k2] * pixel
                            cycle += 1
                output[m, r, c] += bias[m]
                complete[m, r, c] = cycle


def _algorithm_2(pixels: Any, weights: Any, bias: Any, steps: Any, output: Any, complete: Any) -> None:
    filters, depth, high, wide = weights.shape
    down, across, apart, beside, share = steps
    cycle = 0
    for r in range(output.shape[1]):
        for c in range(output.shape[2]):
            for k1 in range(high):
                for k2 in range(wide):
                    for n in range(depth):
                        for m in range(filters):
                            base = m // share * depth
                            pixel = pixels[base + n, down * r + apart * k1, across * c + beside * k2]
                            output[m, r, c] += weights[m, n, k1, k2] * pixel
                            cycle += 1
                            if k1 == high - 1 and k2 == wide - 1 and n == depth - 1:
                                output[m, r, c] += bias[m]
                                complete[m, r, c] = cycle


def _algorithm_3(
    pixels: Any, weights: Any, bias: Any, steps: Any, at: Any, output: Any, complete: Any
) -> None:
    """The program of PE p: r, c, k1, k2, n by delta, m by P from p, the units at once."""
    filters, depth, high, wide = weights.shape
    down, across, apart, beside, share = steps
    p, pes, delta = at
    rounds = -(-filters // pes)
    cycle = 0
    for r in range(output.shape[1]):
        for c in range(output.shape[2]):
            for k1 in range(high):
                for k2 in range(wide):
                    for n in range(0, depth, delta):
                        # PEs with fewer filters wait for those that have ceil(M/P).
                        for m in range(p, p + rounds * pes, pes):
                            cycle += 1
                            if m >= filters:
                                continue
                            base = m // share * depth
                            for d in range(min(delta, depth - n)):
                                pixel = pixels[base + n + d, down * r + apart * k1, across * c + beside * k2]
                                output[m, r, c] += weights[m, n + d, k1, k2] * pixel
                            if k1 == high - 1 and k2 == wide - 1 and n + delta >= depth:
                                output[m, r, c] += bias[m]
                                complete[m, r, c] = cycle


_first: Any = compiled(_algorithm_1)
_second: Any = compiled(_algorithm_2)
_third: Any = compiled(_algorithm_3)
