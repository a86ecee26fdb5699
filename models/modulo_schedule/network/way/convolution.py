"""The ways of a convolution: im2col and a matrix product, im2row and optCGRA, Winograd [Bae2018, V-B1]."""

from __future__ import annotations

import math
from dataclasses import replace

from mapper.arch.cgra import CgraMachine
from mapper.models.modulo_schedule.network.algorithm import (
    ARRAY_IM2COL,
    ARRAY_IM2ROW,
    GEMM,
    IM2COL,
    IM2ROW,
    Algorithm,
)
from mapper.models.modulo_schedule.network.gathering import gathering
from mapper.models.modulo_schedule.network.nest import Access, Nest
from mapper.models.modulo_schedule.network.way.activation import activation, ends, mapped, numbers, unmapped
from mapper.models.modulo_schedule.network.winograd import WINOGRAD, tiling, winograd_nests
from mapper.workloads.network.network_layer import NetworkLayer


def uses_registers(kernel: int, machine: CgraMachine) -> bool:
    """The paper's rule for optCGRA: 2k^2 - k below half of all data registers [Bae2018, V-B1]."""
    return kernel > 1 and 2 * (2 * kernel * kernel - kernel) < machine.registers


def convolution(layer: NetworkLayer, machine: CgraMachine) -> tuple[Algorithm, ...]:
    shape = layer.convolution
    kernel, strides = _two(shape.kernel), _two(shape.strides)
    dilations = _two(shape.dilations)
    rows, columns = _two(shape.output_size)
    filters, channels = shape.out_channels // shape.groups, shape.in_channels // shape.groups
    repeats, positions, taps = shape.batch * shape.groups, rows * columns, kernel[0] * kernel[1]
    depth = channels * taps
    words = {
        "input": math.prod(layer.inputs[0].shape),
        "weights": shape.out_channels * depth,
        "output": math.prod(layer.output_shape),
    }
    is_matrix = taps == 1 and strides == (1, 1) and not any(map(sum, shape.pads))
    output = Access("c", (("i", positions), ("j", 1)))
    product = Nest(
        "gemm",
        (("i", filters), ("j", positions), ("k", depth)),
        "multiply_add",
        output,
        (Access("a", (("i", depth), ("k", 1))), Access("b", (("k", positions), ("j", 1)))),
        repeats,
    )
    around = ends(layer, filters, positions, repeats, output)
    copied = 0 if is_matrix else repeats * depth * positions
    gemm = Algorithm(
        GEMM if is_matrix else IM2COL,
        (around[0], product, *around[1:]),
        1,
        copied,
        unmapped(layer),
        words | {"buffer": copied},
    )
    few = tuple(filter(None, (_winograd(layer, name) for name in WINOGRAD)))
    square = kernel[0] == kernel[1] and strides[0] == strides[1] and dilations == (1, 1)
    gathered = () if is_matrix else (_on_array(layer, gemm, ARRAY_IM2COL),)
    if taps == 1 or not square or not uses_registers(kernel[0], machine):
        return gemm, *gathered, *few
    # Rows are padded to whole steps, and a step more where the window reaches beyond the last one.
    pitch = -(-(_two(tuple(map(sum, shape.pads)))[1] + _two(shape.input_size)[1]) // strides[1])
    area = rows * pitch
    plane = area * strides[1] * kernel[0]
    sliding = Nest(
        "optcgra",
        (("i", filters), ("j", channels), ("l", area)),
        "window",
        Access("c", (("i", area), ("l", 1))),
        (Access("b", (("j", plane), ("l", strides[1] * kernel[0]))),),
        repeats,
        window=(kernel[0], kernel[1], strides[1]),
    )
    around = ends(layer, filters, area, repeats, Access("c", (("i", area), ("j", 1))))
    buffer = repeats * channels * plane
    # Rows of the sums are as wide as those of im2row; what reads the layer finds them side by side.
    copied = buffer + (repeats * filters * positions if pitch != columns else 0)
    optcgra = Algorithm(
        IM2ROW, (around[0], sliding, *around[1:]), 1, copied, unmapped(layer),
        words | {"output": repeats * filters * area, "buffer": buffer},
    )  # fmt: skip
    return optcgra, gemm, _on_array(layer, optcgra, ARRAY_IM2ROW), *gathered, *few


def _on_array(layer: NetworkLayer, driven: Algorithm, name: str) -> Algorithm:
    """The same with im2col or im2row as loops on the array: VLIW mode copies what padding there is, and cuts rows."""
    nest, padded = gathering(layer, driven.sliding)
    return replace(
        driven,
        name=name,
        nests=(nest, *driven.nests),
        main=driven.main + 1,
        copied_words=driven.copied_words - driven.words["buffer"] + padded,
        words=driven.words | {"padded": padded},
    )


def _winograd(layer: NetworkLayer, name: str) -> Algorithm | None:
    cut = tiling(layer, WINOGRAD[name])
    if cut is None:
        return None
    size, elements = math.prod(layer.output_shape), unmapped(layer)
    last = layer.merged[-1] if layer.merged else None
    operation = None if last is None else mapped(last)
    if last is not None and operation is not None and not elements:
        nests, main = winograd_nests(cut, operation, numbers(last))
    else:
        # What the array lacks comes in between.
        nests, main = winograd_nests(cut)
        place = Access("out", (("j", 1),))
        nests += activation(layer.merged[-1:], (("j", size // cut.repeats),), place, cut.repeats)
    words = {
        "input": math.prod(layer.inputs[0].shape),
        "weights": layer.convolution.groups * cut.words**2 * cut.filters * cut.channels,
        "output": size,
        "buffer": cut.repeats * sum(cut.buffers.values()),
    }
    return Algorithm(name, nests, main, 0, elements, words)


def _two(sizes: tuple[int, ...]) -> tuple[int, int]:
    """A plane's sizes; a convolution over one axis has a single row."""
    return (1, sizes[0]) if len(sizes) == 1 else (sizes[0], sizes[1])
