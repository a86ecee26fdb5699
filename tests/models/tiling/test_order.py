"""Algorithms 1 and 2 of [Dave2019]: reuse of an order, and the orders whose reuse is unique."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.arch.dataflow import DataflowMachine
from mapper.models.tiling.cost import quantities
from mapper.models.tiling.mapping import TilingMapping
from mapper.models.tiling.order import reuse_factors, unique_orders
from mapper.workloads.nest.layer_nest import Convolution, convolution_nest, matrix_product_nest
from mapper.workloads.nest.loop_nest import AffineIndex, LoopNest, Operand

NestOf = Callable[..., LoopNest]
PRIMES = (2, 3, 5, 7, 11, 13, 17, 19)


@pytest.fixture
def fig6(nest_of: NestOf) -> LoopNest:
    """The nest of Fig. 6: 192 iterations, W invariant of n, I of m, O of c and fy."""
    return nest_of(
        {"n": 2, "m": 8, "c": 4, "fy": 3}, O=("n m", "update"), I=("n c fy", "read"), W=("m c fy", "read")
    )


def distinguishable(nest: LoopNest, active: tuple[str, ...] | None = None) -> dict[str, int]:
    """Trip counts whose products tell every set of loops apart; loops that are not active run once."""
    chosen = nest.loops if active is None else active
    return {loop: prime if loop in chosen else 1 for loop, prime in zip(nest.loops, PRIMES, strict=False)}


def reuse_of_all_permutations(nest: LoopNest, trip_counts: dict[str, int]) -> set[tuple[int, ...]]:
    return {reuse_factors(nest, order, trip_counts) for order in itertools.permutations(nest.loops)}


def assert_covered_exactly(nest: LoopNest, active: tuple[str, ...] | None = None) -> int:
    trip_counts = distinguishable(nest, active)
    orders = list(unique_orders(nest, active).values())
    reuse = [reuse_factors(nest, order, trip_counts) for order in orders]
    assert all(sorted(order) == sorted(nest.loops) for order in orders)
    assert len(reuse) == len(set(reuse)), "two orders have the same reuse"
    assert set(reuse) == reuse_of_all_permutations(nest, trip_counts)
    return len(orders)


def convolution(groups: int = 1) -> LoopNest:
    axes = ((3, 3), (1, 1), (1, 1), ((1, 1), (1, 1)))
    return convolution_nest("convolution", Convolution(4, 16, 16, (8, 8), *axes, groups=groups))


def test_fig_6_has_5_of_24_orders(fig6: LoopNest) -> None:
    assert len(list(itertools.permutations(fig6.loops))) == 24
    assert assert_covered_exactly(fig6) == 5


def test_in_fig_6_weights_are_fetched_96_times_of_192_where_n_is_innermost(fig6: LoopNest) -> None:
    reuse = dict(zip("OIW", reuse_factors(fig6, ("m", "c", "fy", "n"), fig6.trip_counts), strict=True))
    assert reuse == {"O": 1, "I": 1, "W": 2}
    assert fig6.iterations == 192
    assert fig6.iterations // reuse["W"] == 96


@pytest.mark.parametrize("inner", [("c", "fy"), ("fy", "c")])
def test_in_fig_6_both_permutations_of_c_and_fy_reuse_outputs_12_times(
    fig6: LoopNest, inner: tuple[str, str]
) -> None:
    assert reuse_factors(fig6, ("n", "m", *inner), fig6.trip_counts) == (12, 1, 1)


def test_a_convolution_has_15_of_5040_orders() -> None:
    nest = convolution()
    assert len(list(itertools.permutations(nest.loops))) == 5040
    assert assert_covered_exactly(nest) == 15


def test_the_15_orders_reuse_weights_7_ways_inputs_1_way_and_outputs_7_ways() -> None:
    ways = {"O": 0, "I": 0, "W": 0}
    for reuse in unique_orders(convolution()):
        reused = [name for name, over in zip("OIW", reuse, strict=True) if over]
        assert len(reused) == 1
        ways[reused[0]] += 1
    assert ways == {"O": 7, "I": 1, "W": 7}


def test_a_matrix_product_has_3_of_6_orders() -> None:
    assert assert_covered_exactly(matrix_product_nest("product", (), 4, 4, 4)) == 3


def test_a_loop_that_indexes_every_operand_adds_the_order_without_reuse() -> None:
    depthwise = convolution(groups=16)
    count = assert_covered_exactly(depthwise, ("N", "G", "Ox", "Fx"))
    assert count == len({"W by N", "W by Ox", "W by N and Ox", "O by Fx", "nothing"})


def test_operands_may_be_reused_together(nest_of: NestOf) -> None:
    mttkrp = nest_of(
        {"i": 4, "j": 4, "k": 4, "l": 4},
        O=("i j", "update"),
        A=("i k l", "read"),
        B=("k j", "read"),
        C=("l j", "read"),
    )
    assert_covered_exactly(mttkrp)
    assert reuse_factors(mttkrp, ("j", "k", "l", "i"), mttkrp.trip_counts) == (1, 1, 16, 4)


@pytest.mark.parametrize("count", range(8))
def test_loops_that_run_once_leave_fewer_orders(count: int) -> None:
    nest = convolution()
    for active in itertools.islice(itertools.combinations(nest.loops, count), 0, None, 7):
        assert_covered_exactly(nest, active)


def test_a_loop_that_runs_once_does_not_end_reuse() -> None:
    nest = convolution()
    order = ("N", "Ox", "Oy", "C", "M", "Fx", "Fy")
    runs = {"N": 2, "M": 1, "C": 4, "Ox": 5, "Oy": 7, "Fx": 3, "Fy": 3}
    assert reuse_factors(nest, order, runs) == (4 * 3 * 3, 1, 1)
    assert reuse_factors(nest, order, runs | {"M": 2}) == (3 * 3, 1, 1)


def test_reuse_may_continue_through_rf_and_scratch_pad_passes(machine: DataflowMachine) -> None:
    """Section 4.3: O stays for 36 RF passes and 16 scratch-pad passes, and leaves after every 16th."""
    shape = Convolution(2, 32, 64, (1, 1), (3, 3), (1, 1), (1, 1), ((1, 1), (1, 1)))
    nest = convolution_nest("continuous", shape)
    at_spm, at_dram = {"C": 4, "Fy": 3, "Fx": 3}, {"N": 2, "M": 32, "C": 16}
    factors = tuple((at_dram.get(loop, 1), at_spm.get(loop, 1), 1, 1) for loop in nest.loops)
    spm_order = ("N", "M", "Oy", "Ox", "C", "Fy", "Fx")
    dram_order = ("Oy", "Ox", "Fy", "Fx", "N", "M", "C")
    q = quantities(nest, machine, TilingMapping(nest.loops, factors, dram_order, spm_order))
    assert (q.rf_passes, q.spm_passes) == (36, 2 * 32 * 16)
    assert q.spm_reuse == (36, 1, 1)
    assert q.dram_reuse == (16, 1, 1)


@pytest.mark.parametrize("innermost", [("C",), ("Fy", "Fx"), ("N", "M"), ("Oy", "C", "Ox")])
def test_orders_may_be_held_to_their_innermost_loops(innermost: tuple[str, ...]) -> None:
    nest = convolution()
    trip_counts = distinguishable(nest)
    orders = list(unique_orders(nest, innermost=innermost).values())
    assert all(order[-len(innermost) :] == innermost for order in orders)
    held = (order for order in itertools.permutations(nest.loops) if order[-len(innermost) :] == innermost)
    expected = {reuse_factors(nest, order, trip_counts) for order in held}
    found = [reuse_factors(nest, order, trip_counts) for order in orders]
    assert len(found) == len(set(found))
    assert set(found) == expected


@st.composite
def nests(draw: st.DrawFn) -> LoopNest:
    """Nests of up to five loops whose operands depend on any of them."""
    loops = tuple("abcde"[: draw(st.integers(1, 5))])
    operands = []
    for name in ("O", "A", "B", "C")[: draw(st.integers(1, 4))]:
        dependent = draw(st.sets(st.sampled_from(loops)))
        index = tuple(AffineIndex(((loop, 1),)) for loop in loops if loop in dependent)
        operands.append(Operand(name, index, "read_write" if name == "O" else "read", (4,) * len(index)))
    return LoopNest("any", tuple((loop, 4) for loop in loops), tuple(operands))


@settings(derandomize=True, deadline=None)
@given(nests())
def test_unique_orders_cover_exactly_the_reuse_of_all_permutations(nest: LoopNest) -> None:
    assert_covered_exactly(nest)


@settings(derandomize=True, deadline=None)
@given(nests(), st.data())
def test_they_do_so_for_any_loops_that_run(nest: LoopNest, data: st.DataObject) -> None:
    active = data.draw(st.sets(st.sampled_from(nest.loops)))
    assert_covered_exactly(nest, tuple(loop for loop in nest.loops if loop in active))
