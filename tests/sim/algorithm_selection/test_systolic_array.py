"""The systolic array multiplies, takes the cycles that are counted, and never waits for a bank or a block."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.models.algorithm_selection.choice import Dataflow
from mapper.models.algorithm_selection.gemm_call import GemmCall
from mapper.sim.algorithm_selection.address import Integers
from mapper.sim.algorithm_selection.array.cycles import array_cycles, fill_and_drain, passes, utilisation
from mapper.sim.algorithm_selection.array.systolic import run, wires
from mapper.sim.algorithm_selection.buffer import location, most_reads

DATAFLOWS: tuple[Dataflow, ...] = ("NS", "WS", "IS")


def product(a: int, b: int, c: int, row: int = 0, column: int = 0) -> GemmCall:
    return GemmCall(a, b, c, row, column, 0, 0, 0, 0, False)


def matrices(a: int, b: int, c: int, seed: int = 0) -> tuple[Integers, Integers]:
    random = np.random.default_rng(seed)
    return random.integers(-128, 128, (a, b)), random.integers(-128, 128, (b, c))


@given(
    st.sampled_from(DATAFLOWS),
    st.tuples(st.integers(1, 6), st.integers(1, 6)),
    st.tuples(st.integers(1, 14), st.integers(1, 14), st.integers(1, 14)),
    st.integers(1, 3),
    st.integers(0, 99),
)
@settings(derandomize=True, deadline=None, max_examples=150)
def test_any_product_is_right_and_takes_the_counted_cycles(
    dataflow: Dataflow, array: tuple[int, int], sizes: tuple[int, int, int], repeats: int, seed: int
) -> None:
    a, b, c = sizes
    matrix, weights = matrices(repeats * a, b, c, seed)
    calls = [product(a, b, c, at * a) for at in range(repeats)]
    done = run(calls, dataflow, array, matrix, weights)
    for at, result in enumerate(done.products):
        assert np.array_equal(result, matrix[at * a : (at + 1) * a] @ weights)
    assert done.cycles == array_cycles(calls, dataflow, array)
    assert done.late == 0
    length = passes(calls[0], dataflow, array)[1]
    needed = wires(dataflow, length, array)
    assert all(met <= width for met, width in zip(done.widest, needed, strict=True))
    streamed, block = done.reads[:: -1 if dataflow == "IS" else 1]
    assert streamed == 1 and block <= (1 if dataflow == "NS" else needed[0])


@pytest.mark.parametrize("dataflow", DATAFLOWS)
@pytest.mark.parametrize("array", [(4, 4), (3, 5), (5, 3)])
def test_no_dataflow_meets_a_bank_conflict_in_buffers_that_another_filled(
    dataflow: Dataflow, array: tuple[int, int]
) -> None:
    matrix, weights = matrices(17, 19, 13)
    done = run([product(17, 19, 13)], dataflow, array, matrix, weights)
    assert done.reads == most_reads(dataflow, array, (max(array),) * 2) == (1, 1)


def test_as_many_banks_as_rows_and_columns_are_too_few_for_is_on_a_tall_array() -> None:
    assert most_reads("NS", (5, 3), (5, 3)) == (1, 1)
    assert most_reads("IS", (5, 3), (5, 3)) == (1, 2)
    matrix, weights = matrices(9, 9, 9)
    assert run([product(9, 9, 9)], "IS", (5, 3), matrix, weights, banks=3).reads[1] == 2


def test_rows_and_columns_of_blocks_touch_every_bank_once() -> None:
    for fixed in range(7):
        assert sorted(location(fixed, at, 9, 5)[0] for at in range(5)) == list(range(5))
        assert sorted(location(at, fixed, 9, 5)[0] for at in range(5)) == list(range(5))


def test_the_example_of_section_3_2_leaves_a_third_idle_unless_the_input_stays() -> None:
    sizes = [(62, 124, 64)]
    assert utilisation(sizes, "NS", (31, 31)) == pytest.approx(0.688, abs=5e-4)
    assert utilisation(sizes, "WS", (31, 31)) == pytest.approx(0.688, abs=5e-4)
    assert utilisation(sizes, "IS", (31, 31)) == 1.0


@pytest.mark.parametrize("dataflow", DATAFLOWS)
def test_passes_follow_each_other_without_a_stall_on_the_array_of_section_3_2(dataflow: Dataflow) -> None:
    matrix, weights = matrices(62, 124, 64)
    done = run([product(62, 124, 64)], dataflow, (31, 31), matrix, weights)
    assert np.array_equal(done.products[0], matrix @ weights)
    count, length = passes(product(62, 124, 64), dataflow, (31, 31))
    assert done.cycles == count * length + fill_and_drain(dataflow, length, (31, 31))
