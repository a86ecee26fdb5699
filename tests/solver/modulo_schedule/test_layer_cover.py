from __future__ import annotations

import math
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ortools.sat.python import cp_model

from mapper.arch.cgra import CgraMachine
from mapper.arch.source import load_machine
from mapper.formulations.modulo_schedule.network.bound import ideal_cycles
from mapper.formulations.modulo_schedule.network.problem import MOST_UNROLL, LayerProblem
from mapper.formulations.modulo_schedule.network.program.choice import LayerFormulation
from mapper.formulations.modulo_schedule.network.program.cover import BoxWeight, CoverSearch, Sizes
from mapper.models.modulo_schedule.network.estimate import Estimator
from mapper.models.modulo_schedule.network.nest import Access, Nest, tile_is_exact
from mapper.solver.method import Effort
from mapper.solver.modulo_schedule.network.heuristic.nest_tuning import SMALL_BODY, NestTuning
from mapper.solver.modulo_schedule.network.heuristic.tuning import exhaustive, unoptimised
from mapper.workloads.source import load_layers
from tests.codegen.modulo_schedule.small_layer import activation, convolution_layer, product_layer, window_of


def machine() -> CgraMachine:
    found = load_machine("srp-3x3")[0]
    assert isinstance(found, CgraMachine)
    return found


def product_nest(rows: int, columns: int, depth: int) -> Nest:
    return Nest(
        "gemm",
        (("i", rows), ("j", columns), ("k", depth)),
        "multiply_add",
        Access("c", (("i", columns), ("j", 1))),
        (Access("a", (("i", depth), ("k", 1))), Access("b", (("k", columns), ("j", 1)))),
    )


def least_by_hand(weight: BoxWeight, counts: Sizes) -> int:
    """Every vector of every box, with nothing remembered."""
    best = None
    for factors in product(*(range(1, min(MOST_UNROLL, count) + 1) for count in counts)):
        main = tuple(count - count % factor for count, factor in zip(counts, factors, strict=True))
        cycles = weight.least_cycles(main, factors)
        for axis, count in enumerate(counts):
            if count != main[axis]:
                cycles += least_by_hand(weight, (*main[:axis], count - main[axis], *counts[axis + 1 :]))
        best = cycles if best is None else min(best, cycles)
    assert best is not None
    return best


@settings(derandomize=True, deadline=None, max_examples=25)
@given(st.integers(1, 5), st.integers(1, 4), st.integers(1, 5), st.sampled_from(["i", "j", "k"]))
def test_the_best_cover_is_that_of_trying_every_vector_of_every_remainder(
    rows: int, columns: int, depth: int, innermost: str
) -> None:
    nest = product_nest(rows, columns, depth)
    weight = BoxWeight(nest, innermost, Estimator(machine()))
    search = CoverSearch(nest, innermost, weight.least_cycles)
    assert search.least() == least_by_hand(weight, (rows, columns, depth))


@settings(derandomize=True, deadline=None, max_examples=8)
@given(st.integers(1, 20), st.integers(1, 20), st.integers(1, 20), st.sampled_from(["i", "j", "k"]))
def test_what_is_ruled_out_by_its_main_box_is_none_of_the_best_covers(
    rows: int, columns: int, depth: int, innermost: str
) -> None:
    nest = product_nest(rows, columns, depth)
    weight = BoxWeight(nest, innermost, Estimator(machine()))
    everything = sorted(CoverSearch(nest, innermost, weight.least_cycles).weighed())
    found = CoverSearch(nest, innermost, weight.least_cycles, weight.each()).ranked(3)
    assert [(cover.cycles, cover.boxes[0].unroll) for cover in found] == everything[:3]


