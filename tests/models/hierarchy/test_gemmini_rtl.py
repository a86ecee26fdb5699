"""The estimate of Gemmini's RTL: what is done for each tile, and how its constants are found."""

from __future__ import annotations

import numpy as np
import pytest

from bench.hierarchy.gemmini import machine, nest, rows
from bench.hierarchy.gemmini_rtl import fitted, held_out, tiling_of
from bench.hierarchy.gemmini_tiles import Tiling, estimate, work
from mapper.models.hierarchy.one_line import mapping_from_line

LAYER = {"K": 128, "C": 128, "P": 8, "Q": 8, "R": 3, "S": 3}
TILE = {"K": 16, "C": 128, "P": 8, "Q": 4, "R": 3, "S": 3}
NOTHING, EVERYTHING = 0, 10**9
CONSTANTS = np.array([0.5, 0.1, 1.0, 2.0, 6.0, 20.0, 1.5, 250.0])


def tiling(*outer: tuple[str, int], width: int = 16, stride: int = 1) -> Tiling:
    tile = dict(LAYER)
    for loop, trips in outer:
        tile[loop] //= trips
    return Tiling(LAYER, stride, outer, tile, width)


def test_a_block_of_weights_meets_the_rows_of_outputs_of_its_tile() -> None:
    done = work(tiling(("K", 8), ("Q", 2)), NOTHING)
    assert done.tiles == 16
    assert done.instructions == 8 * 1 * 3 * 3 * 4
    assert (done.full, done.rest) == (0, 8)


def test_the_bytes_of_a_tile_are_its_weights_and_its_windows() -> None:
    done = work(tiling(("K", 8), ("Q", 2)), NOTHING)
    assert done.bytes == 16 * 128 * 9 + 128 * 10 * 6
    assert done.requests == 128 * 9 + 2 * 10 * 6


def test_rows_of_an_image_between_windows_are_loaded_too() -> None:
    one = Tiling({**LAYER, "R": 1, "S": 1}, 2, (), {**LAYER, "R": 1, "S": 1}, 16)
    assert work(one, NOTHING).bytes == 128 * 128 + 128 * 15 * 15


def test_every_tile_misses_all_of_its_lines_where_nothing_stays() -> None:
    done = work(tiling(("K", 8), ("Q", 2)), NOTHING)
    assert done.strided == 128 * 9
    assert done.streamed == 2 * 10 * 6


def test_nothing_is_missed_where_the_whole_layer_stays() -> None:
    done = work(tiling(("K", 8), ("Q", 2)), EVERYTHING)
    assert (done.strided, done.streamed, done.partial) == (0, 0, 0)


def test_inputs_stay_while_weights_pass() -> None:
    """A tile of inputs and what passes it fit, though all weights do not: only new inputs are missed."""
    inputs, weights = 128 * 10 * 6, 64 * 128 * 9
    done = work(tiling(("Q", 2), ("K", 8)), inputs + weights + 64 * 32)
    assert done.streamed == 2 * 10 * 6 / 8
    assert done.strided == 128 * 9


def test_parts_of_rows_take_the_room_of_whole_rows() -> None:
    """Weights of 16 of 128 columns stay only where all columns would."""
    own, others = 128 * 9 * 128, 64 * (2 * 10 * 6 + 32)
    assert work(tiling(("K", 8), ("Q", 2)), own + others - 1).strided == 128 * 9
    assert work(tiling(("K", 8), ("Q", 2)), own + others).strided < 128 * 9


def test_results_leave_at_the_last_sum_alone() -> None:
    alone, parts = work(tiling(("K", 8)), NOTHING), work(tiling(("K", 8), ("C", 4)), NOTHING)
    assert alone.results == 64
    assert parts.results * parts.tiles == alone.results * alone.tiles
    assert parts.partial * parts.tiles == alone.partial * alone.tiles


def test_whole_lines_of_results_are_not_filled() -> None:
    assert work(tiling(("K", 2)), NOTHING).partial == 0


def test_a_tile_takes_its_longest_part_when_it_is_much_longer() -> None:
    done = np.array([work(tiling(("K", 8), ("Q", 2)), NOTHING)], float)
    computing = np.array([10.0, 0, 0, 0, 0, 0, 0, 0])
    assert estimate(computing, done)[0] == pytest.approx(16 * 288 * 160)
    loading = np.array([0, 1.0, 0, 0, 0, 0, 0, 0])
    full_rows = 16 * 288 * 8
    assert estimate(loading, done)[0] > 15 * (16 * 128 * 9 + 128 * 10 * 6)
    assert estimate(loading, done)[0] < 15 * (16 * 128 * 9 + 128 * 10 * 6) * 1.01 + full_rows


def test_the_array_is_the_smallest_on_which_the_loops_in_space_fit() -> None:
    row = next(row for row in rows() if "K16X" in row["mapping"] and "C16X" in row["mapping"])
    own_nest = nest(row)
    mapping = mapping_from_line(row["mapping"], own_nest, machine(row), "row")
    layer = {loop: int(row[loop]) for loop in "KCPQRS"}
    found = tiling_of(mapping, layer, int(row["Wstride"]))
    assert found.width == 16
    outer = dict.fromkeys(layer, 1)
    for loop, trips in found.outer:
        outer[loop] *= trips
    assert {loop: outer[loop] * found.tile[loop] for loop in layer} == layer


def made_up() -> np.ndarray:
    """Work of tiles of many shapes."""
    rng = np.random.default_rng(1)
    found = []
    for _ in range(200):
        outer = [(loop, int(rng.choice([1, 2, 4]))) for loop in rng.permutation(list("KCPQ"))]
        found.append(work(tiling(*outer), int(rng.choice([20_000, 100_000, 200_000]))))
    return np.array(found, float)


def test_fitting_finds_the_constants_of_made_up_cycles() -> None:
    done = made_up()
    rtl = estimate(CONSTANTS, done)
    ratios = estimate(fitted(done, rtl), done) / rtl
    assert np.abs(ratios - 1).max() < 0.01


def test_rows_that_are_held_out_are_not_fitted_on() -> None:
    done = made_up()
    rtl = estimate(CONSTANTS, done)
    changed = rtl.copy()
    changed[::4] *= 3
    assert np.median((held_out(done, changed) * changed)[::4] / rtl[::4]) == pytest.approx(1, abs=0.05)
