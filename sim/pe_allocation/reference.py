"""The same network computed over whole images at once, without programs, buffers or time.

Convolutions: sums of products plus bias, shifted right with rounding (half is added first), saturated to 8 bits. Pools:
the largest pixel inside the image, or the sum (0 outside the image) over the size of the window, rounded half up.
Element-wise layers: sums, means (rounded down), products shifted right by 7 bits, largest, smallest, differences,
normalisations as whole multiples of 1/64; all saturated. Relu and Clip, merged or not, make negative results 0; other
activations and operators, and all that runs on the tile's processor between layers, pass pixels on unchanged.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from mapper.models.pe_allocation.configuration.program import Configuration, LayerProgram
from mapper.sim.pe_allocation.data import Data, Integers, LayerData


def reference(configuration: Configuration, data: Data) -> tuple[Integers, ...]:
    """Every layer's maps: frames x rows x columns x maps."""
    made: list[Integers] = []
    for position, layer in enumerate(configuration.layers):
        read = [
            data.frames[position] if source.feed is None else made[source.feed] for source in layer.sources
        ]
        made.append(_layer(layer, data.layers[position], _input(layer, read)))
    return tuple(made)


def _input(layer: LayerProgram, read: list[Integers]) -> Integers:
    """All maps that a layer reads, one after another; from the first again if it reads more than there are."""
    full = [
        np.broadcast_to(maps, (maps.shape[0], *layer.size, maps.shape[3]))
        if maps.shape[1:3] == (1, 1)
        else maps
        for maps in read
    ]
    joined = np.concatenate(full, axis=3)
    wanted = layer.channels * layer.operands
    return joined if joined.shape[3] == wanted else joined[..., np.arange(wanted) % joined.shape[3]]


def _layer(layer: LayerProgram, data: LayerData, pixels: Integers) -> Integers:
    if layer.rule == "convolution":
        result = _convolution(layer, data, pixels)
    elif layer.rule == "max":
        result = _windows(layer, pixels, -128).max(axis=(4, 5))
    elif layer.rule == "average":
        area = layer.kernel[0] * layer.kernel[1]
        result = np.floor_divide(2 * _windows(layer, pixels, 0).sum(axis=(4, 5)) + area, 2 * area)
    else:
        result = _elementwise(layer, data, pixels)
    if layer.rectified or layer.rule == "rectify":
        result = np.maximum(result, 0)
    return np.asarray(np.clip(result, -128, 127), dtype=np.int64)


def _padded(layer: LayerProgram, pixels: Integers, outside: int) -> Integers:
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
    windows = sliding_window_view(_padded(layer, pixels, outside), _spans(layer), axis=(1, 2))
    (down, across), (high, wide) = layer.strides, layer.output_size
    windows = windows[:, ::down, ::across][:, :high, :wide]
    return windows[..., :: layer.dilations[0], :: layer.dilations[1]]


def _convolution(layer: LayerProgram, data: LayerData, pixels: Integers) -> Integers:
    """Tap by tap: the whole image, moved, times the weights of the tap."""
    (frames, *_, maps), (high, wide), share = pixels.shape, layer.output_size, layer.group_filters
    padded = _padded(layer, pixels, 0).astype(np.float64)
    groups = layer.filters // share
    weights = data.weights.astype(np.float64).reshape(groups, share, layer.depth, *layer.kernel)
    # Whole numbers far below 2^53: the sums are exact in any order.
    sums = np.zeros((groups, frames * high * wide, share))
    for k1, k2 in np.ndindex(*layer.kernel):
        top, left = k1 * layer.dilations[0], k2 * layer.dilations[1]
        moved = padded[:, top :: layer.strides[0], left :: layer.strides[1]][:, :high, :wide]
        by_group = moved.reshape(-1, groups, maps // groups).transpose(1, 0, 2)
        sums += by_group @ weights[..., k1, k2].transpose(0, 2, 1)
    whole = sums.transpose(1, 0, 2).reshape(frames, high, wide, layer.filters).astype(np.int64) + data.bias
    unit = 1 << layer.shift
    return (whole + unit // 2) // unit


def _elementwise(layer: LayerProgram, data: LayerData, pixels: Integers) -> Integers:
    operands = np.split(pixels, layer.operands, axis=3)
    total = operands[0]
    if layer.rule == "scale":
        return np.asarray(np.floor_divide(total * data.scale + data.offset + 32, 64))
    for other in operands[1:]:
        if layer.rule in ("sum", "mean"):
            total = total + other
        elif layer.rule == "product":
            total = np.floor_divide(total * other, 128)
        elif layer.rule == "difference":
            total = total - other
        elif layer.rule == "largest":
            total = np.maximum(total, other)
        elif layer.rule == "smallest":
            total = np.minimum(total, other)
    return np.floor_divide(total, layer.operands) if layer.rule == "mean" else total
