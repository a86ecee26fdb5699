"""The result of a nest by numpy alone, without tiles: what every mapping must compute."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mapper.workloads.nest.loop_nest import LoopNest, Operand
from mapper.workloads.nest.tensor import Tensor, seeded_integers, tensors

Array = NDArray[Any]

LARGEST_SLICE = 1 << 24
"""Words of an operand that are looked at together, so that large tensors need no large copies."""
EXACT_BELOW = 1 << 53


def initial_tensors(nest: LoopNest, seed: int = 0) -> dict[str, Array]:
    """Tensors by name, filled with seeded integers from -8 to 7 (int8; int64 if the nest writes them).

    A zero-initialised partial sum begins at 0 wherever the nest updates it.
    """
    data: dict[str, Array] = {}
    for stream, tensor in enumerate(tensors(nest)):
        values = seeded_integers(tensor.words, seed, stream).reshape(tensor.shape)
        data[tensor.name] = values.astype(np.int64) if tensor.written else values
        for position in tensor.operands:
            operand = nest.operands[position]
            if operand.is_updated and operand.zero_initialised:
                regions = {
                    repr(region): region
                    for digits in _serial_digits(nest)
                    for region in [_selected(nest, operand, tensor, digits)]
                }
                for region in regions.values():
                    data[tensor.name][region] = 0
    return data


def zero_padded(nest: LoopNest, padded: LoopNest, data: Mapping[str, Array]) -> dict[str, Array]:
    """The tensors of ``nest`` as the same nest with larger bounds has them, zeros around them."""
    larger = {}
    for inner, outer in zip(tensors(nest), tensors(padded), strict=True):
        larger[inner.name] = np.zeros(outer.shape, data[inner.name].dtype)
        larger[inner.name][_region(inner, outer)] = data[inner.name]
    return larger


def within(nest: LoopNest, padded: LoopNest, output: Array) -> Array:
    """What ``nest`` has of the tensor that the same nest with larger bounds has written."""
    pairs = zip(tensors(nest), tensors(padded), strict=True)
    return output[next(_region(inner, outer) for inner, outer in pairs if inner.written)]


def _region(inner: Tensor, outer: Tensor) -> tuple[slice, ...]:
    return tuple(
        slice(first, first + size) for first, size in zip(inner.place_in(outer), inner.shape, strict=True)
    )


def reference_output(nest: LoopNest, inputs: Mapping[str, Array]) -> Array:
    """The written tensor after the nest has run, as int64 modulo 2^64; ``inputs`` are left as they are.

    Loops that slide along a dimension together with a longer one, and loops that carry a dependence, run one
    after another in nest order; the others are numpy axes.

    Raises: InputError if the nest's tensors cannot be told apart (see ``mapper.workloads.nest.tensor.tensors``).
    """
    by_operand = {position: tensor for tensor in tensors(nest) for position in tensor.operands}
    written = next(position for position, operand in enumerate(nest.operands) if operand.writes)
    data = dict(inputs) | {by_operand[written].name: inputs[by_operand[written].name].copy()}
    sources = [position for position, operand in enumerate(nest.operands) if operand.access == "read"]
    exact = _float_is_exact(nest, inputs, [by_operand[position].name for position in sources])
    result = nest.operands[written]
    for digits in _serial_digits(nest):
        free = [loop for loop in nest.loops if isinstance(digits[loop], slice)]
        out = [loop for loop in free if loop in result.loops]
        parts = [
            _labelled(nest, nest.operands[k], by_operand[k], digits, data[by_operand[k].name])
            for k in sources
        ]
        target, axes = _labelled(nest, result, by_operand[written], digits, data[by_operand[written].name])
        lengths = {loop: len(range(nest.trip_counts[loop])[digits[loop]]) for loop in free}
        value = _statement(nest, parts, out, lengths, result.is_updated, exact)
        value = np.transpose(value, [out.index(loop) for loop in axes])
        if result.is_updated:
            target += value
        else:
            target[...] = value
    return data[by_operand[written].name]


def _statement(
    nest: LoopNest,
    parts: list[tuple[Array, list[str]]],
    out: list[str],
    lengths: Mapping[str, int],
    summed: bool,
    exact: bool,
) -> Array:
    """Value of the statement over ``out``, summed over the other loops, or of their last iteration."""
    if not summed:
        parts = [
            (
                part[(*(slice(None) if loop in out else -1 for loop in loops), ...)],
                [x for x in loops if x in out],
            )
            for part, loops in parts
        ]
        lengths = {loop: lengths[loop] for loop in out}
    number = {loop: place for place, loop in enumerate(lengths)}
    kind = np.float64 if exact else np.int64
    # A factor 1 along every loop lets loops that no factor has be summed or broadcast as well.
    ones = [np.ones(length, kind) for length in lengths.values()]
    target = [number[loop] for loop in out]
    if nest.operation == "multiply_add":
        named = {loop for _, loops in parts for loop in loops}
        terms: list[Any] = []
        for part, loops in parts:
            terms += [part.astype(kind), [number[loop] for loop in loops]]
        for loop, one in zip(lengths, ones, strict=True):
            if loop not in named:
                terms += [one, [number[loop]]]
        if not terms:
            return np.ones((), np.int64)
        return np.asarray(np.einsum(*terms, target, optimize=True)).astype(np.int64)
    total = np.zeros([lengths[loop] for loop in out], np.int64)
    for part, loops in parts:
        terms = [part.astype(np.int64), [number[loop] for loop in loops]]
        for loop, length in lengths.items():
            if loop not in loops:
                terms += [np.ones(length, np.int64), [number[loop]]]
        total += np.einsum(*terms, target)
    return total


def _serial_digits(nest: LoopNest) -> Iterator[dict[str, Any]]:
    """Values of the loops that run in sequence (as integers) and slices of the others."""
    by_tensor = tensors(nest)
    sequence: set[str] = set()
    for tensor in by_tensor:
        accesses = [nest.operands[position] for position in tensor.operands]
        if tensor.written and len(accesses) > 1:
            sequence |= nest.sequential_loops
            for along in zip(*(operand.index for operand in accesses), strict=True):
                if len({dimension.constant for dimension in along}) > 1:
                    sequence |= {loop for dimension in along for loop, _ in dimension.coefficients}
    for operand in nest.operands:
        for dimension in operand.index:
            open_loops = [loop for loop, _ in dimension.coefficients if loop not in sequence]
            sequence |= set(sorted(open_loops, key=lambda loop: nest.trip_counts[loop])[:-1])
        # One loop in two dimensions walks a diagonal, which plain slices cannot name.
        named = [loop for dimension in operand.index for loop, _ in dimension.coefficients]
        sequence |= {loop for loop in named if named.count(loop) > 1}
    choices: list[list[Any]] = []
    for loop, bound in nest.bounds:
        if loop in sequence:
            choices.append(list(range(bound)))
            continue
        widest = max(
            (_words(nest, operand, sequence) for operand in nest.operands if loop in operand.loops), default=1
        )
        parts = min(bound, -(-widest // LARGEST_SLICE))
        width = -(-bound // parts)
        choices.append([slice(start, min(start + width, bound)) for start in range(0, bound, width)])
    for chosen in product(*choices):
        yield dict(zip(nest.loops, chosen, strict=True))


def _words(nest: LoopNest, operand: Operand, sequence: set[str]) -> int:
    words = 1
    for loop in operand.loops - sequence:
        words *= nest.trip_counts[loop]
    return words


def _selected(
    nest: LoopNest, operand: Operand, tensor: Tensor, digits: Mapping[str, Any]
) -> tuple[int | slice, ...]:
    """Where ``operand`` finds its words of these iterations; a free loop is a (possibly reversed) slice."""
    selected: list[int | slice] = []
    for dimension, low in zip(operand.index, tensor.low, strict=True):
        place, free = dimension.constant - low, None
        for loop, factor in dimension.coefficients:
            if isinstance(digits[loop], slice):
                free = (range(nest.trip_counts[loop])[digits[loop]], factor)
            else:
                place += factor * digits[loop]
        if free is None:
            selected.append(place)
            continue
        values, factor = free
        first, last = place + factor * values[0], place + factor * values[-1]
        end: int | None = last + (1 if factor > 0 else -1)
        selected.append(slice(first, end if end is not None and end >= 0 else None, factor))
    return tuple(selected)


def _labelled(
    nest: LoopNest, operand: Operand, tensor: Tensor, digits: Mapping[str, Any], data: Array
) -> tuple[Array, list[str]]:
    axes = [
        loop
        for dimension in operand.index
        for loop, _ in dimension.coefficients
        if isinstance(digits[loop], slice)
    ]
    return data[(*_selected(nest, operand, tensor, digits), ...)], axes


def _float_is_exact(nest: LoopNest, inputs: Mapping[str, Array], names: list[str]) -> bool:
    """Whether no partial sum of these inputs can leave float64's exact integers."""
    if any(tensor.written and len(tensor.operands) > 1 for tensor in tensors(nest)):
        return False
    bound = nest.iterations
    for name in names:
        bound *= max(1, abs(int(inputs[name].min())), abs(int(inputs[name].max())))
    return bound < EXACT_BELOW
