"""What the PEs of a layer compute for a position, taken from their programs word by word.

Sums are kept in numbers that are exact up to 2^53, far beyond what words of 8 bits add up to.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mapper.models.pe_allocation.configuration.program import LayerProgram, PeProgram
from mapper.sim.pe_allocation.data import Integers, LayerData

Numbers = NDArray[np.float64]
Truths = NDArray[np.bool_]


class Position(Protocol):
    """From windows, positions x taps (k1, k2) x maps, and how many taps of each lie inside the image (None: all), to
    results, positions x maps."""

    def __call__(self, windows: Numbers, inside: Integers | None = None) -> Integers: ...


def position_unit(layer: LayerProgram, data: LayerData) -> Position:
    """The function that the PEs' programs together are. What no slot computes is 0."""
    if layer.rule == "convolution":
        return _convolution(layer, data)
    if layer.rule in ("max", "average"):
        return _pool(layer, data)
    return _elementwise(layer, data)


def _issued(layer: LayerProgram, program: PeProgram) -> tuple[Integers, Integers, Integers, Integers, Truths]:
    """Of every slot of every word: k1, k2, n, m, and whether it is on; of the shape k1, k2, n, m, slot."""
    slots = np.arange(layer.delta)
    k1, k2, n, m = (
        (loop.first + loop.step * np.arange(loop.count)).reshape(
            [loop.count if axis == place else 1 for place in range(5)]
        )
        for axis, loop in enumerate(program.loops)
    )
    if layer.scheme == "lanes":
        m = m + slots
    else:
        n = n + slots
    limits = [loop.limit for loop in program.loops]
    on = (k1 < limits[0]) & (k2 < limits[1]) & (n < limits[2]) & (m < limits[3])
    whole = np.broadcast_shapes(k1.shape, k2.shape, n.shape, m.shape)
    k1, k2, n, m = (np.broadcast_to(index, whole).astype(np.int64) for index in (k1, k2, n, m))
    return k1, k2, n, m, np.asarray(on)


def _counts(layer: LayerProgram) -> Integers:
    """How often every m, n, k1, k2 is computed."""
    shape = (layer.filters, layer.pes[0].loops[2].limit, *layer.kernel)
    found = np.zeros(shape, dtype=np.int64)
    for program in layer.pes:
        k1, k2, n, m, on = _issued(layer, program)
        np.add.at(found, (m[on], n[on], k1[on], k2[on]), 1)
    return found


def _convolution(layer: LayerProgram, data: LayerData) -> Position:
    taps = layer.kernel[0] * layer.kernel[1]
    buffer = data.weights.ravel()
    groups = layer.filters // layer.group_filters
    matrix = np.zeros((layer.filters, layer.kernel[0], layer.kernel[1], layer.depth))
    for program in layer.pes:
        k1, k2, n, m, on = _issued(layer, program)
        assert program.weights is not None
        addresses = program.weights.addresses()[on] % max(1, buffer.size)
        np.add.at(matrix, (m[on], k1[on], k2[on], n[on]), buffer[addresses])
    # One factor for each group: taps and maps of the window by filters.
    factors = matrix.reshape(groups, layer.group_filters, taps * layer.depth).transpose(0, 2, 1)

    def compute(windows: Numbers, inside: Integers | None = None) -> Integers:
        split = windows.reshape(len(windows), taps, groups, layer.depth)
        grouped = split.transpose(2, 0, 1, 3).reshape(groups, len(windows), -1)
        sums = np.matmul(grouped, factors).transpose(1, 0, 2).reshape(len(windows), -1)
        return _finished(layer, data, sums.astype(np.int64) + data.bias)

    return compute


def _finished(layer: LayerProgram, data: LayerData, numbers: Integers) -> Integers:
    """What a PE makes of a rule's result before it hands it on."""
    rule = layer.arithmetic
    if rule.scaled:
        numbers = numbers * data.scale + data.offset
    if layer.shift > 0:
        numbers = (numbers + (1 << (layer.shift - 1))) >> layer.shift
    elif layer.shift < 0:
        numbers = numbers << -layer.shift
    numbers = np.clip(numbers, 0 if layer.rectified else rule.least, rule.most)
    return np.asarray(data.table[numbers + (1 << (rule.bits - 1))] if rule.tabled else numbers)


def _pool(layer: LayerProgram, data: LayerData) -> Position:
    counts = _counts(layer)
    # Lanes take maps as filters; else the maps are the depth of one filter.
    once = (counts == 1).all(axis=(0, 2, 3) if layer.scheme == "depth" else (1, 2, 3))
    taps = layer.kernel[0] * layer.kernel[1]

    def compute(windows: Numbers, inside: Integers | None = None) -> Integers:
        if layer.rule == "max":
            found = windows.max(axis=1).astype(np.int64)
        else:
            counted: Integers | int = taps
            if layer.arithmetic.inside and inside is not None:
                counted = np.maximum(inside, 1)[:, None]
            sums = windows.sum(axis=1).astype(np.int64) << (layer.arithmetic.lifts or (0,))[0]
            found = (2 * sums + counted) // (2 * counted)
        return _finished(layer, data, np.where(once, found, 0))

    return compute


def _elementwise(layer: LayerProgram, data: LayerData) -> Position:
    once = (_counts(layer) == 1).all(axis=(1, 2, 3))
    lifts = np.array(layer.arithmetic.lifts or (0,) * layer.operands)[:, None, None]

    def compute(windows: Numbers, inside: Integers | None = None) -> Integers:
        operands = windows.astype(np.int64).reshape(len(windows), layer.operands, layer.maps)
        combined = _combined(layer, operands.transpose(1, 0, 2) << lifts)
        found = _finished(layer, data, np.where(once, combined, 0))
        return np.maximum(found, 0) if layer.rule == "rectify" else found

    return compute


def _combined(layer: LayerProgram, operands: Integers) -> Integers:
    first, others = np.asarray(operands[0]), operands[1:]
    if layer.rule == "sum":
        return np.asarray(operands.sum(axis=0))
    if layer.rule == "mean":
        return np.asarray(operands.sum(axis=0) // layer.operands)
    result: Integers = first
    for other in others:
        if layer.rule == "product":
            result = result * other
        elif layer.rule == "difference":
            result = result - other
        elif layer.rule in ("largest", "smallest"):
            result = np.asarray((np.maximum if layer.rule == "largest" else np.minimum)(result, other))
    return result
