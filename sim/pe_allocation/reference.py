"""The same network computed over whole images at once, without programs, buffers or time.

Convolutions: sums of products plus bias. Pools: the largest pixel inside the image, or the sum (0 outside the
image) over the size of the window, rounded half up. Element-wise layers: sums, means (rounded down), products,
largest, smallest, differences. What is scaled is multiplied and added to; all is shifted right, half being added
first, and saturated to the words' bits. Of whole numbers Relu and Clip, merged or not, make negative results 0;
other activations and operators, and all that runs on the tile's processor between layers, pass pixels on unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from mapper.models.pe_allocation.configuration.program import Configuration, LayerProgram
from mapper.sim.pe_allocation.data import Data, Integers, LayerData


def reference(configuration: Configuration, data: Data) -> tuple[Integers, ...]:
    """Every layer's maps: frames x rows x columns x maps."""
    made: list[Integers] = []
    for position, layer in enumerate(configuration.layers):
        made.append(_layer(layer, data.layers[position], layer_input(configuration, position, data, made)))
    return tuple(made)


def layer_input(configuration: Configuration, at: int, data: Data, made: Sequence[Integers]) -> Integers:
    """What the windows of the layer at ``at`` slide over: frames x rows x columns x maps of all operands."""
    layer = configuration.layers[at]
    if data.processor is not None:
        return _as_large(layer, data.processor.operands(at, made))
    return _input(
        layer, [data.frames[at] if source.feed is None else made[source.feed] for source in layer.sources]
    )


def _input(layer: LayerProgram, read: list[Integers]) -> Integers:
    """All maps that a layer reads, one after another; from the first again if it reads more than there are."""
    joined = np.concatenate([_as_large(layer, maps) for maps in read], axis=3)
    wanted = layer.channels * layer.operands
    return joined if joined.shape[3] == wanted else joined[..., np.arange(wanted) % joined.shape[3]]


def _as_large(layer: LayerProgram, maps: Integers) -> Integers:
    """Maps as large as the layer's: each pixel so many times, then with zeros between pixels where it spreads them."""
    for axis in (0, 1):
        wanted = layer.size[axis] // layer.spread[axis]
        maps = maps.repeat(wanted // maps.shape[1 + axis], axis=1 + axis)
    if layer.spread == (1, 1):
        return maps
    spread = np.zeros((len(maps), *layer.size, maps.shape[3]), maps.dtype)
    spread[:, :: layer.spread[0], :: layer.spread[1]] = maps
    return spread


def _layer(layer: LayerProgram, data: LayerData, pixels: Integers) -> Integers:
    if layer.rule == "convolution":
        result = _convolution(layer, data, pixels)
    elif layer.rule == "max":
        result = _windows(layer, pixels, -(2 ** (layer.arithmetic.bits - 1))).max(axis=(4, 5))
    elif layer.rule == "average":
        result = _average(layer, pixels)
    else:
        result = _elementwise(layer, pixels)
    return finished(layer, data, result)


def finished(layer: LayerProgram, data: LayerData, result: Integers) -> Integers:
    """Scaled, shifted, limited and looked up, ... x maps."""
    if layer.arithmetic.scaled:
        result = result * data.scale + data.offset
    unit = 2.0**layer.shift
    result = np.floor(result / unit + 0.5 * (layer.shift > 0)).astype(np.int64)
    if layer.rectified or layer.rule == "rectify":
        result = np.maximum(result, 0)
    result = np.minimum(np.maximum(result, layer.arithmetic.least), layer.arithmetic.most)
    if layer.arithmetic.tabled:
        result = np.take(data.table, result - -(2 ** (layer.arithmetic.bits - 1)))
    return result


def _average(layer: LayerProgram, pixels: Integers) -> Integers:
    """The mean of the window, or of its pixels inside the image; halves are rounded up."""
    more = 2 ** sum(layer.arithmetic.lifts)
    total = _windows(layer, pixels, 0).sum(axis=(4, 5)) * more
    area: Integers | int = layer.kernel[0] * layer.kernel[1]
    if layer.arithmetic.inside:
        area = np.maximum(1, _windows(layer, np.ones_like(pixels[:1, :, :, :1]), 0).sum(axis=(4, 5)))
    return np.asarray(np.floor_divide(2 * total + area, 2 * area))


def padded(layer: LayerProgram, pixels: Integers, outside: int) -> Integers:
    """Pixels with all that windows reach around the image."""
    around = [(0, 0)]
    for axis, span in enumerate(_spans(layer)):
        reach = (layer.output_size[axis] - 1) * layer.strides[axis] + span
        around.append((layer.pads[axis], max(0, reach - layer.pads[axis] - layer.size[axis])))
    return np.pad(pixels, (*around, (0, 0)), constant_values=outside)


def _spans(layer: LayerProgram) -> tuple[int, int]:
    high, wide = ((layer.kernel[axis] - 1) * layer.dilations[axis] + 1 for axis in (0, 1))
    return high, wide


def _windows(layer: LayerProgram, pixels: Integers, outside: int) -> Integers:
    """Frames x output rows x output columns x maps x kernel rows x kernel columns."""
    windows = sliding_window_view(padded(layer, pixels, outside), _spans(layer), axis=(1, 2))
    (down, across), (high, wide) = layer.strides, layer.output_size
    windows = windows[:, ::down, ::across][:, :high, :wide]
    return windows[..., :: layer.dilations[0], :: layer.dilations[1]]


def _convolution(layer: LayerProgram, data: LayerData, pixels: Integers) -> Integers:
    """Tap by tap: the whole image, moved, times the weights of the tap."""
    (frames, *_, maps), (high, wide), share = pixels.shape, layer.output_size, layer.group_filters
    around = padded(layer, pixels, 0).astype(np.float64)
    groups = layer.filters // share
    weights = data.weights.astype(np.float64).reshape(groups, share, layer.depth, *layer.kernel)
    # Whole numbers far below 2^53: the sums are exact in any order.
    sums = np.zeros((groups, frames * high * wide, share))
    for k1, k2 in np.ndindex(*layer.kernel):
        top, left = k1 * layer.dilations[0], k2 * layer.dilations[1]
        moved = around[:, top :: layer.strides[0], left :: layer.strides[1]][:, :high, :wide]
        by_group = moved.reshape(-1, groups, maps // groups).transpose(1, 0, 2)
        sums += by_group @ weights[..., k1, k2].transpose(0, 2, 1)
    whole = sums.transpose(1, 0, 2).reshape(frames, high, wide, layer.filters).astype(np.int64)
    return np.asarray(whole + data.bias)


def _elementwise(layer: LayerProgram, pixels: Integers) -> Integers:
    lifts = layer.arithmetic.lifts or (0,) * layer.operands
    operands = [
        one * 2**lift for one, lift in zip(np.split(pixels, layer.operands, axis=3), lifts, strict=True)
    ]
    total = operands[0]
    for other in operands[1:]:
        if layer.rule in ("sum", "mean"):
            total = total + other
        elif layer.rule == "product":
            total = total * other
        elif layer.rule == "difference":
            total = total - other
        elif layer.rule == "largest":
            total = np.maximum(total, other)
        elif layer.rule == "smallest":
            total = np.minimum(total, other)
    return np.asarray(np.floor_divide(total, layer.operands) if layer.rule == "mean" else total)
