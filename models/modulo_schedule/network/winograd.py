"""Winograd's convolution as nests: fewer products, for additions before and after [Bae2018, sec. II-B, names it].

F(m x m, r x r) makes m x m outputs of a tile of n x n words, n = m + r - 1, with n x n products instead of m^2 r^2. A
point is a place in the transformed tile; for every point the products are a matrix product of their own over all
channels and tiles. Data and sums are transformed column by column and then row by row. Weights are transformed
before the network runs, since they are constants. Arrays, per image and group, tiles counted row by row:

- ``padded`` (channel, row, column): the input with its padding and whole tiles;
- ``columns`` (u, channel, row of tiles, column) and ``b`` (v, u, channel, tile): data after each transform;
- ``a`` (v, u, filter, channel): weights;
- ``c`` (u, v, filter, tile): sums at a point, the bias at the point (1, 1), of which all outputs take up a share of 1;
- ``rows`` (v, filter, row, column of tiles) and ``out`` (filter, row, column): sums after each transform.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from mapper.models.modulo_schedule.network.linear_transform import DATA, OUTPUT
from mapper.models.modulo_schedule.network.nest import Access, Nest, Operation
from mapper.workloads.network.network_layer import NetworkLayer

WINOGRAD = {"winograd": 2, "winograd-4x4": 4}
"""Outputs of a tile's side, by algorithm."""
KERNELS = {2: (3, 5), 4: (3,)}
"""Sides of kernels that tiles of so many outputs have a transform for."""
MOST_FIRST = 8
"""Channels whose products start the sums at the most: as many as a loop may be unrolled."""
BIAS_POINT = 1
"""Row and column of the point that starts with the bias."""


