"""The products that each algorithm makes of a convolution [Meng2021, Eqs. 2, 3 and 6]."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from mapper.models.algorithm_selection.choice import Choice
from mapper.models.algorithm_selection.control.walk import TAP, phase, rounds, tiles
from mapper.workloads.nest.layer_nest import Convolution


@dataclass(frozen=True)
class GemmCall:
    """One product of the array: rows ``input_row ...`` (a of them) and columns ``input_column ...`` (b) of the Input
    Buffer's matrix, times rows ``weight_row ...`` (b) and columns ``weight_column ...`` (c) of the Kernel Buffer's.

    The result goes to rows ``output_row ...`` and columns ``output_column ...`` of the Output Buffer's matrix, added to
    what is there if ``accumulate``. In kn2row its rows are a patch of ``patch`` (rows, columns), and patch position
    (i, j) is added to output position (i + shift[0], j + shift[1]) where there is one (Eq. 4, Pad-and-Accumulate).
    """

    a: int
    b: int
    c: int
    input_row: int
    input_column: int
    weight_row: int
    weight_column: int
    output_row: int
    output_column: int
    accumulate: bool
    patch: tuple[int, int] | None = None
    shift: tuple[int, int] | None = None


def calls(shape: Convolution, choice: Choice) -> tuple[GemmCall, ...]:
    """The products of one image (Eqs. 2, 3, 6), groups outermost."""
    if choice.algorithm == "im2col":
        return tuple(_im2col_calls(shape))
    return tuple(_winograd_calls(shape, choice.tile) if choice.tile else _kn2row_calls(shape))


def _im2col_calls(shape: Convolution) -> Iterator[GemmCall]:
    depth, maps = shape.in_channels // shape.groups, shape.out_channels // shape.groups
    window = math.prod(shape.kernel) * depth
    for group in range(shape.groups):
        yield GemmCall(
            math.prod(shape.output_size),
            window,
            maps,
            0,
            group * window,
            0,
            group * maps,
            0,
            group * maps,
            False,
        )


def _kn2row_calls(shape: Convolution) -> Iterator[GemmCall]:
    """The unit convolution of kernel position (k1, k2) runs over whole rows of one sub-map, which lie together, and
    skips rows that no output reads. Eq. 11 has O1*O2 positions; a row has H2/S of them, more than O2 where the layer is
    not padded to its own size."""
    depth, maps = shape.in_channels // shape.groups, shape.out_channels // shape.groups
    (all_rows, columns), step2 = phase(shape), shape.strides[1]
    for group in range(shape.groups):
        for k1 in range(shape.kernel[0]):
            for k2 in range(shape.kernel[1]):
                row, part1 = divmod(k1 * shape.dilations[0] - shape.pads[0][0], shape.strides[0])
                column, part2 = divmod(k2 * shape.dilations[1] - shape.pads[1][0], step2)
                rows = min(shape.output_size[0], all_rows)
                first = min(max(row, 0), all_rows - rows)
                yield GemmCall(
                    rows * columns,
                    depth,
                    maps,
                    ((part1 * step2 + part2) * all_rows + first) * columns,
                    group * depth,
                    (k1 * shape.kernel[1] + k2) * depth,
                    group * maps,
                    0,
                    group * maps,
                    k1 + k2 > 0,
                    (rows, columns),
                    (first - row, -column),
                )


def _winograd_calls(shape: Convolution, m: int) -> Iterator[GemmCall]:
    depth, maps = shape.in_channels // shape.groups, shape.out_channels // shape.groups
    matrices, count = (m + TAP - 1) ** 2, math.prod(tiles(shape, m))
    for group in range(shape.groups):
        for piece in range(math.prod(rounds(shape))):
            for at in range(matrices):
                matrix = piece * matrices + at
                yield GemmCall(
                    count,
                    depth,
                    maps,
                    matrix * count,
                    group * depth,
                    matrix * depth,
                    group * maps,
                    at * count,
                    group * maps,
                    piece > 0,
                )
