"""The statement of a nest, executed on the tiles that the PEs hold, for all PEs and iterations at once.

Integers are computed exactly: in float64, where matrix products are fast, if every partial sum is proven to
stay below 2^53, else in int64, which wraps modulo 2^64 as the reference and the generated C do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from mapper.sim.tiling.window import Array, loops_of
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.tensor import LEAST, tensors

Labelled = tuple[Array, tuple[str, ...]]
"""An array and the loop that runs along each of its axes."""

EXACT_BELOW = 1 << 53


def carried_loops(nest: LoopNest) -> frozenset[str]:
    """Loops whose iterations hand values of a written tensor to later ones, so that they run in sequence."""
    carried: set[str] = set()
    for tensor in tensors(nest):
        accesses = [nest.operands[position] for position in tensor.operands]
        if tensor.written and len(accesses) > 1:
            carried |= nest.sequential_loops
            for along in zip(*(operand.index for operand in accesses), strict=True):
                if len({dimension.constant for dimension in along}) > 1:
                    carried |= {loop for dimension in along for loop, _ in dimension.coefficients}
    return frozenset(carried)


def number_type(nest: LoopNest) -> type[np.float64] | type[np.int64]:
    """float64 if all partial sums of the seeded integers are exact in it, else int64."""
    if any(tensor.written and len(tensor.operands) > 1 for tensor in tensors(nest)):
        return np.int64
    written = next(operand for operand in nest.operands if operand.writes)
    reads = sum(operand.access == "read" for operand in nest.operands)
    term = abs(LEAST) ** reads if nest.operation == "multiply_add" else abs(LEAST) * reads
    terms = math.prod(bound for loop, bound in nest.bounds if loop not in written.loops)
    return np.float64 if term * terms + abs(LEAST) < EXACT_BELOW else np.int64


class Statement:
    """The statement bound to views of the PEs' tiles, one per operand, with one axis per loop."""

    def __init__(
        self, nest: LoopNest, views: Sequence[Array], rf: Mapping[str, int], array: Mapping[str, int]
    ) -> None:
        self._nest = nest
        written = next(k for k, operand in enumerate(nest.operands) if operand.writes)
        out = loops_of(nest, nest.operands[written])
        labels = [loops_of(nest, operand) for operand in nest.operands]
        sources = [k for k, operand in enumerate(nest.operands) if operand.access == "read"]
        self._accumulates = nest.operands[written].is_updated
        self._steps: list[tuple[Array, Callable[[], Array]]] = []
        for taken in _steps(nest, rf):
            parts = [_part(tile, loops, taken) for tile, loops in zip(views, labels, strict=True)]
            counts = {loop: len(range(array[loop])[taken.get(loop, slice(None))]) for loop in nest.loops}
            factors = [(parts[k], labels[k]) for k in sources]
            self._steps.append((parts[written], self._value(factors, out, counts)))

    def run(self) -> None:
        """Execute every iteration of one pass."""
        for target, value in self._steps:
            if self._accumulates:
                target += value()
            else:
                target[...] = value()

    def _value(
        self, factors: Sequence[Labelled], out: tuple[str, ...], counts: Mapping[str, int]
    ) -> Callable[[], Array]:
        if self._nest.operation == "multiply_add":
            return _product(factors, out, counts)
        return _sum(factors, out, counts)


def _steps(nest: LoopNest, rf: Mapping[str, int]) -> Iterator[dict[str, slice]]:
    """Parts of a pass that run one after another, as slices of loops; one part is the usual case.

    Loops that carry values run in sequence within each PE.
    """
    choices: dict[str, list[slice]] = {}
    for loop in nest.loops:
        if loop in carried_loops(nest) and rf[loop] > 1:
            choices[loop] = [slice(digit, None, rf[loop]) for digit in range(rf[loop])]
    for chosen in product(*choices.values()):
        yield dict(zip(choices, chosen, strict=True))


def _part(tile: Array, loops: tuple[str, ...], taken: Mapping[str, slice]) -> Array:
    chosen: Any = (*(taken.get(loop, slice(None)) for loop in loops), ...)
    return np.asarray(tile[chosen])


