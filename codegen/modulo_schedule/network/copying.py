"""Words that are moved in VLIW mode around the nests of a layer, as steps: im2col, im2row, padding, rows cut back."""

from __future__ import annotations

from mapper.codegen.modulo_schedule.network.layout import Layout
from mapper.codegen.modulo_schedule.network.operand import LayerWords
from mapper.models.modulo_schedule.network.algorithm import Algorithm
from mapper.models.modulo_schedule.network.gathering import padded_plane
from mapper.models.modulo_schedule.program.step import Bound, Copy, Place
from mapper.workloads.network.network_layer import NetworkLayer

Pair = tuple[int, int]


def copies_before(layer: NetworkLayer, algorithm: Algorithm, words: LayerWords, layout: Layout) -> list[Copy]:
    """What lays the layer's input out as its nests read it; nothing where it lies so already."""
    if not algorithm.nests or not algorithm.copied_words:
        return []
    if layer.work != "convolution":
        return [_padded(layer, layout, layout.buffer)]
    if algorithm.im2col != "array":
        return [_laid_out(layer, algorithm, layout)]
    if not algorithm.words["padded"]:
        return []
    return [_padded(layer, layout, words.padded, padded_plane(layer, algorithm.sliding))]


def copies_after(layer: NetworkLayer, algorithm: Algorithm, words: LayerWords, layout: Layout) -> list[Copy]:
    """Rows of optCGRA's sums without the positions that straddle their ends."""
    to = layout.tensors[layer.output]
    if algorithm.sliding is None or words.wide == to:
        return []
    images, channels, *sizes = layer.output_shape
    rows, columns = _two(tuple(sizes))
    pitch = algorithm.nests[algorithm.main].extents["l"] // rows
    source = Place(at=words.wide, strides=(pitch, 1))
    loops = (images * channels * rows, columns)
    return [Copy(layer=layer.name, what="cut", to=to, source=source, loops=loops, inside=(), outside=0.0)]


def _laid_out(layer: NetworkLayer, algorithm: Algorithm, layout: Layout) -> Copy:
    """im2col: channel, kernel row, kernel column, position. im2row: channel, output row, column of the padded input,
    kernel row. Images and groups are around both, their channels one after another."""
    window, shape = layer.window, layer.convolution
    (height, width), (rows, columns) = _two(layer.inputs[0].shape[2:]), _two(layer.output_shape[2:])
    kernel, (down, right) = _two(window.kernel), _two(window.strides)
    spread = _two(window.dilations)
    (above, _), (left, _) = _pads(layer)
    planes = shape.batch * shape.in_channels
    row: tuple[int, ...]
    column: tuple[int, ...]
    loops: tuple[int, ...]
    if algorithm.sliding is not None:
        across = algorithm.nests[algorithm.main].extents["l"] // rows * right
        what, loops = "im2row", (planes, rows, across, kernel[0])
        row, column = (0, down, 0, 1), (0, 0, 1, 0)
    else:
        what, loops = "im2col", (planes, *kernel, rows, columns)
        row, column = (0, spread[0], 0, down, 0), (0, 0, spread[1], 0, right)
    inside = (
        Bound(at=-above, strides=row, below=height),
        Bound(at=-left, strides=column, below=width),
    )
    strides = tuple(width * r + c for r, c in zip(row, column, strict=True))
    source = Place(
        at=layout.place(layer.inputs[0]) - above * width - left, strides=(height * width, *strides[1:])
    )
    return Copy(
        layer=layer.name, what=what, to=layout.buffer, source=source, loops=loops, inside=inside, outside=0.0
    )


def _padded(layer: NetworkLayer, layout: Layout, to: int, plane: Pair | None = None) -> Copy:
    """Planes with their padding, of the size ``plane`` if it is given; the greatest of nothing is minus infinity."""
    images, channels, *sizes = layer.inputs[0].shape
    (height, width), ((above, below), (left, beyond)) = _two(tuple(sizes)), _pads(layer)
    tall, wide = plane or (height + above + below, width + left + beyond)
    return Copy(
        layer=layer.name,
        what="pad",
        to=to,
        source=Place(
            at=layout.place(layer.inputs[0]) - above * width - left, strides=(height * width, width, 1)
        ),
        loops=(images * channels, tall, wide),
        inside=(
            Bound(at=-above, strides=(0, 1, 0), below=height),
            Bound(at=-left, strides=(0, 0, 1), below=width),
        ),
        outside="-inf" if layer.work == "max_pool" else 0.0,
    )


def _pads(layer: NetworkLayer) -> tuple[Pair, Pair]:
    found = layer.window.covering_pads(layer.inputs[0].shape[2:], layer.output_shape[2:])
    return ((0, 0), found[0]) if len(found) == 1 else (found[0], found[1])


def _two(sizes: tuple[int, ...]) -> Pair:
    """A plane's sizes; a convolution over one axis has a single row."""
    return (1, sizes[0]) if len(sizes) == 1 else (sizes[0], sizes[1])
