"""Layout transformations as counters: what Table 1 has to be for the layouts of Section 2.1."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mapper.models.algorithm_selection.control.walk import (
    Counter,
    Walk,
    gathered,
    scattered,
    tensor,
    toeplitz,
)
from mapper.sim.algorithm_selection.address import reads_held, to_map, to_matrix, tuples
from mapper.workloads.nest.layer_nest import Convolution

SHAPE = Convolution(1, 2, 4, (7, 6), (3, 2), (2, 1), (1, 2), ((1, 0), (1, 1)), 2)
PLAIN = Convolution(1, 2, 3, (7, 6), (5, 5), (1, 1), (1, 1), ((2, 2), (2, 2)))
WALKS = {
    "toeplitz": toeplitz(SHAPE),
    "tensor": tensor(SHAPE),
    "scattered": scattered(PLAIN, 2),
    "gathered": gathered(PLAIN, 2),
}


@pytest.mark.parametrize("name", WALKS)
def test_counters_stepped_one_by_one_fill_the_same_matrix(name: str) -> None:
    walk = WALKS[name]
    image = np.random.default_rng(0).integers(1, 128, (walk.height, walk.width, walk.channels))
    matrix = np.full(walk.rows * walk.columns, -1)
    for at, address in tuples(walk):
        vector = image.reshape(-1)[at : at + walk.words] if at >= 0 else 0
        matrix[address : address + walk.words] = vector
    assert (matrix >= 0).all()
    assert np.array_equal(matrix.reshape(walk.rows, walk.columns), to_matrix(walk, image))


def test_a_toeplitz_row_is_the_window_of_its_output() -> None:
    shape = Convolution(1, 1, 2, (5, 6), (3, 3), (1, 1), (1, 1), ((0, 0), (0, 0)))
    image = np.arange(60).reshape(5, 6, 2)
    row = to_matrix(toeplitz(shape), image)[1 * 4 + 2]  # output (1, 2)
    assert np.array_equal(row.reshape(3, 3, 2), image[1:4, 2:5])


@pytest.mark.parametrize("name", ["tensor", "scattered", "gathered"])
def test_a_map_comes_back_out_of_a_layout_that_holds_all_of_it(name: str) -> None:
    walk = WALKS[name]
    image = np.random.default_rng(1).integers(-128, 128, (walk.height, walk.width, walk.channels))
    back, held = to_map(walk, to_matrix(walk, image))
    assert held.all() and np.array_equal(back, image)


def test_a_layout_that_strides_over_positions_does_not_hold_them() -> None:
    halving = toeplitz(Convolution(1, 1, 1, (4, 4), (1, 1), (2, 2), (1, 1), ((0, 0), (0, 0))))
    _, held = to_map(halving, to_matrix(halving, np.ones((4, 4, 1), np.int64)))
    assert held.sum() == 4
    assert reads_held(halving, held)
    assert not reads_held(
        tensor(Convolution(1, 1, 1, (4, 4), (1, 1), (1, 1), (1, 1), ((0, 0), (0, 0)))), held
    )


def test_table_1_as_printed_reads_windows_that_stride_apart_in_themselves() -> None:
    """inc_b3 = H1*S goes S rows down within a window: right for S = 1 only."""
    for stride, right in ((1, True), (2, False)):
        shape = Convolution(1, 1, 1, (9, 9), (3, 3), (stride, stride), (1, 1), ((0, 0), (0, 0)))
        walk = toeplitz(shape)
        rows, columns, group, inside, across = walk.levels
        printed = replace(walk, levels=(rows, columns, group, replace(inside, row=stride), across))
        image = np.arange(81).reshape(9, 9, 1)
        assert np.array_equal(to_matrix(printed, image), to_matrix(walk, image)) == right


def test_table_1_as_printed_writes_winograd_s_tiles_one_after_another() -> None:
    """Step_d = m^2 and inc_d3 = 1: a tile's four results lie together, not in two rows of the map."""
    shape = Convolution(1, 1, 1, (4, 4), (3, 3), (1, 1), (1, 1), ((1, 1), (1, 1)))
    image = np.arange(16).reshape(4, 4, 1)
    matrix = to_matrix(gathered(shape, 2), image)
    printed = Walk((Counter(4, column=4, address=1), Counter(4, column=1, address=4)), 1, 1, 16, 1, 16, 1)
    back, _ = to_map(printed, matrix)
    assert back.reshape(-1).tolist()[:4] == [0, 1, 4, 5]
    assert np.array_equal(to_map(gathered(shape, 2), matrix)[0], image)
