"""Stationary blocks come in over two wires a column, to the cycle and word by word, whatever the shapes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.codegen.algorithm_selection.instruction import DATAFLOWS, Call, Dataflow, Gemm, Instruction, Move
from mapper.codegen.algorithm_selection.layout.path import grid_path, lines_path
from mapper.codegen.algorithm_selection.program import depths
from mapper.models.algorithm_selection.choice import Algorithm, Choice
from mapper.models.algorithm_selection.timing import block_rows, gemm_cycles
from mapper.workloads.nest.layer_nest import Convolution
from tests.sim.algorithm_selection.rtl.overlay_bench import run, sizes
from tests.sim.algorithm_selection.rtl.test_rtl import held_against_timeline, run_layer

ARRAYS = [(4, 4), *(pytest.param(array, marks=pytest.mark.slow) for array in ((1, 2), (5, 4)))]
"""Segments of three rows and of one; a single row, whose second wire has no rows; and segments of three and of two."""
SIZES = st.integers(1, 23)


def test_two_wires_have_an_odd_number_of_rows_each_that_are_half_of_all() -> None:
    assert [block_rows(rows, 2) for rows in (1, 2, 3, 4, 5, 6, 47, 50)] == [1, 1, 3, 3, 3, 3, 25, 25]
    assert [block_rows(rows, 1) for rows in (1, 2, 47)] == [1, 2, 47]
    assert all(rows <= 2 * block_rows(rows, 2) for rows in range(1, 200))


def test_only_results_wait_for_all_rows() -> None:
    short = {one: gemm_cycles((5, 4), one, (4, 4, 4), 9, 2)["short_passes"] for one in DATAFLOWS}
    assert short == {"NS": 8, "WS": 0, "IS": 0}


@pytest.mark.parametrize("array", ARRAYS)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_products_of_any_size_at_any_place_of_the_buffers(
    array: tuple[int, int], data: st.DataObject
) -> None:
    """Matrices begin anywhere in their buffers, whose numbers of rows are odd and even."""
    assert sizes(array).wires == 2
    dataflow: Dataflow = data.draw(st.sampled_from(DATAFLOWS))
    a, b, c = data.draw(SIZES), data.draw(SIZES), data.draw(SIZES)
    (row1, column1), (row2, column2) = (
        (data.draw(st.integers(0, 6)), data.draw(st.integers(0, 9))) for _ in range(2)
    )
    (high1, wide1), (high2, wide2) = (row1 + a, column1 + b), (row2 + b, column2 + c)
    random = np.random.default_rng(high1 * wide1 + high2)
    left = random.integers(-128, 128, (high1, wide1))
    right = random.integers(-128, 128, (high2, wide2))
    end = left.size + right.size
    calls = data.draw(st.integers(1, 3))
    instructions: list[Instruction] = [
        Move("dram", "input", lines_path(high1, wide1, 0), grid_path(high1, wide1), rows=(0, high1)),
        Move("dram", "kernel", lines_path(high2, wide2, left.size), grid_path(high2, wide2), rows=(0, high2)),
        Gemm(
            dataflow,
            a,
            b,
            c,
            tuple(Call((row1, column1), (row2, column2), (0, 0), at > 0) for at in range(calls)),
            (high1, high2, a),
        ),
        Move("result", "dram", grid_path(a, c), lines_path(a, c, end), rows=(a, 0)),
    ]
    done = run(array, instructions, np.concatenate([left.ravel(), right.ravel(), np.zeros(a * c, np.int64)]))
    expected = calls * (left[row1:, column1:] @ right[row2:, column2:])
    assert np.array_equal(done.dram[end:].reshape(a, c), expected)
    held_against_timeline(array, instructions, done)


@st.composite
def layers(draw: st.DrawFn) -> Convolution:
    groups = draw(st.sampled_from([1, 1, 2, 3]))
    depth, maps = groups * draw(st.integers(1, 5)), groups * draw(st.integers(1, 7))
    kernel = draw(st.sampled_from([1, 3, 3, 5]))
    size = (draw(st.integers(kernel, 8)), draw(st.integers(kernel, 8)))
    pads = ((draw(st.integers(0, 1)), 1), (1, draw(st.integers(0, 1)))) if kernel > 1 else ((0, 0), (0, 0))
    return Convolution(1, depth, maps, size, (kernel, kernel), (1, 1), (1, 1), pads, groups)


@pytest.mark.parametrize(
    ("array", "algorithms"),
    [
        ((4, 4), ["im2col", "kn2row", "winograd", "winograd-4x4"]),
        pytest.param((5, 4), ["im2col", "kn2row", "winograd"], marks=pytest.mark.slow),
    ],
)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_layers_of_any_shape_in_any_algorithm(
    array: tuple[int, int], algorithms: list[Algorithm], data: st.DataObject
) -> None:
    shape = data.draw(layers())
    pointwise: list[Algorithm] = ["im2col"]
    algorithm = data.draw(st.sampled_from(algorithms if shape.kernel[0] > 1 else pointwise))
    dataflow: Dataflow = data.draw(st.sampled_from(DATAFLOWS))
    run_layer(array, shape, Choice(algorithm, dataflow), count=data.draw(st.integers(1, 3)))


def test_matrices_of_an_odd_number_of_rows_take_one_more_where_two_are_read_at_once() -> None:
    load = Move("dram", "input", lines_path(5, 9, 0), grid_path(5, 9), rows=(0, 5))
    assert depths([load], 4, 1)["input"] == 3 * 5
    assert depths([load], 4, 2)["input"] == 3 * 6
