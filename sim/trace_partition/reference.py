"""A network in the machine's arithmetic, layer by layer and without the machine: what every program has to compute.

Words are Q8.8, sums Q16.16 modulo 2^32 that start with the bias and the residual, shifted left by 8; a result is
(sum + 128) >> 8, saturated to 16 bits, then the larger of two halves (MFM), then the activation: ReLU, clipping or a
table. Products are made in double precision, in which they and their sums are exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.models.trace_partition.data.fixed_point import FRACTION_BITS, ONE
from mapper.models.trace_partition.data.function_table import mapped
from mapper.models.trace_partition.data.quantisation import LayerData
from mapper.models.trace_partition.isa.program import HostCall
from mapper.models.trace_partition.lowering.layer import HostLayer, TraceLayer, TraceNetwork
from mapper.models.trace_partition.tile.window import window_classes
from mapper.sim.trace_partition.functional.tensor_map import Memory, Words, tensor_map
from mapper.sim.trace_partition.host import run_call
from mapper.workloads.document import InputError

Sums = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]
LOWEST, HIGHEST = -(1 << 15), (1 << 15) - 1
PATCH_WORDS = 1 << 22
"""Elements of the matrix of windows that is made at a time; so many products are also exact in double precision."""


def reference(
    trace: TraceNetwork,
    data: Mapping[str, LayerData],
    calls: Sequence[HostCall],
    images: Mapping[str, Words],
) -> dict[str, Words]:
    """The words of every tensor of ``trace`` once all layers have run. ``data``: by layer (``quantised``); ``calls``:
    of the host's layers in order (``host_calls``); ``images``: (rows, columns, channels) of every input.

    Raises: InputError if an input is missing or of another size.
    """
    memory = {name: np.zeros(words, np.int16) for name, words in trace.tensors}
    for name, view in trace.inputs:
        shape = (view.height, view.width, view.channels)
        if name not in images or images[name].shape != shape:
            raise InputError(
                trace.name, f"input {name[:60]!r}", f"needs {list(shape)} rows, columns, channels"
            )
        tensor_map(view, memory)[...] = images[name]
    waiting = iter(calls)
    for layer in trace.layers:
        if isinstance(layer, HostLayer):
            run_call(next(waiting), memory)
        else:
            tensor_map(layer.output, memory)[...] = layer_words(layer, data[layer.name], memory)
    return memory


def layer_words(layer: TraceLayer, data: LayerData, memory: Memory) -> Words:
    """What ``layer`` makes of what lies in ``memory``, as (rows, columns, channels)."""
    given = tensor_map(layer.input, memory)
    if layer.work == "max":
        return _activated(layer, data, _largest(layer, given))
    convolves = layer.work == "convolution"
    sums = _convolution(layer, data, given) if convolves else _lanes(layer, data, given, memory)
    sums += data.bias.astype(np.int64) << FRACTION_BITS
    if layer.residual is not None:
        sums += tensor_map(layer.residual, memory).astype(np.int64) << FRACTION_BITS
    results = rounded(sums)
    if layer.mfm:
        half = layer.output.channels
        results = np.maximum(results[..., :half], results[..., half:])
    return _activated(layer, data, results)


def rounded(sums: Sums) -> Words:
    """Sums of 32 bits (what exceeds them is cut off) as results of 16."""
    wrapped = sums.astype(np.int32).astype(np.int64)
    results: Words = np.clip((wrapped + (ONE >> 1)) >> FRACTION_BITS, LOWEST, HIGHEST).astype(np.int16)
    return results


def _activated(layer: TraceLayer, data: LayerData, results: Words) -> Words:
    if layer.relu:
        results = np.maximum(results, np.int16(0))
    if layer.clip is not None:
        low, high = layer.clip
        results = np.minimum(np.maximum(results, np.int16(low)), np.int16(high))
    return results if layer.table is None else mapped(results, data.table).astype(np.int16)


def _convolution(layer: TraceLayer, data: LayerData, given: Words) -> Sums:
    """Sums (rows, columns, filters) as products of matrices: windows by filters, a few rows at a time."""
    maps = _padded(layer, given, 0).astype(np.float64)
    inputs, filters = layer.group_inputs, layer.filters // layer.groups
    sums = np.empty((layer.rows, layer.columns, layer.filters), np.int64)
    for group in range(layer.groups):
        part = maps[..., group * inputs : (group + 1) * inputs]
        own = slice(group * filters, (group + 1) * filters)
        kernel = data.kernel[own].reshape(filters, -1).T.astype(np.float64)
        windows = _windows(layer, part)
        step = max(1, PATCH_WORDS // (layer.columns * kernel.shape[0]))
        for first in range(0, layer.rows, step):
            patches = windows[first : first + step].reshape(-1, kernel.shape[0])
            sums[first : first + step, :, own] = _product(patches, kernel).reshape(-1, layer.columns, filters)
    return sums


def _product(patches: Doubles, kernel: Doubles) -> Sums:
    """An exact product of matrices of 16-bit integers."""
    total = np.zeros((patches.shape[0], kernel.shape[1]), np.int64)
    for first in range(0, kernel.shape[0], PATCH_WORDS):
        depth = slice(first, first + PATCH_WORDS)
        total += (patches[:, depth] @ kernel[depth]).astype(np.int64)
    return total


def _lanes(layer: TraceLayer, data: LayerData, given: Words, memory: Memory) -> Sums:
    """Sums (rows, columns, channels) channel by channel, every window with the weights of its class, or each pixel with
    the gate."""
    if layer.gate is not None:
        return given.astype(np.int64) * tensor_map(layer.gate, memory).astype(np.int64)
    maps = _padded(layer, given, 0).astype(np.int64)
    classes = window_classes(layer)
    numbers = np.add.outer(np.array(classes.row_of) * len(classes.columns), np.array(classes.column_of))
    sums = np.zeros((layer.rows, layer.columns, layer.output.channels), np.int64)
    for place in np.ndindex(*layer.kernel):
        weights = data.kernel[:, *place].astype(np.int64)
        sums += _under(layer, maps, place) * (weights[numbers] if classes.count > 1 else weights[0])
    return sums


def _largest(layer: TraceLayer, given: Words) -> Words:
    maps = _padded(layer, given, LOWEST)
    results = np.full((layer.rows, layer.columns, layer.output.channels), LOWEST, np.int16)
    for place in np.ndindex(*layer.kernel):
        np.maximum(results, _under(layer, maps, place), out=results)
    return results


def _padded(layer: TraceLayer, given: Words, fill: int) -> Words:
    """The map, spread where the layer says so, with its padding."""
    up, across = layer.upsample
    spread = given
    if layer.upsample != (1, 1):
        spread = np.zeros((*layer.spread, given.shape[2]), np.int16)
        spread[::up, ::across] = given
    if layer.pads == ((0, 0), (0, 0)):
        return spread
    return np.pad(spread, (*layer.pads, (0, 0)), constant_values=fill)


def _windows(layer: TraceLayer, maps: Doubles) -> Doubles:
    """(rows, columns, kernel rows, kernel columns, channels), all views of the same words."""
    spans = [step * (size - 1) + 1 for step, size in zip(layer.dilation, layer.kernel, strict=True)]
    (down, right), (apart, beside) = layer.stride, layer.dilation
    slid = np.lib.stride_tricks.sliding_window_view(maps, spans, (0, 1))
    thinned = slid[::down, ::right, :, ::apart, ::beside].transpose(0, 1, 3, 4, 2)
    return thinned[: layer.rows, : layer.columns]


def _under(layer: TraceLayer, maps: npt.NDArray[Any], place: tuple[int, ...]) -> npt.NDArray[Any]:
    """What lies under one position of the kernel, for all outputs."""
    rows, columns = (
        slice(at * apart, at * apart + (count - 1) * step + 1, step)
        for at, apart, count, step in zip(
            place, layer.dilation, (layer.rows, layer.columns), layer.stride, strict=True
        )
    )
    return maps[rows, columns]
