"""Nests of layers touch what their operators touch, and survive being written down."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mapper.workloads.catalogue import CATALOGUE
from mapper.workloads.nest.layer_nest import Convolution, convolution_nest, matrix_product_nest
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.nest_file import nest_from_document, nest_to_document
from mapper.workloads.source import load_network

DETERMINISTIC = settings(derandomize=True, deadline=None, max_examples=80)


@st.composite
def convolutions(draw: st.DrawFn) -> Convolution:
    rank, groups = draw(st.integers(1, 3)), draw(st.sampled_from([1, 2, 4]))

    def per_axis(low: int, high: int) -> tuple[int, ...]:
        return tuple(draw(st.integers(low, high)) for _ in range(rank))

    shape = Convolution(
        draw(st.integers(1, 3)),
        groups * draw(st.integers(1, 3)),
        groups * draw(st.integers(1, 3)),
        per_axis(1, 9),
        per_axis(1, 4),
        per_axis(1, 3),
        per_axis(1, 3),
        tuple(zip(per_axis(0, 2), per_axis(0, 2), strict=True)),
        groups,
    )
    assume(min(shape.output_size) >= 1)
    return shape


def windows(shape: Convolution, axis: int) -> list[set[int]]:
    """Positions of the padded input that each output along an axis reads, counted one by one."""
    begin, end = shape.pads[axis]
    found: list[set[int]] = []
    start = 0
    while True:
        window = {start + shape.dilations[axis] * place for place in range(shape.kernel[axis])}
        if max(window) >= begin + shape.input_size[axis] + end:
            return found
        found.append(window)
        start += shape.strides[axis]


@DETERMINISTIC
@given(convolutions())
def test_a_convolution_nest_has_one_iteration_per_product(shape: Convolution) -> None:
    naive = shape.batch * shape.out_channels * shape.in_channels // shape.groups
    for axis in range(len(shape.kernel)):
        naive *= sum(len(window) for window in windows(shape, axis))
    assert convolution_nest("conv", shape).iterations == naive


@DETERMINISTIC
@given(convolutions())
def test_a_convolution_nest_spans_its_windows_and_stays_within_the_padded_input(shape: Convolution) -> None:
    nest = convolution_nest("conv", shape)
    image = nest.operands[1]
    for axis in range(len(shape.kernel)):
        touched = set[int]().union(*windows(shape, axis))
        place = axis - len(shape.kernel)
        assert image.index[place].span(nest.trip_counts) == max(touched) + 1 <= image.extents[place]


def assert_survives(nest: LoopNest) -> None:
    assert nest_from_document(nest_to_document(nest), "nest") == nest


@DETERMINISTIC
@given(convolutions())
def test_a_convolution_nest_reads_back(shape: Convolution) -> None:
    assert_survives(convolution_nest("conv", shape))


@pytest.mark.parametrize("transposed", list(itertools.product([False, True], repeat=2)))
@pytest.mark.parametrize("shared", [(), (True, False), (True, True)])
def test_a_matrix_product_nest_reads_back(transposed: tuple[bool, bool], shared: tuple[bool, ...]) -> None:
    nest = matrix_product_nest("gemm", (2, 3), 4, 5, 6, shared, transposed=transposed)
    assert nest.iterations == 2 * 3 * 4 * 5 * 6
    assert_survives(nest)


@pytest.mark.parametrize("name", [name for name, entry in CATALOGUE.items() if entry.origin == "document"])
def test_nests_of_the_catalogue_read_back(name: str) -> None:
    for layer in load_network(name).layers:
        assert_survives(layer.nest)


def test_an_operand_that_reads_its_tensor_elsewhere_reads_back() -> None:
    fields = {
        "schema": "mapper.nest/1",
        "name": "recurrence",
        "loops": {"i": 8, "j": 5},
        "operands": [
            {"tensor": "A", "index": ["i + 1", "j"], "access": "write"},
            {"tensor": "A", "name": "A_above", "index": ["i", "j"], "extents": [9, 5]},
            {"tensor": "B", "index": ["j"]},
        ],
        "operation": "add",
    }
    nest = nest_from_document(fields, "nest")
    assert nest.dependences == ((1, 0),)
    assert nest.sequential_loops == {"i"}
    assert_survives(nest)
