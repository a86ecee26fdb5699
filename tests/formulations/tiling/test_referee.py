"""The referee of tiling: it names each broken rule with its place and size."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.arch.source import load_machine
from mapper.formulations.tiling.problem import Pins, TilingProblem
from mapper.formulations.tiling.referee.verify import verify
from mapper.formulations.verdict import BrokenRule
from mapper.models.tiling.mapping import TilingMapping
from mapper.workloads.nest.layer_nest import convolution_nest, matrix_product_nest, square_convolution
from mapper.workloads.nest.loop_nest import AffineIndex, LoopNest, Operand

MACHINE, _ = load_machine("dmazerunner-256")
PRODUCT = matrix_product_nest("product", (), 64, 64, 64)
ROOMY = {"I": (4, 4, 2, 2), "J": (4, 4, 2, 2), "K": (4, 8, 2, 1)}


def in_nest_order(nest: LoopNest, *factors: tuple[int, int, int, int]) -> TilingMapping:
    return TilingMapping(nest.loops, factors, nest.loops, nest.loops)


def product_problem(**fixed: str) -> TilingProblem:
    """A product of 64x64 matrices; a dot in a pinned key is written as two underscores."""
    pins = {key.replace("__", "."): value for key, value in fixed.items()}
    return TilingProblem(PRODUCT, MACHINE, "edp", Pins.parse(pins, PRODUCT))


def product_mapping(**factors: tuple[int, int, int, int]) -> TilingMapping:
    chosen = ROOMY | factors
    return TilingMapping(
        PRODUCT.loops, tuple(chosen[loop] for loop in PRODUCT.loops), PRODUCT.loops, PRODUCT.loops
    )


def recurrence(distance: tuple[int, int], rows: int = 8, columns: int = 8) -> TilingProblem:
    """``A[i][j] = f(A[i - distance], B[j])``."""
    index = (AffineIndex((("i", 1),)), AffineIndex((("j", 1),)))
    operands = (
        Operand("A", index, "write", (rows, columns)),
        Operand("B", index[1:], "read", (columns,)),
    )
    nest = LoopNest("recurrence", (("i", rows), ("j", columns)), operands, "add", (distance,))
    return TilingProblem(nest, MACHINE, "edp")


def broken(problem: TilingProblem, mapping: TilingMapping) -> tuple[BrokenRule, ...]:
    return verify(problem, mapping).broken


def test_a_mapping_that_keeps_every_rule_has_a_cost_and_breaks_nothing() -> None:
    verdict = verify(product_problem(), product_mapping())
    assert verdict.valid and verdict.broken == ()
    assert verdict.cost is not None and verdict.cost.cycles > 0


def test_factors_that_do_not_multiply_to_the_bound_have_no_cost() -> None:
    verdict = verify(product_problem(), product_mapping(K=(4, 8, 2, 2)))
    assert verdict.broken == (BrokenRule("factors multiply to the bound", "K", 64),)
    assert verdict.cost is None


def test_factors_that_fall_short_have_a_negative_size() -> None:
    assert broken(product_problem(), product_mapping(K=(4, 4, 2, 1)))[0].size == -32


def test_too_many_pes_are_named_and_still_costed() -> None:
    verdict = verify(product_problem(), product_mapping(I=(1, 1, 2, 32), J=(1, 1, 2, 32), K=(32, 1, 2, 1)))
    assert verdict.broken == (BrokenRule("PEs", "PE array", 1024 - 256),)
    assert verdict.cost is not None


def test_too_many_words_in_the_register_file_are_named() -> None:
    found = broken(product_problem(), product_mapping(I=(4, 1, 16, 1), J=(4, 1, 16, 1)))
    assert found == (BrokenRule("register file words", "register file", 16 * 16 + 2 * 32 - 256),)


def test_banks_are_counted_whole_for_each_operand() -> None:
    small = MACHINE.model_copy(update={"spm": MACHINE.spm.model_copy(update={"bytes": 8 * 2048})})
    problem = TilingProblem(PRODUCT, small, "edp")
    mapping = product_mapping(I=(2, 4, 4, 2), J=(2, 4, 4, 2), K=(1, 64, 1, 1))
    # 32*32, 32*64 and 64*32 words of 2 bytes: 1, 2 and 2 banks of 2048 bytes, where 4 are visible.
    assert broken(problem, mapping) == (BrokenRule("scratch-pad banks", "scratch-pad", 1),)


def test_a_mapping_that_needs_too_many_banks_is_still_costed() -> None:
    nest = convolution_nest("conv5_2", square_convolution(4, 512, 512, 7, 3, 1, 7, 1))
    whole = {"N": (4, 1, 1, 1), "M": (1, 32, 1, 16), "C": (8, 64, 1, 1)}
    rows = tuple(whole.get(loop, (1, bound, 1, 1)) for loop, bound in nest.bounds)
    verdict = verify(
        TilingProblem(nest, MACHINE, "edp"), TilingMapping(nest.loops, rows, nest.loops, nest.loops)
    )
    assert [rule.rule for rule in verdict.broken] == ["scratch-pad banks"]
    assert verdict.cost is not None


def test_footprints_cover_strides_and_overlaps() -> None:
    nest = convolution_nest("strided", square_convolution(1, 1, 1, 7, 3, 2, 14, 1))
    rows = [(1, 1, bound, 1) for _, bound in nest.bounds]
    machine = MACHINE.model_copy(update={"rf": MACHINE.rf.model_copy(update={"bytes": 64})})
    found = broken(TilingProblem(nest, machine, "edp"), in_nest_order(nest, *rows))
    assert found == (BrokenRule("register file words", "register file", 49 + 15 * 15 + 9 - 32),)


def test_a_loop_that_carries_a_dependence_stays_out_of_space() -> None:
    problem = recurrence((1, 0))
    mapping = TilingMapping(("i", "j"), ((2, 1, 1, 4), (1, 1, 1, 8)), ("i", "j"), ("i", "j"))
    assert broken(problem, mapping) == (BrokenRule("sequential loop in space", "i", 3),)


def test_an_order_that_runs_a_dependence_backwards_is_named() -> None:
    problem = recurrence((1, -1))
    rows = ((8, 1, 1, 1), (8, 1, 1, 1))
    assert broken(problem, TilingMapping(("i", "j"), rows, ("i", "j"), ("i", "j"))) == ()
    wrong = TilingMapping(("i", "j"), rows, ("j", "i"), ("i", "j"))
    assert broken(problem, wrong) == (BrokenRule("dependence order", "(1, -1) at dram in j", 1),)


def test_tiles_of_a_skewed_dependence_may_not_be_cut() -> None:
    problem = recurrence((1, -1))
    cut = TilingMapping(("i", "j"), ((4, 1, 2, 1), (1, 4, 2, 1)), ("i", "j"), ("i", "j"))
    assert broken(problem, cut) == (BrokenRule("dependence order", "(1, -1) at spm in j", 1),)


def test_a_dependence_longer_than_the_nest_binds_nothing() -> None:
    mapping = TilingMapping(("i", "j"), ((8, 1, 1, 1), (8, 1, 1, 1)), ("j", "i"), ("j", "i"))
    assert broken(recurrence((8, -1)), mapping) == ()


@pytest.mark.parametrize(
    "pinned, place, size",
    [
        ({"K__rf": "4"}, "K.rf", 2),
        ({"spatial": "I"}, "spatial", 1),
        ({"spatial": "K,*"}, "spatial", 1),
        ({"spatial": "K"}, "spatial", 3),
        ({"order__dram": "J"}, "order.dram", 1),
        ({"order__spm": "K,J,I"}, "order.spm", 2),
    ],
)
def test_a_pinned_decision_that_is_not_kept_is_named(pinned: dict[str, str], place: str, size: int) -> None:
    verdict = verify(product_problem(**pinned), product_mapping())
    assert verdict.broken == (BrokenRule("pinned decision", place, size),)
    assert verdict.cost is not None


def test_pins_that_are_kept_break_nothing() -> None:
    pinned = {"K__rf": "2", "spatial": "I,*", "order__dram": "J,K", "order__spm": "K"}
    assert broken(product_problem(**pinned), product_mapping()) == ()


def test_every_broken_rule_is_named_at_once() -> None:
    problem = replace(recurrence((1, 0), 512, 512), pins=Pins(factors=(("j", "rf", 1),)))
    mapping = TilingMapping(("i", "j"), ((1, 1, 1, 512), (1, 1, 512, 1)), ("i", "j"), ("i", "j"))
    assert [rule.rule for rule in broken(problem, mapping)] == [
        "PEs",
        "register file words",
        "scratch-pad banks",
        "sequential loop in space",
        "pinned decision",
    ]


factorisations = {
    bound: [(a, b, c) for a, b, c in product(range(1, bound + 1), repeat=3) if a * b * c == bound]
    for bound in (1, 2, 3, 4, 6)
}
orders = st.permutations(["i", "j"]).map(tuple)


@settings(derandomize=True, deadline=None, max_examples=200)
@given(data=st.data(), sizes=st.tuples(*[st.sampled_from(sorted(factorisations))] * 2))
def test_an_order_is_illegal_exactly_if_two_dependent_iterations_swap(
    data: st.DataObject, sizes: tuple[int, int]
) -> None:
    distance = data.draw(
        st.tuples(st.integers(0, 3), st.integers(-3, 3)).filter(lambda d: d > (0, 0)), label="distance"
    )
    first, second = (data.draw(st.sampled_from(factorisations[size])) for size in sizes)
    dram, spm = data.draw(orders), data.draw(orders)
    mapping = TilingMapping(("i", "j"), ((*first, 1), (*second, 1)), dram, spm)

    def time(point: tuple[int, int]) -> tuple[int, ...]:
        digits = {}
        for loop, index, (_, inner, rf) in zip("ij", point, (first, second), strict=True):
            digits[loop] = (index // (rf * inner), index // rf % inner, index % rf)
        levels = (dram, spm, ("i", "j"))
        return tuple(digits[loop][level] for level, order in enumerate(levels) for loop in order)

    swapped = any(
        time((i + distance[0], j + distance[1])) < time((i, j))
        for i in range(sizes[0] - distance[0])
        for j in range(max(0, -distance[1]), sizes[1] - max(0, distance[1]))
    )
    rules = {rule.rule for rule in broken(recurrence(distance, *sizes), mapping)}
    assert ("dependence order" in rules) == swapped
