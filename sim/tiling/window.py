"""Where the tiles of an operand lie in an array that holds more than one of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mapper.sim.tiling.walk import Level
from mapper.workloads.nest.loop_nest import LoopNest, Operand
from mapper.workloads.nest.tensor import bounds_of

Array = NDArray[Any]


def loops_of(nest: LoopNest, operand: Operand) -> tuple[str, ...]:
    """The loops an operand depends on, in nest order."""
    return tuple(loop for loop in nest.loops if loop in operand.loops)


class Window:
    """Tiles of ``operand`` within arrays of ``shape`` whose first word has index ``low``.

    ``counts``: trip counts within one tile; ``level``: the passes that move it (None: it does not move).
    Arrays must be contiguous; the views share their words.
    """

    def __init__(
        self,
        nest: LoopNest,
        operand: Operand,
        counts: Mapping[str, int],
        low: Sequence[int],
        shape: Sequence[int],
        level: Level | None = None,
    ) -> None:
        ranges = [bounds_of(dimension, counts) for dimension in operand.index]
        pitches = [math.prod(shape[place + 1 :]) for place in range(len(shape))]
        loops = loops_of(nest, operand)
        steps = dict.fromkeys(loops, 0)
        for dimension, pitch in zip(operand.index, pitches, strict=True):
            for loop, factor in dimension.coefficients:
                steps[loop] += factor * pitch
        self._box_shape = tuple(most - least + 1 for least, most in ranges)
        self._box_steps = tuple(pitches)
        self._touched_shape = tuple(counts[loop] for loop in loops)
        self._touched_steps = tuple(steps[loop] for loop in loops)
        self._least = sum(
            (least - first) * pitch for (least, _), first, pitch in zip(ranges, low, pitches, strict=True)
        )
        self._zero = sum(
            (dimension.constant - first) * pitch
            for dimension, first, pitch in zip(operand.index, low, pitches, strict=True)
        )
        self._places = np.zeros(level.passes if level else 1, np.int64)
        if level:
            for loop in loops:
                self._places += steps[loop] * counts[loop] * level.digits[loop]

    def box(self, array: Array, number: int = 0) -> Array:
        """All words of the tile of pass ``number``, one axis per dimension of the tensor."""
        return self._view(array, self._box_shape, self._box_steps, self._least, number)

    def touched(self, array: Array, number: int = 0) -> Array:
        """The words that its iterations name, one axis per loop that the operand depends on."""
        return self._view(array, self._touched_shape, self._touched_steps, self._zero, number)

    def _view(
        self, array: Array, shape: tuple[int, ...], steps: tuple[int, ...], first: int, number: int
    ) -> Array:
        size = array.itemsize
        offset = (first + int(self._places[number])) * size
        return np.ndarray(shape, array.dtype, array, offset, tuple([step * size for step in steps]))
