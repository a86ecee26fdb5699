"""The mean of a window in integers: a factor for every pixel and a division by a power of two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mapper.models.algorithm_selection.number.network_number import LayerNumbers
from mapper.workloads.document import InputError
from mapper.workloads.network.network_layer import NetworkLayer

LARGEST = 128
"""Magnitude of an integer; where a zero point is taken away, results are rounded as single precision."""
FACTOR = 1 << 17
SUMS = 1 << 31


@dataclass(frozen=True)
class Average:
    """(sum of pixels * ``times`` + ``addend``) / 2^``shift``, rounded down; or, where ``single``, the sum times
    ``factor`` / 2^``shift`` in single precision."""

    shift: int
    addend: int = 0
    factor: int = 1
    single: bool = False

    def times(self, count: int) -> int:
        """The factor of a pixel in a window of so many."""
        return 1 if self.single else round((1 << self.shift) / count)


def average(layer: NetworkLayer, own: LayerNumbers) -> Average:
    """Halves upward, equal to the exact quotient: with M = 128 and c pixels a sum is off by at most M c / 2 from the
    product with 2^shift / c, and quotients that are no halves are at least 2^shift / 2c from one.

    Raises: InputError if no shift is large enough for the largest window and small enough for the smallest.
    """
    if own.rounding is not None and own.rounding.single:
        return Average(own.rounding.shift, factor=int(own.factor[0]), single=True)
    shift = mean_shift(layer)
    if shift is None:
        raise InputError(layer.name, "window", "of so many pixels has no exact mean in 32 bits")
    return Average(shift, (1 << shift - 1) + LARGEST * _sizes(layer)[1] // 2)


def mean_shift(layer: NetworkLayer) -> int | None:
    """The power of two by which the mean of every window comes out right."""
    least, most = _sizes(layer)
    for shift in range(8, 31):
        exact = (1 << shift) > 2 * LARGEST * most**2
        # Rounded factors make a sum larger than the largest pixel times the power, by half a pixel each.
        fits = (LARGEST << shift) + LARGEST * most <= SUMS
        if exact and (1 << shift) <= least * (FACTOR - 1) and fits:
            return shift
    return None


def _sizes(layer: NetworkLayer) -> tuple[int, int]:
    """Pixels of the smallest and of the largest window."""
    down, across = counts(layer)
    return min(down) * min(across), max(down) * max(across)


def counts(layer: NetworkLayer) -> tuple[Sequence[int], Sequence[int]]:
    """How many rows, and how many columns, each window of the output counts."""
    window, (height, width) = layer.window, layer.inputs[0].shape[2:]
    found = []
    for axis, size in enumerate((height, width)):
        begin, end = window.pads[axis] if window.count_pads else (0, 0)
        low, high = -begin, size + end
        found.append(
            [
                sum(low <= first + tap * window.dilations[axis] < high for tap in range(window.kernel[axis]))
                for first in (
                    place * window.strides[axis] - window.pads[axis][0]
                    for place in range(layer.output_shape[2 + axis])
                )
            ]
        )
    return found[0], found[1]
