"""Windows along one axis: which outputs a tile has, and which rows or columns of its maps Buf holds for them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from mapper.arch.snowflake import UNITS
from mapper.models.trace_partition.lowering.layer import TraceLayer


@dataclass(frozen=True)
class Axis:
    """Rows or columns of a layer's input as tiles hold them: ``size`` positions, with ``upsample``'s zeros between
    (every ``up``-th is one of the tensor's). Position p, a multiple of ``up``, is row or column
    ``first + p / up * step`` of the tensor: where windows are a single position, those that stride passes over are
    not held."""

    size: int
    kernel: int
    stride: int
    dilation: int
    pad: int
    up: int = 1
    step: int = 1
    first: int = 0

    @property
    def span(self) -> int:
        """Positions from a window's first to its last."""
        return (self.kernel - 1) * self.dilation + 1


@dataclass(frozen=True)
class Range:
    """``count`` outputs from ``first`` (within the tile) whose windows keep the positions ``begin`` to ``end`` of the
    kernel; ``held``: where Buf holds that of ``begin`` for the first output."""

    first: int
    count: int
    begin: int
    end: int
    held: int


@dataclass(frozen=True)
class Piece:
    """One unit's part: ``outputs`` of its outputs count; of the positions that it holds, ``before`` and, from
    ``after``, ``trailing`` lie beyond the edges and are filled; ``count`` of the tensor's are brought, the first to
    ``held``, each ``up`` further on. ``needed``: positions that its outputs read."""

    outputs: int
    needed: int
    before: int
    after: int
    trailing: int
    held: int
    count: int


@dataclass(frozen=True)
class AxisTile:
    """A tile along the axis, wherever it begins: ``outputs``, of which each unit computes ``unit_outputs`` (all,
    unless units share the axis); each holds ``size`` positions. ``pieces``: one, or one for each unit."""

    outputs: int
    unit_outputs: int
    size: int
    ranges: tuple[Range, ...]
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class AxisTiling:
    """The tiles along an axis: where each begins (``starts``, outputs), the position of the (spread) map that it
    holds first (``origins``, negative in the padding), and which of the distinct ``tiles`` it is (``kinds``)."""

    starts: range
    origins: tuple[int, ...]
    kinds: tuple[int, ...]
    tiles: tuple[AxisTile, ...]

    @property
    def held(self) -> int:
        """Most positions that a tile holds."""
        return max((tile.size for tile in self.tiles), default=0)


@lru_cache(maxsize=1 << 12)
def axis_of(layer: TraceLayer, which: int, whole: bool) -> Axis:
    """The rows (``which`` 0) or columns (1) of ``layer``; ``whole``: every position is held, as in maps that stayed in
    Buf."""
    size, kernel, stride, up = (
        values[which] for values in (layer.spread, layer.kernel, layer.stride, layer.upsample)
    )
    pad = layer.pads[which][0]
    if kernel == 1 and stride > 1 and up == 1 and not whole:
        skipped = -(-pad // stride)
        first = skipped * stride - pad
        return Axis(max(0, -(-(size - first) // stride)), 1, 1, 1, skipped, 1, stride, first)
    return Axis(size, kernel, stride, layer.dilation[which], pad, up)


@lru_cache(maxsize=1 << 11)
def axis_tiling(axis: Axis, start: int, outputs: int, tile: int, shared: bool) -> AxisTiling:
    """Tiles of ``tile`` outputs from ``start`` on, ``outputs`` in all; ``shared``: the four units share each. Units
    that share an axis hold padding, filled, since all read at equal addresses; else it is left out."""
    starts = range(start, start + outputs, tile)
    origins: list[int] = []
    kinds: list[int] = []
    tiles: dict[AxisTile, int] = {}
    inner: dict[tuple[int, int], int] = {}
    for begin in starts:
        count = min(tile, start + outputs - begin)
        origin = begin * axis.stride - axis.pad
        within = origin >= 0 and origin + (count - 1) * axis.stride + axis.span <= axis.size
        kind = inner.get((count, origin % axis.up)) if within else None
        if kind is None:
            found = _shared_tile(axis, origin, count) if shared else _tile(axis, origin, count)
            kind = tiles.setdefault(found, len(tiles))
            if within:
                inner[count, origin % axis.up] = kind
        origins.append(origin if shared else min(max(origin, 0), axis.size))
        kinds.append(kind)
    return AxisTiling(starts, tuple(origins), tuple(kinds), tuple(tiles))


def _tile(axis: Axis, origin: int, count: int) -> AxisTile:
    low = min(max(origin, 0), axis.size)
    high = max(low, min(origin + (count - 1) * axis.stride + axis.span, axis.size))
    ranges: list[Range] = []
    # The outputs before this one have windows that end on the map; those that begin on it, too, are one range.
    whole = (axis.size - 1 - (axis.kernel - 1) * axis.dilation - origin) // axis.stride + 1
    output = 0
    while output < count:
        at = origin + output * axis.stride
        begin = min(axis.kernel, max(0, -(at // axis.dilation)))
        end = max(0, min(axis.kernel, -(-(axis.size - at) // axis.dilation)))
        several = min(count, whole) - output if (begin, end) == (0, axis.kernel) else 1
        if ranges and (ranges[-1].begin, ranges[-1].end) == (begin, end):
            last = ranges[-1]
            ranges[-1] = Range(last.first, last.count + several, begin, end, last.held)
        else:
            held = at + begin * axis.dilation - low if begin < end else 0
            ranges.append(Range(output, several, begin, end, held))
        output += several
    piece = _piece(axis, low, count, high - low)
    return AxisTile(count, count, high - low, tuple(ranges), (piece,))


def _shared_tile(axis: Axis, origin: int, count: int) -> AxisTile:
    share = -(-count // UNITS)
    pieces = []
    for unit in range(UNITS):
        outputs = min(max(count - unit * share, 0), share)
        needed = (outputs - 1) * axis.stride + axis.span if outputs else 0
        pieces.append(_piece(axis, origin + unit * share * axis.stride, outputs, needed))
    every = Range(0, share, 0, axis.kernel, 0)
    return AxisTile(count, share, (share - 1) * axis.stride + axis.span, (every,), tuple(pieces))


def _piece(axis: Axis, origin: int, outputs: int, needed: int) -> Piece:
    before = min(needed, max(0, -origin))
    after = max(before, min(needed, axis.size - origin))
    held = before + -(origin + before) % axis.up
    count = max(0, -(-(after - held) // axis.up))
    return Piece(outputs, needed, before, after, needed - after, held, count)
