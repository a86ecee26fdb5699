"""Feature maps as matrices: the three layouts and the address generators between them [Meng2021, sec. 3.3, Table 1].

A feature map is H1 x H2 positions of C channels; in the *spatial 3-D tensor* word (row * H2 + column) * C + channel
holds one number. A `Walk` is the finite-state machine of Fig. 5 between such a map and a matrix: nested counters, each
adding to a position in the map (the paper's B) and to an address in the matrix (its D). What Table 1 prints had to be
corrected, since an LTU that follows it does not make the layouts that Section 2.1 defines:

- Steps are relative to where the counter's own level began. Table 1 mixes this (rows 1 and 3) with steps relative to
  the last address (row 2, whose Step_d takes back all that the inner states added).
- Row 1, inc_b3 = H1*S: the next row of a *window* is one row of the map away (times the dilation), the width of the
  map; the stride S is between windows only.
- All rows, state 1: a single counter of O^2 (or of tiles) with one Step_b cannot go from the end of a row of windows to
  the next row, S (or m) rows down. State 1 is two counters here.
- Rows 2 and 3: tiles cover the *output*, ceil(O1/m) * ceil(O2/m) of them; H1*H2/m^2 holds only for outputs of the
  input's size that m divides. In the text, (H1*H2/m)^2 and "H1/m x H1/m" are misprints of the same.
- Row 3, inc_d3 = 1 and Step_d = m^2 would write tile after tile. The 3-D tensor needs the map's width from a tile's row
  to its next, m from tile to tile in a row; results beyond the map's edge are dropped.
- Padding, dilation, groups, and kernels larger than r are not in the table. Positions outside the map read zeros.
- 3.3.2 names "row 2" as the configuration from 3-D tensor to Toeplitz; it is row 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from mapper.workloads.nest.layer_nest import Convolution

TAP = 3
"""The r of F(m, r): Winograd's pieces of a kernel are r x r."""


@dataclass(frozen=True)
class Counter:
    """One counter: how often it counts, and what every count adds to row, column and channel of the map and to the
    address in the matrix (words)."""

    count: int
    row: int = 0
    column: int = 0
    channel: int = 0
    address: int = 0


@dataclass(frozen=True)
class Walk:
    """Nested counters, outermost first, between a map of ``height`` x ``width`` x ``channels`` and a matrix of
    ``rows`` x ``columns`` that lies row by row. Each innermost step moves ``words`` adjacent channels; ``row`` and
    ``column`` are the position at which all counters start. From map to matrix, positions outside the map give zeros;
    from matrix to map they are dropped."""

    levels: tuple[Counter, ...]
    words: int
    height: int
    width: int
    channels: int
    rows: int
    columns: int
    row: int = 0
    column: int = 0

    @property
    def steps(self) -> int:
        """Steps of the innermost counter, each of ``words`` words."""
        return math.prod(level.count for level in self.levels)


def toeplitz(shape: Convolution) -> Walk:
    """im2col's input: row o = (o1, o2) holds the window of output o, columns (group, k1, k2, channel of the group)."""
    (height, width), (out_rows, out_columns) = shape.input_size, shape.output_size
    (taps1, taps2), depth = shape.kernel, shape.in_channels // shape.groups
    row = taps1 * taps2 * shape.in_channels
    levels = (
        Counter(out_rows, row=shape.strides[0], address=out_columns * row),
        Counter(out_columns, column=shape.strides[1], address=row),
        Counter(shape.groups, channel=depth, address=taps1 * taps2 * depth),
        Counter(taps1, row=shape.dilations[0], address=taps2 * depth),
        Counter(taps2, column=shape.dilations[1], address=depth),
    )
    starts = (-shape.pads[0][0], -shape.pads[1][0])
    return Walk(levels, depth, height, width, shape.in_channels, out_rows * out_columns, row, *starts)


def phase(shape: Convolution) -> tuple[int, int]:
    """Rows and columns of one of the S1 x S2 sub-maps that strides divide a map into."""
    (height, width), (step1, step2) = shape.input_size, shape.strides
    return -(-height // step1), -(-width // step2)


def tensor(shape: Convolution) -> Walk:
    """kn2row's input, the 3-D tensor: row (row * H2 + column), columns are the channels. With strides the S1 x S2
    sub-maps of positions equal modulo the stride follow one another, so that what one kernel position reads lies
    together; with stride 1 the walk is the one-to-one matching of Section 3.3."""
    (height, width), (step1, step2), (rows, columns) = shape.input_size, shape.strides, phase(shape)
    channels = shape.in_channels
    levels = (
        Counter(step1, row=1, address=step2 * rows * columns * channels),
        Counter(step2, column=1, address=rows * columns * channels),
        Counter(rows, row=step1, address=columns * channels),
        Counter(columns, column=step2, address=channels),
    )
    return Walk(levels, channels, height, width, channels, step1 * step2 * rows * columns, channels)


def rounds(shape: Convolution) -> tuple[int, int]:
    """Pieces of r x r taps that a kernel has per axis, the last filled with zeros. The paper counts K1*K2/9 rounds,
    which is less for kernels that 3 does not divide."""
    taps1, taps2 = shape.kernel
    return -(-taps1 // TAP), -(-taps2 // TAP)


def tiles(shape: Convolution, m: int) -> tuple[int, int]:
    """Winograd's output tiles of m x m per axis."""
    rows, columns = shape.output_size
    return -(-rows // m), -(-columns // m)


def scattered(shape: Convolution, m: int) -> Walk:
    """Winograd's input: for every round and every position (x, y) within a tile of (m+r-1)^2 one matrix, tiles by
    channels; row ((round * (m+r-1) + x) * (m+r-1) + y) * tiles + tile."""
    (height, width), (pieces1, pieces2), (tiles1, tiles2) = shape.input_size, rounds(shape), tiles(shape, m)
    side, channels = m + TAP - 1, shape.in_channels
    matrix = tiles1 * tiles2 * channels
    levels = (
        Counter(pieces1, row=TAP, address=pieces2 * side * side * matrix),
        Counter(pieces2, column=TAP, address=side * side * matrix),
        Counter(tiles1, row=m, address=tiles2 * channels),
        Counter(tiles2, column=m, address=channels),
        Counter(side, row=1, address=side * matrix),
        Counter(side, column=1, address=matrix),
    )
    rows = pieces1 * pieces2 * side * side * tiles1 * tiles2
    starts = (-shape.pads[0][0], -shape.pads[1][0])
    return Walk(levels, channels, height, width, channels, rows, channels, *starts)


def gathered(shape: Convolution, m: int) -> Walk:
    """Winograd's output, scattered over m^2 matrices of tiles by maps, back into the 3-D tensor (Table 1, row 3)."""
    (out_rows, out_columns), (tiles1, tiles2) = shape.output_size, tiles(shape, m)
    channels = shape.out_channels
    matrix = tiles1 * tiles2 * channels
    levels = (
        Counter(tiles1, row=m, address=tiles2 * channels),
        Counter(tiles2, column=m, address=channels),
        Counter(m, row=1, address=m * matrix),
        Counter(m, column=1, address=matrix),
    )
    return Walk(levels, channels, out_rows, out_columns, channels, m * m * tiles1 * tiles2, channels)
