"""Annealing, genetic and random search: reproducible, within their budget, honest about what they know."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

from mapper.arch.source import load_machine
from mapper.formulations.tiling.problem import TilingProblem
from mapper.formulations.tiling.referee.verify import verify
from mapper.models.tiling.cost import evaluate, fits
from mapper.models.tiling.mapping import TilingMapping
from mapper.solver.method import Effort, Method, Progress
from mapper.solver.tiling.exact.brute_force import brute_force
from mapper.solver.tiling.heuristic import batch, legality
from mapper.solver.tiling.heuristic.annealing import annealing
from mapper.solver.tiling.heuristic.genetic import genetic
from mapper.solver.tiling.heuristic.random_search import random_search
from mapper.solver.tiling.heuristic.sampling import Space, space_of
from mapper.workloads.nest.layer_nest import convolution_nest, square_convolution
from mapper.workloads.nest.loop_nest import LoopNest
from tests.solver.tiling.small import matrix_product, problem, recurrence, small_machine

Heuristic = Callable[[int], Method[TilingProblem, TilingMapping]]

every_heuristic = pytest.mark.parametrize("heuristic", [annealing, genetic, random_search])


def conv5_2() -> LoopNest:
    return convolution_nest("conv5_2", square_convolution(4, 512, 512, 7, 3, 1, 7, 1))


def space(posed: TilingProblem) -> Space:
    found = space_of(posed)
    assert found is not None
    return found


@every_heuristic
def test_a_budget_bounds_the_evaluations(heuristic: Heuristic) -> None:
    outcome = heuristic(1000).search(problem(matrix_product(4, 4, 4)), Effort())
    assert outcome.evaluations is not None and 0 < outcome.evaluations <= 1000
    assert (outcome.stop, outcome.proven) == ("heuristic", False)


@every_heuristic
def test_another_seed_searches_elsewhere(heuristic: Heuristic) -> None:
    posed = problem(conv5_2(), load_machine("dmazerunner-256")[0])
    values = {heuristic(500).search(posed, Effort(seed=seed)).value for seed in range(4)}
    assert len(values) > 1


@every_heuristic
def test_a_deadline_cuts_the_search_and_is_named(heuristic: Heuristic) -> None:
    outcome = heuristic(10**9).search(problem(matrix_product()), Effort(deadline=time.monotonic() + 0.05))
    assert outcome.stop == "time_limit"
    assert outcome.mapping is not None


@every_heuristic
def test_an_interrupt_is_named(heuristic: Heuristic) -> None:
    interrupt = threading.Event()
    interrupt.set()
    assert (
        heuristic(10**9).search(problem(matrix_product()), Effort(interrupt=interrupt)).stop == "interrupted"
    )


@every_heuristic
def test_finding_nothing_is_no_proof(heuristic: Heuristic) -> None:
    outcome = heuristic(500).search(problem(matrix_product(), small_machine(rf_bytes=4)), Effort())
    assert outcome.mapping is None
    assert not outcome.proven


@every_heuristic
def test_pins_are_kept(heuristic: Heuristic) -> None:
    posed = problem(matrix_product(4, 4, 6), spatial="I,*", K__spm="2", J__rf="1", order__dram="K,J")
    mapping = heuristic(2000).search(posed, Effort()).mapping
    assert mapping is not None
    assert verify(posed, mapping).valid
    assert mapping.trip_counts("spatial")["I"] > 1
    assert mapping.trip_counts("spm")["K"] == 2
    assert mapping.dram_order[-2:] == ("K", "J")


@every_heuristic
def test_small_problems_are_solved_to_the_optimum(heuristic: Heuristic) -> None:
    posed = problem(matrix_product())
    assert heuristic(20_000).search(posed, Effort()).value == brute_force(posed, Effort()).value


def test_annealing_finds_the_published_optimum_of_conv5_2() -> None:
    posed = problem(conv5_2(), load_machine("dmazerunner-256")[0])
    assert annealing(100_000).search(posed, Effort()).value == 6844957271165824


def test_progress_reports_improvements_only() -> None:
    heard: list[Progress] = []
    posed = problem(matrix_product(4, 4, 4))
    outcome = annealing(5000).search(posed, Effort(report=heard.append))
    values = [progress.value for progress in heard if progress.value is not None]
    assert values == sorted(values, reverse=True)
    assert values[-1] == outcome.value


@pytest.mark.parametrize("rules", ["doubled", "first_visit_free"])
@pytest.mark.parametrize("double_buffered", [True, False])
@pytest.mark.parametrize("filling", ["tiles", "streams"])
def test_batches_cost_what_the_model_costs(rules: str, double_buffered: bool, filling: str) -> None:
    machine = small_machine(
        16,
        16,
        512,
        rules={"partial_sums": rules, "filling": filling},
        rf={"double_buffered": double_buffered},
        energy_pj={"rf": 1.0},
    )
    posed = problem(conv5_2(), machine)
    drawn = space(posed).draw(np.random.default_rng(1), 60)
    factors = space(posed).factors(drawn)
    costs = space(posed).costs(drawn, factors)
    fitting = batch.fits(posed.nest, machine, factors)
    for row in range(60):
        mapping = space(posed).mapping(drawn, row)
        cost = evaluate(posed.nest, machine, mapping)
        assert (costs.energy[row], costs.cycles[row]) == (cost.energy_pj, cost.cycles)
        assert fitting[row] == fits(posed.nest, machine, mapping)


def test_drawn_factors_multiply_to_the_bounds() -> None:
    posed = problem(conv5_2(), load_machine("dmazerunner-256")[0])
    drawn = space(posed).draw(np.random.default_rng(0), 100)
    products = space(posed).factors(drawn).prod(axis=2)
    assert (products == np.array([bound for _, bound in posed.nest.bounds])).all()


def test_repair_makes_tight_draws_valid() -> None:
    posed = problem(conv5_2(), small_machine(rf_bytes=8))
    drawn = space(posed).draw(np.random.default_rng(0), 50)
    assert not space(posed).valid(drawn, space(posed).factors(drawn)).all()
    repaired, valid = space(posed).draw_valid(np.random.default_rng(0), 50)
    assert valid.all()
    assert all(verify(posed, space(posed).mapping(repaired, row)).valid for row in range(50))


@pytest.mark.parametrize("distance", [{"i": 1}, {"i": 1, "j": 1}, {"i": 1, "j": -1}, {"i": 2, "j": -3}])
def test_legality_in_batches_is_the_referees(distance: dict[str, int]) -> None:
    posed = problem(recurrence(6, 4, **distance), small_machine(rf_bytes=256))
    drawn = space(posed).draw(np.random.default_rng(3), 200)
    legal = legality.legal(posed.nest, space(posed).factors(drawn), *space(posed).loop_orders(drawn))
    for row in range(200):
        broken = verify(posed, space(posed).mapping(drawn, row)).broken
        assert legal[row] == all(rule.rule != "dependence order" for rule in broken)
