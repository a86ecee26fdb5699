"""What moves words before and after the nests of a layer, as C: im2col, im2row, padding, rows cut back [Bae2018, IV].

These run in VLIW mode, at the cost of a copied word each. The functions work on one repeat of the nests (one image
and group), those of pools on all planes at once, and lay words out as the accesses of the nests expect them.
"""

from __future__ import annotations

from mapper.models.modulo_schedule.network.algorithm import Algorithm
from mapper.models.modulo_schedule.network.gathering import padded_plane
from mapper.models.modulo_schedule.network.nest import Nest
from mapper.workloads.network.network_layer import NetworkLayer

Pair = tuple[int, int]


def copies_before(layer: NetworkLayer, algorithm: Algorithm) -> dict[str, str]:
    """C11 functions by name that lay out what the nests read; none where it lies so already.

    ``im2col(input, buffer)``: channel, kernel row, kernel column, position. ``im2row(input, buffer)``: channel,
    output row, column of the padded input, kernel row. ``pad(input, buffer)``: planes with their padding, of a pool or
    of a convolution whose input the array lays out; the greatest of nothing is minus infinity. Words of the padding
    are 0 otherwise, and so are those that no window covers.
    """
    if algorithm.words.get("padded"):
        return {"pad": _pad(layer, padded_plane(layer, algorithm.sliding))}
    if algorithm.im2col == "array":
        return {}
    if algorithm.sliding is not None:
        return {"im2row": _im2row(layer, algorithm.sliding)}
    if layer.work == "convolution" and algorithm.nests and algorithm.copied_words:
        return {"im2col": _im2col(layer)}
    if layer.work in ("max_pool", "average_pool") and algorithm.nests and algorithm.copied_words:
        return {"pad": _pad(layer)}
    return {}


def copies_after(layer: NetworkLayer, algorithm: Algorithm) -> dict[str, str]:
    """``cut(input, output)``: rows of optCGRA's sums without the positions that straddle their ends."""
    if algorithm.sliding is None:
        return {}
    shape, (rows, columns) = layer.convolution, _plane(layer.output_shape)
    pitch = algorithm.nests[algorithm.main].extents["l"] // rows
    if pitch == columns:
        return {}
    lines = [
        f"    for (long row = 0; row < {shape.out_channels // shape.groups * rows}; row++)",
        f"        for (long x = 0; x < {columns}; x++)",
        f"            output[{columns} * row + x] = input[{pitch} * row + x];",
    ]
    return {"cut": _function("cut", "output", lines)}


def _im2col(layer: NetworkLayer) -> str:
    shape, window = layer.convolution, layer.window
    (rows, columns), pads = _plane(layer.output_shape), _pads(layer)
    kernel, strides, dilations = _two(window.kernel), _two(window.strides), _two(window.dilations)
    lines = [
        "    long word = 0;",
        f"    for (long c = 0; c < {shape.in_channels // shape.groups}; c++)",
        f"        for (long r = 0; r < {kernel[0]}; r++)",
        f"            for (long q = 0; q < {kernel[1]}; q++)",
        f"                for (long y = 0; y < {rows}; y++)",
        f"                    for (long x = 0; x < {columns}; x++) {{",
        f"                        const long row = {strides[0]} * y + {dilations[0]} * r - {pads[0][0]};",
        f"                        const long column = {strides[1]} * x + {dilations[1]} * q - {pads[1][0]};",
        f"                        buffer[word++] = {_word(layer, '0.0f')};",
        "                    }",
    ]
    return _function("im2col", "buffer", lines)


def _im2row(layer: NetworkLayer, sliding: Nest) -> str:
    assert sliding.window is not None
    height, width, stride = sliding.window
    shape, (rows, _), pads = layer.convolution, _plane(layer.output_shape), _pads(layer)
    across = sliding.extents["l"] // rows * stride
    # Windows that straddle the end of the last row read so much beyond it.
    beyond = max(0, width - stride) * height
    lines = [
        "    long word = 0;",
        f"    for (long c = 0; c < {shape.in_channels // shape.groups}; c++)",
        f"        for (long y = 0; y < {rows}; y++)",
        f"            for (long x = 0; x < {across}; x++)",
        f"                for (long r = 0; r < {height}; r++) {{",
        f"                    const long row = {stride} * y + r - {pads[0][0]}, column = x - {pads[1][0]};",
        f"                    buffer[word++] = {_word(layer, '0.0f')};",
        "                }",
    ]
    if beyond:
        lines += [f"    for (long rest = 0; rest < {beyond}; rest++)", "        buffer[word++] = 0.0f;"]
    return _function("im2row", "buffer", lines)


def _pad(layer: NetworkLayer, plane: Pair | None = None) -> str:
    planes = layer.inputs[0].shape[0] * layer.inputs[0].shape[1]
    pads, sizes = _pads(layer), _plane(layer.inputs[0].shape)
    height, width = plane or (size + sum(pad) for size, pad in zip(sizes, pads, strict=True))
    fill = "-INFINITY" if layer.work == "max_pool" else "0.0f"
    lines = [
        "    long word = 0;",
        f"    for (long c = 0; c < {planes}; c++)",
        f"        for (long y = 0; y < {height}; y++)",
        f"            for (long x = 0; x < {width}; x++) {{",
        f"                const long row = y - {pads[0][0]}, column = x - {pads[1][0]};",
        f"                buffer[word++] = {_word(layer, fill)};",
        "            }",
    ]
    return _function("pad", "buffer", lines)


def _word(layer: NetworkLayer, outside: str) -> str:
    """The word of the input at ``row`` and ``column`` of plane c, or what stands outside of it."""
    height, width = _plane(layer.inputs[0].shape)
    inside = f"row >= 0 && row < {height} && column >= 0 && column < {width}"
    return f"{inside} ? input[({height} * c + row) * {width} + column] : {outside}"


def _function(name: str, output: str, lines: list[str]) -> str:
    head = f"void {name}(const float *restrict input, float *restrict {output})"
    return "\n".join(["#include <math.h>", "", head, "{", *lines, "}", ""])


def _pads(layer: NetworkLayer) -> tuple[Pair, Pair]:
    found = layer.window.covering_pads(layer.inputs[0].shape[2:], layer.output_shape[2:])
    return ((0, 0), found[0]) if len(found) == 1 else (found[0], found[1])


def _plane(shape: tuple[int, ...]) -> Pair:
    return _two(shape[2:])


def _two(sizes: tuple[int, ...]) -> Pair:
    """A plane's sizes; a convolution over one axis has a single row."""
    return (1, sizes[0]) if len(sizes) == 1 else (sizes[0], sizes[1])