@dataclass(frozen=True)
class Tiling:
    """A layer cut into tiles. ``side`` outputs and ``words`` words of a tile's side; ``tiles`` and ``padded`` sizes, as
    (rows, columns); ``pads`` in front of rows and columns."""

    side: int
    words: int
    tiles: tuple[int, int]
    padded: tuple[int, int]
    pads: tuple[int, int]
    given: tuple[int, int]
    outputs: tuple[int, int]
    channels: int
    filters: int
    repeats: int

    @property
    def count(self) -> int:
        return self.tiles[0] * self.tiles[1]

    @property
    def first(self) -> int:
        """Channels whose products start the sums: an even share of those steps that all channels take."""
        return -(-self.channels // -(-self.channels // MOST_FIRST))

    @property
    def is_padded(self) -> bool:
        """Whether the input has to be laid out anew."""
        return self.padded != self.given

    @property
    def buffers(self) -> dict[str, int]:
        """Words of every array but constants, input and output, per image and group."""
        points = self.words**2
        columns = self.words * self.channels * self.tiles[0] * self.padded[1]
        return {
            "padded": self.channels * math.prod(self.padded) if self.is_padded else 0,
            "columns": columns,
            "b": points * self.channels * self.count,
            "c": points * self.filters * self.count,
            "rows": self.words * self.filters * self.side * self.count,
        }


def tiling(layer: NetworkLayer, side: int) -> Tiling | None:
    """How the layer is cut into tiles of ``side`` by ``side`` outputs; None if it has no such transform."""
    shape = layer.convolution
    kernel, sizes = tuple(shape.kernel), tuple(shape.output_size)
    plain = set(shape.strides) == {1} and set(shape.dilations) == {1}
    if len(kernel) != 2 or kernel[0] != kernel[1] or kernel[0] not in KERNELS[side] or not plain:
        return None
    words = side + kernel[0] - 1
    tiles = -(-sizes[0] // side), -(-sizes[1] // side)
    padded = tiles[0] * side + kernel[0] - 1, tiles[1] * side + kernel[0] - 1
    given = shape.input_size[0], shape.input_size[1]
    pads = shape.pads[0][0], shape.pads[1][0]
    # Rows that no tile reads are left out of the copy; there are none unless an output is cut short.
    if any(before + size > whole for before, size, whole in zip(pads, given, padded, strict=True)):
        return None
    channels, filters = shape.in_channels // shape.groups, shape.out_channels // shape.groups
    repeats = shape.batch * shape.groups
    return Tiling(side, words, tiles, padded, pads, given, (sizes[0], sizes[1]), channels, filters, repeats)


def winograd_nests(
    cut: Tiling, activation: Operation | None = None, numbers: tuple[float, ...] = ()
) -> tuple[tuple[Nest, ...], int]:
    """The nests of a layer cut so, with an ``activation`` and its numbers of all outputs, and which of them is the
    matrix product of most channels."""
    before, products = (*_padding(cut), *_data(cut)), _products(cut)
    main = len(before) + (1 if cut.channels > 2 * cut.first else 0)
    return (*before, *products, *_sums(cut, _steps(activation, numbers))), main


def _padding(cut: Tiling) -> tuple[Nest, ...]:
    if not cut.is_padded:
        return ()
    (height, width), (rows, columns) = cut.padded, cut.given
    words = cut.channels * height * width
    nothing = Nest(
        "nothing", (("p", words),), "fill", Access("padded", (("p", 1),)), (Access("zero", ()),), cut.repeats
    )
    start = cut.pads[0] * width + cut.pads[1]
    copy = Nest(
        "padding",
        (("c", cut.channels), ("y", rows), ("x", columns)),
        "copy",
        Access("padded", (("c", height * width), ("y", width), ("x", 1)), (start,)),
        (Access("in", (("c", rows * columns), ("y", columns), ("x", 1))),),
        cut.repeats,
    )
    return nothing, copy


def _data(cut: Tiling) -> tuple[Nest, Nest]:
    words, (down, across), (height, width) = cut.words, cut.tiles, cut.padded
    plane, step = cut.channels * down * width, cut.channels * cut.count
    columns = Nest(
        "columns",
        (("c", cut.channels), ("y", down), ("x", width)),
        "transform",
        Access("columns", (("c", down * width), ("y", width), ("x", 1)), _apart(words, plane)),
        (
            Access(
                "padded" if cut.is_padded else "in",
                (("c", height * width), ("y", cut.side * width), ("x", 1)),
                _apart(words, width),
            ),
        ),
        cut.repeats,
        transform=DATA[words],
    )
    rows = Nest(
        "rows",
        (("y", words * cut.channels * down), ("x", across)),
        "transform",
        Access("b", (("y", across), ("x", 1)), _apart(words, words * step)),
        (Access("columns", (("y", width), ("x", cut.side)), _apart(words, 1)),),
        cut.repeats,
        transform=DATA[words],
    )
    return columns, rows


def _products(cut: Tiling) -> tuple[Nest, ...]:
    """The sums of the first channels, which start in registers, and what the other channels add to them."""
    count, first = cut.count, cut.first
    repeats = cut.repeats * cut.words**2
    output = Access("c", (("i", count), ("j", 1)))
    dot = Nest(
        "dot",
        (("i", cut.filters), ("j", count)),
        "dot",
        output,
        (
            Access("bias", (("i", 1),)),
            Access("a", (("i", cut.channels),), _apart(first, 1)),
            Access("b", (("j", 1),), _apart(first, count)),
        ),
        repeats,
    )
    if first == cut.channels:
        return (dot,)
    product = Nest(
        "gemm",
        (("i", cut.filters), ("j", count), ("k", cut.channels - first)),
        "multiply_add",
        output,
        (
            Access("a", (("i", cut.channels), ("k", 1)), (first,)),
            Access("b", (("k", count), ("j", 1)), (first * count,)),
        ),
        repeats,
    )
    return dot, product


def _steps(activation: Operation | None, numbers: tuple[float, ...]) -> tuple[tuple[str, str], ...]:
    """An activation as ``LinearTransform.activated`` takes it."""
    texts = [f"{number!r}f" for number in numbers]
    match activation:
        case "relu":
            return (("max", "0.0f"),)
        case "leaky_relu":
            return (("*", texts[0]), ("max", "x"))
        case "clip":
            return (("max", texts[0]), ("min", texts[1]))
    return ()


def _sums(cut: Tiling, activation: tuple[tuple[str, str], ...]) -> tuple[Nest, ...]:
    side, (down, across), (height, width) = cut.side, cut.tiles, cut.outputs
    step = cut.filters * cut.count
    transform = OUTPUT[side, cut.words]
    columns = Nest(
        "sum_columns",
        (("y", cut.words * cut.filters * down), ("x", across)),
        "transform",
        Access("rows", (("y", side * across), ("x", 1)), _apart(side, across)),
        (Access("c", (("y", across), ("x", 1)), _apart(cut.words, cut.words * step)),),
        cut.repeats,
        transform=transform,
    )
    whole, rest = divmod(width, side)
    parts = [("sum_rows", 0, whole, side), ("sum_edge", whole, 1, rest)]
    made = []
    for name, start, tiles, outputs in parts:
        if not tiles or not outputs:
            continue
        own, words = transform.first(outputs)
        own = own.activated(activation) if activation else own
        taps = tuple(start + side * step * word for word in words)
        place = Access(
            "out",
            (("f", height * width), ("y", width), ("x", side)),
            tuple(start * side + tap for tap in range(outputs)),
        )
        read = Access("rows", (("f", down * side * across), ("y", across), ("x", 1)), taps)
        loops = (("f", cut.filters), ("y", height), ("x", tiles))
        made.append(Nest(name, loops, "transform", place, (read,), cut.repeats, transform=own))
    return columns, *made


def _apart(count: int, step: int) -> tuple[int, ...]:
    return tuple(step * number for number in range(count))
