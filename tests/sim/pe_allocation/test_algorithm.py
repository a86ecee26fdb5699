"""Algorithms 1, 2 and 3: the same outputs, ever earlier starts of the following layer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.models.pe_allocation.calculus import position_cycles
from mapper.sim.pe_allocation.algorithm import (
    Nest,
    algorithm_1,
    algorithm_2,
    algorithm_3,
    following_start,
)
from mapper.sim.pe_allocation.data import Integers
from tests.sim.pe_allocation.example import Net


def nest_of(filters: int, depth: int, kernel: int, side: int, stride: int, seed: int = 0) -> Nest:
    stream = np.random.default_rng(seed)
    span = (side - 1) * stride + kernel
    return Nest(
        stream.integers(-9, 9, (depth, span, span)),
        stream.integers(-9, 9, (filters, depth, kernel, kernel)),
        stream.integers(-9, 9, filters),
        (stride, stride),
        (side, side),
    )


def directly(nest: Nest) -> Integers:
    """Eq. 1, window by window."""
    filters, _, high, wide = nest.weights.shape
    output = np.zeros((filters, *nest.size), dtype=np.int64)
    for r, c in np.ndindex(nest.size):
        top, left = r * nest.strides[0], c * nest.strides[1]
        window = nest.pixels[:, top : top + high, left : left + wide]
        output[:, r, c] = (nest.weights * window).sum(axis=(1, 2, 3)) + nest.bias
    return output


@settings(derandomize=True, deadline=None, max_examples=30)
@given(
    st.integers(1, 5), st.integers(1, 5), st.integers(1, 3), st.integers(1, 3), st.integers(1, 2),
    st.integers(1, 5), st.integers(1, 5),
)  # fmt: skip
def test_all_three_compute_equation_1(
    filters: int, depth: int, kernel: int, side: int, stride: int, pes: int, delta: int
) -> None:
    nest = nest_of(filters, depth, kernel, side, stride)
    expected = directly(nest)
    for trace in (algorithm_1(nest), algorithm_2(nest), algorithm_3(nest, pes, delta)):
        assert np.array_equal(trace.output, expected)
        assert (trace.complete > 0).all()


@pytest.mark.parametrize(("depth", "delta"), [(24, 2), (1, 2), (3, 2), (5, 4)])
def test_the_bias_is_added_where_delta_does_not_divide_the_depth(depth: int, delta: int) -> None:
    nest = nest_of(3, depth, 2, 2, 1)
    assert np.array_equal(algorithm_3(nest, 2, delta).output, directly(nest))


def test_the_following_layer_starts_ever_earlier() -> None:
    nest = nest_of(6, 4, 3, 4, 1)
    first, second = algorithm_1(nest), algorithm_2(nest)
    third = algorithm_3(nest, 3, 2)
    starts = [following_start(trace, (2, 2)) for trace in (first, second, third)]
    products = 4 * 3 * 3
    # The last filter's window; all filters' window; the same on three PEs of two units.
    assert starts == [(5 * 16 + 6) * products, 6 * 6 * products, 6 * 6 * products // 6]


def test_algorithm_3_takes_the_calculus_cycles_for_a_position() -> None:
    layer = Net((4, 4), 3).convolution(5).layers[0]
    for pes, delta in ((1, 1), (2, 2), (4, 2), (5, 3)):
        trace = algorithm_3(nest_of(5, 3, 3, 2, 1), pes, delta)
        cycles = position_cycles(layer, pes, delta)
        assert trace.complete.max(axis=0).ravel().tolist() == [cycles * k for k in (1, 2, 3, 4)]
