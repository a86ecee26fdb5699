"""Regular copies between memory and a buffer as two-dimensional transfers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from mapper.models.trace_partition.steps.step import Transfer, Units
from mapper.models.trace_partition.tile.weight_tile import FIELD


class Dimension(NamedTuple):
    """So often, each time so many words further in the buffer and in memory."""

    times: int
    local: int
    memory: int


def nest_transfers(
    target: Literal["buf", "fill"],
    units: Units,
    local: int,
    tensor: str,
    memory: int,
    dimensions: tuple[Dimension, ...],
    words: int,
    value: int = 0,
) -> Iterator[Transfer]:
    """What moves ``words`` contiguous words for every point of ``dimensions`` (outer first): as few transfers as fit
    the 16-bit fields, the longest dimension being their pieces."""
    if words == 0 or any(dimension.times == 0 for dimension in dimensions):
        return
    dims = [dimension for dimension in dimensions if dimension.times > 1]
    while dims and dims[-1][1:] == (words, words) and dims[-1].times * words <= FIELD:
        words *= dims.pop().times
    for at in range(len(dims) - 1, 0, -1):
        outer, inner = dims[at - 1], dims[at]
        count = outer.times * inner.times
        if outer[1:] == (inner.times * inner.local, inner.times * inner.memory) and count <= FIELD:
            dims[at - 1 : at + 1] = [Dimension(count, inner.local, inner.memory)]
    pieces = [number for number, dimension in enumerate(dims) if max(dimension) <= FIELD]
    chosen = max(pieces, key=lambda number: dims[number].times, default=None)
    along = Dimension(1, 0, 0) if chosen is None or words > FIELD else dims.pop(chosen)
    count, near, far = along
    ends = [(local, memory)]
    for times, step, further in dims:
        ends = [(to + turn * step, of + turn * further) for to, of in ends for turn in range(times)]
    for first in range(0, words, FIELD):
        part = min(FIELD, words - first)
        for to, of in ends:
            if target == "fill":
                yield Transfer(target, units, to + first, "", 0, count, part, near, 0, value)
            else:
                yield Transfer(target, units, to + first, tensor, of + first, count, part, near, far)