def _aligned(loops: tuple[str, ...], out: tuple[str, ...]) -> Callable[[Array], Array]:
    """Brings the axes of an array into the order of ``out``; loops it lacks are broadcast."""
    order = [loops.index(loop) for loop in out if loop in loops]
    shape_index = tuple(slice(None) if loop in loops else None for loop in out)
    return lambda array: array.transpose(order)[shape_index]


def _sum(factors: Sequence[Labelled], out: tuple[str, ...], counts: Mapping[str, int]) -> Callable[[], Array]:
    terms: list[tuple[Array, tuple[int, ...], int, Callable[[Array], Array]]] = []
    for part, loops in factors:
        summed = tuple(axis for axis, loop in enumerate(loops) if loop not in out)
        times = math.prod(count for loop, count in counts.items() if loop not in out and loop not in loops)
        terms.append((part, summed, times, _aligned(tuple(loop for loop in loops if loop in out), out)))

    def value() -> Array:
        total: Any = np.zeros((1,) * len(out), np.int64)
        for part, summed, times, align in terms:
            total = total + align(part.sum(axis=summed)) * times
        return np.asarray(total)

    return value


def _product(
    factors: Sequence[Labelled], out: tuple[str, ...], counts: Mapping[str, int]
) -> Callable[[], Array]:
    """Products of the factors, summed over the loops that are not in ``out``."""
    named = {loop for _, loops in factors for loop in loops}
    times = math.prod(count for loop, count in counts.items() if loop not in out and loop not in named)
    if not factors:
        return lambda: np.full((1,) * len(out), times)
    loops, pairs = factors[0][1], []
    for position, (_, other) in enumerate(factors[1:], start=2):
        later = {loop for _, rest in factors[position:] for loop in rest}
        pairs.append(_pair(loops, other, later | set(out), counts))
        loops = pairs[-1][1]
    summed = tuple(axis for axis, loop in enumerate(loops) if loop not in out)
    align = _aligned(tuple(loop for loop in loops if loop in out), out)

    def value() -> Array:
        result = factors[0][0]
        for (multiply, _), (part, _) in zip(pairs, factors[1:], strict=True):
            result = multiply(result, part)
        if summed:
            result = result.sum(axis=summed)
        result = align(result)
        return result * times if times > 1 else result

    return value


def _pair(
    first: tuple[str, ...], second: tuple[str, ...], kept: set[str], counts: Mapping[str, int]
) -> tuple[Callable[[Array, Array], Array], tuple[str, ...]]:
    """A batched matrix product of two labelled arrays, summing what later factors and the result lack."""
    batch = [loop for loop in first if loop in second and loop in kept]
    summed = [loop for loop in first if loop in second and loop not in kept]
    rows = [loop for loop in first if loop not in second and loop in kept]
    columns = [loop for loop in second if loop not in first and loop in kept]

    def size(loops: Sequence[str]) -> int:
        return math.prod(counts[loop] for loop in loops)

    lone_first = tuple(axis for axis, loop in enumerate(first) if loop not in second and loop not in kept)
    lone_second = tuple(axis for axis, loop in enumerate(second) if loop not in first and loop not in kept)
    left = [loop for loop in first if loop in second or loop in kept]
    right = [loop for loop in second if loop in first or loop in kept]
    left_order = [left.index(loop) for loop in (*batch, *rows, *summed)]
    right_order = [right.index(loop) for loop in (*batch, *summed, *columns)]
    left_shape = (size(batch), size(rows), size(summed))
    right_shape = (size(batch), size(summed), size(columns))
    result = (*batch, *rows, *columns)
    shape = tuple(counts[loop] for loop in result)

    def multiply(a: Array, b: Array) -> Array:
        a = a.sum(axis=lone_first) if lone_first else a
        b = b.sum(axis=lone_second) if lone_second else b
        a = a.transpose(left_order).reshape(left_shape)
        b = b.transpose(right_order).reshape(right_shape)
        multiplied: Array = a[0] @ b[0] if left_shape[0] == 1 else a @ b
        return multiplied.reshape(shape)

    return multiply, result
