"""Layout transformation units at work: words moved between feature maps and matrices as a walk says
[Meng2021, Fig. 5]."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.models.algorithm_selection.control.walk import Walk

Integers = npt.NDArray[Any]


def tuples(walk: Walk) -> Iterator[tuple[int, int]]:
    """The [map address, matrix address] tuples that the FSM makes, counter by counter, in its order; the map address
    is -1 for a position outside the map. Addresses of the first of ``walk.words`` words."""
    counters = [0] * len(walk.levels)
    row, column, channel, address = walk.row, walk.column, 0, 0
    while True:
        inside = 0 <= row < walk.height and 0 <= column < walk.width
        yield ((row * walk.width + column) * walk.channels + channel if inside else -1), address
        at = len(counters) - 1
        while at >= 0:
            level = walk.levels[at]
            counters[at] += 1
            row, column = row + level.row, column + level.column
            channel, address = channel + level.channel, address + level.address
            if counters[at] < level.count:
                break
            # The counter is through: back to where it began, and one count of the next outer one.
            row, column = row - level.count * level.row, column - level.count * level.column
            channel, address = channel - level.count * level.channel, address - level.count * level.address
            counters[at] = 0
            at -= 1
        if at < 0:
            return


def to_matrix(walk: Walk, image: Integers) -> Integers:
    """The matrix (``walk.rows``, ``walk.columns``) of a map (height, width, channels)."""
    at, address = _addresses(walk)
    vectors = np.concatenate((image.reshape(-1, walk.words), np.zeros((1, walk.words), image.dtype)))
    matrix = np.empty((walk.rows * walk.columns // walk.words, walk.words), image.dtype)
    matrix[address] = vectors[at]
    return matrix.reshape(walk.rows, walk.columns)


def to_map(walk: Walk, matrix: Integers) -> tuple[Integers, npt.NDArray[np.bool_]]:
    """The map of a matrix, and which positions (height, width) the matrix holds; others are zero."""
    at, address = _addresses(walk)
    inside = at >= 0
    vectors = np.zeros((walk.height * walk.width * walk.channels // walk.words, walk.words), matrix.dtype)
    held = np.zeros(len(vectors), np.bool_)
    vectors[at[inside]] = matrix.reshape(-1, walk.words)[address[inside]]
    held[at[inside]] = True
    image = vectors.reshape(walk.height, walk.width, walk.channels)
    return image, held.reshape(walk.height, walk.width, -1).min(2)


def reads_held(walk: Walk, held: npt.NDArray[np.bool_]) -> bool:
    """Whether every position that the walk reads is ``held`` (height, width)."""
    at, _ = _addresses(walk)
    positions = at[at >= 0] * walk.words // walk.channels
    return bool(held.reshape(-1)[positions].all())


def _addresses(walk: Walk) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """All tuples at once, in units of ``walk.words`` words, which every address is a multiple of."""
    row, column = np.array([walk.row]), np.array([walk.column])
    channel = address = np.zeros(1, np.int64)
    for level in walk.levels:
        count = np.arange(level.count)
        row = np.add.outer(row, count * level.row).reshape(-1)
        column = np.add.outer(column, count * level.column).reshape(-1)
        channel = np.add.outer(channel, count * level.channel).reshape(-1)
        address = np.add.outer(address, count * level.address).reshape(-1)
    inside = (row >= 0) & (row < walk.height) & (column >= 0) & (column < walk.width)
    at = ((row * walk.width + column) * walk.channels + channel) // walk.words
    return np.where(inside, at, -1), address // walk.words
