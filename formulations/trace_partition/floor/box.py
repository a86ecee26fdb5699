"""Boxes of tiles: the sizes of each dimension that cut it into the same number of tiles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from mapper.formulations.trace_partition.floor.span import Integers
from mapper.formulations.trace_partition.program.option import Family, Sizes
from mapper.models.trace_partition.lowering.layer import TraceLayer
from mapper.models.trace_partition.tile.share import Share, share_of

MOST = 1 << 18
"""Boxes whose bounds are computed at once."""


@dataclass(frozen=True)
class Boxes:
    """The boxes of a family: places among the sizes of a dimension at which boxes begin, for each dimension."""

    family: Family
    starts: tuple[Integers, Integers, Integers, Integers]

    @property
    def rows(self) -> Integers:
        """Starts among the rows."""
        return self.starts[0]

    @property
    def columns(self) -> Integers:
        """Starts among the columns."""
        return self.starts[1]

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Boxes along every dimension."""
        rows, columns, in_channels, out_channels = self.starts
        return len(rows), len(columns), len(in_channels), len(out_channels)

    def slabs(self) -> Iterator[Boxes]:
        """The boxes in parts of a bounded number, by their rows."""
        down, *others = self.shape
        step = max(1, MOST // prod(others))
        for begin in range(0, down, step):
            starts = self.rows[begin : begin + step]
            end = self.rows[begin + step] if begin + step < down else len(self.family.rows)
            family = replace(self.family, rows=self.family.rows[starts[0] : end])
            yield Boxes(family, (starts - starts[0], *self.starts[1:]))

    def members(self, place: tuple[int, int, int, int]) -> Family:
        """The tiles of one box, as a family."""
        family = self.family
        every = family.rows, family.columns, family.in_channels, family.out_channels
        rows, columns, ins, outs = (
            sizes[begin[at] : begin[at + 1] if at + 1 < len(begin) else None]
            for sizes, begin, at in zip(every, self.starts, place, strict=True)
        )
        return replace(family, rows=rows, columns=columns, in_channels=ins, out_channels=outs)


def shares_of(layer: TraceLayer, family: Family, sharing: int) -> list[Share]:
    """The parts of the layer of all clusters that have one."""
    every = (share_of(layer, family.largest, sharing, cluster) for cluster in range(sharing))
    return [share for share in every if not share.empty]


def boxes_of(layer: TraceLayer, family: Family, sharing: int) -> Boxes:
    """The boxes into which the sizes of ``family`` fall: in each, every cluster has one number of tiles."""
    shares = shares_of(layer, family, sharing)
    rows = _starts({share.rows for share in shares}, family.rows)
    columns = _starts({layer.columns}, family.columns)
    ins = _starts({layer.group_inputs}, family.in_channels)
    outs = _starts({share.channels for share in shares}, family.out_channels)
    return Boxes(family, (rows, columns, ins, outs))


def _starts(extents: set[int], sizes: Sizes) -> Integers:
    """Places of the sizes that cut some of ``extents`` into another number of tiles than the size before."""
    of = np.array(sizes, dtype=np.int64)
    apart = np.zeros(len(sizes), dtype=np.bool_)
    apart[0] = True
    for extent in extents:
        tiles = -(-extent // of)
        apart[1:] |= tiles[1:] != tiles[:-1]
    return np.flatnonzero(apart)
