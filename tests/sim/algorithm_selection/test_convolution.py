"""Every algorithm computes the convolution that onnxruntime computes, to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.models.algorithm_selection.choice import Algorithm, Choice, Dataflow
from mapper.models.algorithm_selection.control.sequence import convolution_step
from mapper.sim.algorithm_selection.address import Integers, to_matrix
from mapper.sim.algorithm_selection.array.cycles import step_cycles
from mapper.sim.algorithm_selection.array.systolic import convolve_on_array
from mapper.sim.algorithm_selection.convolution import convolve
from mapper.sim.algorithm_selection.onnx_convolution import integer_convolution
from mapper.workloads.document import InputError
from mapper.workloads.nest.layer_nest import Convolution

CHOICES = [
    Choice("im2col", "NS"),
    Choice("kn2row", "NS"),
    Choice("winograd", "NS"),
    Choice("winograd-4x4", "NS"),
]


@st.composite
def shapes(draw: st.DrawFn) -> Convolution:
    """Convolutions of any stride, dilation, padding and number of groups that have an output."""
    groups = draw(st.integers(1, 3))
    kernel = draw(st.tuples(st.integers(1, 5), st.integers(1, 5)))
    dilations = draw(st.tuples(st.integers(1, 2), st.integers(1, 2)))
    pads = tuple(draw(st.tuples(st.integers(0, 3), st.integers(0, 3))) for _ in range(2))
    least = [
        max(1, dilation * (taps - 1) + 1 - sum(pad))
        for taps, dilation, pad in zip(kernel, dilations, pads, strict=True)
    ]
    return Convolution(
        1,
        groups * draw(st.integers(1, 3)),
        groups * draw(st.integers(1, 3)),
        tuple(size + draw(st.integers(0, 6)) for size in least),
        kernel,
        draw(st.tuples(st.integers(1, 3), st.integers(1, 3))),
        dilations,
        pads,
        groups,
    )


@st.composite
def plain_shapes(draw: st.DrawFn) -> Convolution:
    """Convolutions without strides and dilations, square or not: those that pieces of 3 x 3 make up."""
    groups, kernel = draw(st.integers(1, 2)), draw(st.tuples(st.integers(1, 7), st.integers(1, 7)))
    pads = tuple(draw(st.tuples(*[st.integers(0, taps - 1)] * 2)) for taps in kernel)
    sizes = tuple(
        max(1, taps - sum(pad)) + draw(st.integers(0, 7)) for taps, pad in zip(kernel, pads, strict=True)
    )
    channels, maps = groups * draw(st.integers(1, 3)), groups * draw(st.integers(1, 3))
    return Convolution(1, maps, channels, sizes, kernel, (1, 1), (1, 1), pads, groups)


def data(shape: Convolution, seed: int) -> tuple[Integers, Integers]:
    random = np.random.default_rng(seed)
    image = random.integers(-128, 128, (*shape.input_size, shape.in_channels), np.int8)
    kernels = random.integers(
        -128, 128, (*shape.kernel, shape.in_channels // shape.groups, shape.out_channels), np.int8
    )
    return image, kernels


def check(shape: Convolution, choice: Choice, seed: int) -> None:
    step = convolution_step("conv1", shape, choice)
    image, kernels = data(shape, seed)
    made = convolve(step, to_matrix(step.walk, image), kernels)
    assert np.array_equal(made, integer_convolution(shape, image[np.newaxis], kernels)[0])


@given(shapes(), st.sampled_from(CHOICES[:2]), st.integers(0, 99))
@settings(derandomize=True, deadline=None, max_examples=60)
def test_gemm_algorithms_equal_onnxruntime_for_any_shape(
    shape: Convolution, choice: Choice, seed: int
) -> None:
    check(shape, choice, seed)


@given(plain_shapes(), st.sampled_from(CHOICES[2:]), st.integers(0, 99))
@settings(derandomize=True, deadline=None, max_examples=100)
def test_winograd_equals_onnxruntime_for_kernels_of_any_size(
    shape: Convolution, choice: Choice, seed: int
) -> None:
    check(shape, choice, seed)


@pytest.mark.parametrize("dataflow", ["NS", "WS", "IS"])
@pytest.mark.parametrize("array", [(4, 4), (3, 5)])
@pytest.mark.parametrize("algorithm", ["im2col", "kn2row", "winograd"])
def test_the_cycle_accurate_array_convolves(
    algorithm: Algorithm, array: tuple[int, int], dataflow: Dataflow
) -> None:
    shape = Convolution(1, 6, 4, (7, 6), (3, 3), (1, 1), (1, 1), ((1, 1), (0, 2)), 2)
    step = convolution_step("conv1", shape, Choice(algorithm, dataflow))
    image, kernels = data(shape, 5)
    sums, done = convolve_on_array(step, array, to_matrix(step.walk, image), kernels)
    assert np.array_equal(sums, integer_convolution(shape, image[np.newaxis], kernels)[0])
    assert done.cycles == sum(step_cycles(step, array)) and done.late == 0


def test_winograd_does_not_take_a_stride() -> None:
    shape = Convolution(1, 1, 1, (6, 6), (3, 3), (2, 2), (1, 1), ((0, 0), (0, 0)))
    with pytest.raises(InputError, match="without strides"):
        convolution_step("conv1", shape, Choice("winograd", "NS"))