def test_boxes_that_take_little_get_small_bodies() -> None:
    nest = product_nest(48, 64, 496)
    tuning = NestTuning(nest, machine(), Estimator(machine()))
    weight = tuning.weight["j"]
    (large,), (small,) = tuning.candidates("j", 1), tuning.candidates("j", 1, 10**9)
    assert weight.body(large.boxes[0].unroll)[0].operations > SMALL_BODY
    assert weight.body(small.boxes[0].unroll)[0].operations <= SMALL_BODY
    assert large.cycles < small.cycles


@settings(derandomize=True, deadline=None, max_examples=15)
@given(st.integers(1, 24), st.integers(1, 24), st.integers(1, 24))
def test_the_boxes_of_a_cover_hold_every_iteration_once(rows: int, columns: int, depth: int) -> None:
    nest = product_nest(rows, columns, depth)
    weight = BoxWeight(nest, "j", Estimator(machine()))
    for cover in CoverSearch(nest, "j", weight.least_cycles).ranked(3):
        assert tile_is_exact(nest, cover.boxes)
        assert cover.cycles == sum(weight.least_cycles(box.count, box.unroll) for box in cover.boxes)


def test_sums_over_two_loops_unroll_the_outer_one_only_if_the_inner_one_is_whole() -> None:
    nest = Nest(
        "pool",
        (("c", 3), ("r", 5), ("q", 4)),
        "sum",
        Access("out", (("c", 1),)),
        (Access("in", (("c", 20), ("r", 4), ("q", 1))),),
    )
    weight = BoxWeight(nest, "c", Estimator(machine()))
    found = CoverSearch(nest, "c", weight.least_cycles).weighed()
    assert {factors[1] for _, factors in found if factors[2] < 4} == {1}
    assert {factors[2] for _, factors in found} == {1, 2, 4}


@pytest.mark.parametrize("name", [pytest.param("conv2", marks=pytest.mark.slow), "pool1", "gemm2"])
def test_the_program_that_explain_shows_has_the_bound_as_its_optimum(name: str) -> None:
    problem = LayerProblem(load_layers(f"lenet5/{name}").layers[0], machine())
    formulation = LayerFormulation(problem)
    solver = cp_model.CpSolver()
    assert solver.solve(formulation.model) == cp_model.OPTIMAL
    nests = [
        sum(
            min(
                math.inf if least is None else least
                for innermost in nest.innermost()
                for least in [
                    CoverSearch(
                        nest, innermost, BoxWeight(nest, innermost, Estimator(machine())).least_cycles
                    ).least()
                ]
            )
            for nest in choice.nests
        )
        + choice.copied_words * 4
        for choice in problem.space
    ]
    assert solver.objective_value == min(nests)


def test_what_tuning_finds_is_no_better_than_its_bound() -> None:
    problem = LayerProblem(product_layer(1, 6, 4), machine())
    outcome = exhaustive(problem, Effort())
    assert outcome.mapping is not None and outcome.value is not None and outcome.bound is not None
    assert ideal_cycles(problem) <= outcome.bound <= outcome.value < 3 * outcome.bound


def test_a_layer_has_an_answer_when_time_is_up_and_the_bound_by_argument() -> None:
    problem = LayerProblem(load_layers("lenet5/gemm2").layers[0], machine())
    outcome = exhaustive(problem, Effort(deadline=0.0))
    assert outcome.mapping is not None
    assert (outcome.stop, outcome.bound, outcome.proven) == ("time_limit", ideal_cycles(problem), False)
    assert {max(loop.box.unroll) for loop in outcome.mapping.loops} == {1}


def test_where_an_output_is_a_word_the_activation_is_called_as_in_the_baseline() -> None:
    problem = LayerProblem(convolution_layer((1, 1, 1, 1), 1, window_of(1), activation("Relu")), machine())
    tuned, plain = exhaustive(problem, Effort()), unoptimised(problem, Effort())
    assert tuned.bound is not None and tuned.value is not None and plain.value is not None
    assert tuned.bound <= tuned.value <= plain.value
    assert tuned.mapping is not None and tuned.mapping.algorithm in ("register-baseline", "baseline")
