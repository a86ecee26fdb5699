"""Convolutions and pools add in the stated order, output by output."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.workloads.network.operator_network import Window
from mapper.workloads.reference.layer import matrix_product
from mapper.workloads.reference.window import (
    Order,
    Values,
    average_pool,
    convolution,
    max_pool,
    output_sizes,
    transposed_convolution,
)

derandomised = settings(derandomize=True, deadline=None, max_examples=60)
ZERO = np.float32(0)


@st.composite
def windows(draw: st.DrawFn) -> tuple[Window, tuple[int, int]]:
    """A window over two axes, and sizes that it fits."""
    pairs = st.tuples(st.integers(1, 3), st.integers(1, 3))
    kernel, strides, dilations = draw(pairs), draw(pairs), draw(st.tuples(*[st.integers(1, 2)] * 2))
    # A window that lies in the padding alone has no largest number.
    pads = tuple((draw(st.integers(0, k - 1)), draw(st.integers(0, k - 1))) for k in kernel)
    least = [d * (k - 1) + 1 for k, d in zip(kernel, dilations, strict=True)]
    sizes = (draw(st.integers(least[0], least[0] + 4)), draw(st.integers(least[1], least[1] + 4)))
    return Window(kernel, strides, pads, dilations), sizes


def numbers(seed: int, *shape: int) -> Values:
    """Numbers of very different size, whose sums depend on the order of additions."""
    random = np.random.default_rng(seed)
    return (random.standard_normal(shape) * 10.0 ** random.integers(-3, 4, shape)).astype(np.float32)


def at(data: Values, window: Window, place: tuple[int, ...], position: tuple[int, ...]) -> Any:
    """What lies under a position of the kernel for one output of one channel; None in the padding."""
    index = tuple(
        p * s + f * d - begin
        for p, f, s, d, (begin, _) in zip(
            place, position, window.strides, window.dilations, window.pads, strict=True
        )
    )
    inside = all(0 <= i < size for i, size in zip(index, data.shape, strict=True))
    return data[index] if inside else None


def slow_convolution(data: Values, kernel: Values, window: Window, bias: Values, order: Order) -> Values:
    rows, columns = (range(size) for size in window.kernel)
    sizes = output_sizes(data.shape[2:], window)
    result = np.zeros((data.shape[0], kernel.shape[0], *sizes), np.float32)
    share, depth = kernel.shape[0] // window.groups, kernel.shape[1]
    for n, m, *place in itertools.product(*map(range, result.shape)):
        total = bias[m]
        for c in range(depth):
            plane = data[n, m // share * depth + c]

            def product(y: int, x: int) -> Any:
                value = at(plane, window, tuple(place), (y, x))  # noqa: B023
                return (ZERO if value is None else value) * kernel[m, c, y, x]  # noqa: B023

            if order == "gemm":
                for y, x in itertools.product(rows, columns):
                    total = total + product(y, x)
            else:
                products = [product(y, x) for x in columns for y in rows]
                window_sum = products[0]
                for one in products[1:]:
                    window_sum = window_sum + one
                total = total + window_sum
        result[(n, m, *place)] = total
    return result


@derandomised
@given(windows(), st.sampled_from(["gemm", "optcgra"]), st.sampled_from([1, 2]), st.integers(0, 999))
def test_a_convolution_adds_as_a_scalar_loop_does(
    window: tuple[Window, tuple[int, int]], order: Order, groups: int, seed: int
) -> None:
    over, sizes = window
    over = Window(over.kernel, over.strides, over.pads, over.dilations, groups)
    data, kernel = numbers(seed, 2, 2 * groups, *sizes), numbers(seed + 1, 2 * groups, 2, *over.kernel)
    bias = numbers(seed + 2, 2 * groups)
    assert np.array_equal(
        convolution(data, kernel, over, bias, order), slow_convolution(data, kernel, over, bias, order)
    )


def test_the_two_orders_differ_and_are_told_apart() -> None:
    # Of 1e8 + 1 + 1 - 1e8 one by one nothing is left; column by column the ones are not lost.
    kernel = np.ones((1, 1, 2, 2), np.float32)
    data = np.array([[[[1e8, 1.0], [-1e8, 1.0]]]], np.float32)
    window = Window((2, 2), (1, 1), ((0, 0),) * 2, (1, 1))
    assert convolution(data, kernel, window, None, "gemm").item() == 1.0
    assert convolution(data, kernel, window, None, "optcgra").item() == 2.0


def test_convolutions_have_one_or_three_axes_too() -> None:
    line = convolution(
        np.arange(6, dtype=np.float32).reshape(1, 1, 6),
        np.array([[[1, -2, 1]]], np.float32),
        Window((3,), (1,), ((1, 0),), (1,)),
        None,
        "optcgra",
    )
    assert line.tolist() == [[[1, 0, 0, 0, 0]]]
    cube = np.ones((1, 2, 3, 3, 3), np.float32)
    unit = Window((2, 2, 2), (1, 1, 1), ((0, 0),) * 3, (1, 1, 1))
    summed = convolution(
        cube, np.ones((1, 2, 2, 2, 2), np.float32), unit, np.full(1, 0.5, np.float32), "gemm"
    )
    assert summed.shape == (1, 1, 2, 2, 2)
    assert set(summed.flat) == {16.5}


@derandomised
@given(windows(), st.booleans(), st.integers(0, 999))
def test_an_average_adds_row_by_row_and_divides_once(
    window: tuple[Window, tuple[int, int]], counted: bool, seed: int
) -> None:
    over, sizes = window
    over = Window(over.kernel, over.strides, over.pads, over.dilations, count_pads=counted)
    data, output = numbers(seed, 1, 2, *sizes), output_sizes(sizes, over)
    found = average_pool(data, over, output)
    for c, *place in itertools.product(range(2), *map(range, output)):
        total, count = ZERO, 0
        for position in np.ndindex(*over.kernel):
            value = at(data[0, c], over, tuple(place), position)
            total, count = total + (ZERO if value is None else value), count + (counted or value is not None)
        assert found[(0, c, *place)] == total / np.float32(count)


@derandomised
@given(windows(), st.integers(0, 999))
def test_a_maximum_ignores_padding(window: tuple[Window, tuple[int, int]], seed: int) -> None:
    over, sizes = window
    data, output = numbers(seed, 1, 1, *sizes) - np.float32(5), output_sizes(sizes, over)
    found = max_pool(data, over, output)
    for place in np.ndindex(*output):
        values = [at(data[0, 0], over, place, position) for position in np.ndindex(*over.kernel)]
        assert found[(0, 0, *place)] == max(value for value in values if value is not None)


def test_a_not_a_number_loses_against_numbers_in_a_maximum() -> None:
    data = np.array([[[np.nan, -3.0, 2.0, np.nan]]], np.float32)
    found = max_pool(data, Window((2,), (2,), ((0, 0),), (1,)), (2,))
    assert found.tolist() == [[[-3.0, 2.0]]]


def test_an_average_that_rounds_up_does_not_count_what_lies_beyond_the_padding() -> None:
    data = np.arange(1, 6, dtype=np.float32).reshape(1, 1, 5)
    with_pads = Window((3,), (3,), ((1, 1),), (1,), ceil=True, count_pads=True)
    assert with_pads.covering_pads((5,), (3,)) == ((1, 3),)
    # Windows (pad 1 2) (3 4 5) (pad beyond beyond).
    assert average_pool(data, with_pads, (3,)).tolist() == [[[1.0, 4.0, 0.0]]]


@pytest.mark.parametrize("order", ["gemm", "optcgra"])
def test_a_transposed_convolution_spreads_each_number_over_its_kernel(order: Order) -> None:
    window = Window((3,), (2,), ((1, 0),), (1,))
    data = np.array([[[1.0, 10.0]]], np.float32)
    kernel = np.array([[[1.0, 2.0, 3.0]]], np.float32)
    assert transposed_convolution(data, kernel, window, None, order).tolist() == [[[2.0, 13.0, 20.0, 30.0]]]


@derandomised
@given(st.integers(1, 4), st.integers(1, 9), st.integers(1, 4), st.integers(0, 999))
def test_a_matrix_product_adds_in_the_order_of_k(rows: int, depth: int, columns: int, seed: int) -> None:
    data, matrix, bias = (
        numbers(seed, rows, depth),
        numbers(seed + 1, depth, columns),
        numbers(seed + 2, columns),
    )
    found = matrix_product(data, matrix, bias)
    for row, column in np.ndindex(rows, columns):
        total = bias[column]
        for k in range(depth):
            total = total + data[row, k] * matrix[k, column]
        assert found[row, column] == total
