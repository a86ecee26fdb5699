"""Every method for PBQP beside the others: values, proofs and bounds agree with trying everything."""

from __future__ import annotations

import math
import threading
import time

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.formulations.pbqp.problem import PbqpProblem, pbqp_problem
from mapper.solver.method import Effort
from mapper.solver.pbqp.catalogue import METHODS
from mapper.solver.pbqp.heuristic.refitting import refitted
from mapper.workloads.pbqp.instance import PbqpInstance, flat_instance, instance
from tests.solver.conformance import check_agreement, check_outcome
from tests.solver.pbqp.oracle import KIND, brute_force, instances

FAST = ("auto", "elimination", "branch-and-bound", "brute-force", "fixing", "descent")


def random_instance(vertices: int, edges: int, choices: int, seed: int, largest: int = 100) -> PbqpInstance:
    """A random graph with random integer costs."""
    generator = np.random.default_rng(seed)
    ends = np.array(list(nx.gnm_random_graph(vertices, edges, seed=seed).edges), np.int64).reshape(-1, 2)
    own = generator.integers(0, largest, vertices * choices)
    paid = generator.integers(0, largest, len(ends) * choices**2)
    return flat_instance(np.full(vertices, choices, np.int64), own, ends, paid)


def _agree(problem: PbqpProblem, names: tuple[str, ...]) -> None:
    outcomes = [(METHODS[name], METHODS[name].search(problem, Effort())) for name in names]
    for method, outcome in outcomes:
        check_outcome(problem, method, KIND, outcome)
    check_agreement(problem, KIND, outcomes)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(instances())
def test_compiled_methods_agree_with_each_other_on_any_instance(given_instance: PbqpInstance) -> None:
    _agree(PbqpProblem(given_instance), FAST)


@settings(derandomize=True, deadline=None, max_examples=25)
@given(instances())
def test_general_solvers_agree_with_them(given_instance: PbqpInstance) -> None:
    _agree(PbqpProblem(given_instance), ("auto", "ilp", "cp-sat"))


@settings(derandomize=True, deadline=None, max_examples=100)
@given(instances())
def test_trying_everything_gives_the_same_value(given_instance: PbqpInstance) -> None:
    best = brute_force(given_instance)
    for name in ("auto", "branch-and-bound", "brute-force"):
        outcome = METHODS[name].search(PbqpProblem(given_instance), Effort())
        assert outcome.proven and outcome.value == best


@pytest.mark.parametrize("seed", range(12))
def test_dense_instances_are_proven_by_branch_and_bound_and_by_elimination(seed: int) -> None:
    _agree(PbqpProblem(random_instance(9, 26, 3, seed)), ("elimination", "branch-and-bound", "brute-force"))


def test_an_instance_of_several_parts_is_solved_part_by_part() -> None:
    one = random_instance(6, 14, 3, 1)
    edges = [(*one.edge_end[e].tolist(), one.matrix(e).tolist()) for e in range(one.edges)]
    twice = [*edges, *((u + 6, v + 6, matrix) for u, v, matrix in edges)]
    own = [one.costs(v).tolist() for v in range(6)]
    both = instance([*own, *own, [5, 4]], twice)
    for name in ("elimination", "branch-and-bound"):
        single = METHODS[name].search(PbqpProblem(one), Effort())
        outcome = METHODS[name].search(PbqpProblem(both), Effort())
        assert outcome.proven and outcome.value == 2 * (single.value or 0) + 4


@pytest.mark.parametrize("name", ["auto", "elimination", "branch-and-bound", "brute-force"])
def test_costs_beyond_two_to_the_53_lose_no_digit(name: str) -> None:
    large = (1 << 54) + 1
    own = [[large, large + 1], [large + 1, large], [large, large], [3, large]]
    edges = [(u, v, [[0, 1], [1, 0]]) for u in range(4) for v in range(u)]
    outcome = METHODS[name].search(PbqpProblem(instance(own, edges)), Effort())
    assert outcome.proven and outcome.value == 3 * large + 4


@pytest.mark.parametrize("name", ["ilp", "cp-sat"])
def test_solvers_that_compare_in_floating_point_claim_nothing_of_such_costs(name: str) -> None:
    large = (1 << 54) + 1
    outcome = METHODS[name].search(PbqpProblem(instance([[large, large + 1]])), Effort())
    assert not outcome.proven and "floating point" in outcome.restrictions[0]


def test_floating_point_costs_are_solved_exactly_up_to_rounding() -> None:
    exact = random_instance(8, 20, 3, 3)
    halves = flat_instance(
        exact.choices, exact.vertex_cost / 2, exact.edge_end.copy(), exact.edge_cost / 2, "halves"
    )
    for name in FAST[:4]:
        outcome = METHODS[name].search(PbqpProblem(halves), Effort())
        assert (
            outcome.proven
            and outcome.value == (METHODS["auto"].search(PbqpProblem(exact), Effort()).value or 0) / 2
        )


@pytest.mark.parametrize("name", FAST)
def test_a_first_choice_of_infinite_cost_leaves_floating_point_numbers(name: str) -> None:
    outcome = METHODS[name].search(PbqpProblem(instance([[math.inf, 2.5, 0.5], [1.5]])), Effort())
    assert outcome.mapping is not None and outcome.value == 2.0


@pytest.mark.parametrize("name", ["auto", "elimination", "branch-and-bound", "ilp", "cp-sat", "brute-force"])
def test_an_instance_without_a_finite_assignment_is_proven_infeasible(name: str) -> None:
    different = [[math.inf, 0], [0, math.inf]]
    triangle = instance([[0, 0]] * 3, [(0, 1, different), (1, 2, different), (0, 2, different)])
    outcome = METHODS[name].search(PbqpProblem(triangle), Effort())
    assert outcome.proven and outcome.mapping is None and outcome.bound is None


@pytest.mark.parametrize("name", METHODS)
def test_a_vertex_of_infinite_choices_gives_no_assignment(name: str) -> None:
    outcome = METHODS[name].search(PbqpProblem(instance([[0], [math.inf, math.inf]])), Effort())
    assert outcome.mapping is None
    assert outcome.proven == METHODS[name].exact


@pytest.mark.parametrize("name", ["auto", "branch-and-bound", "cp-sat"])
def test_pinned_choices_are_kept_and_the_rest_is_proven(name: str) -> None:
    problem = pbqp_problem(random_instance(7, 15, 3, 5), {"2": "1", "4": 0})
    outcome = METHODS[name].search(problem, Effort())
    assert outcome.mapping is not None and outcome.mapping.choice[2] == 1 and outcome.mapping.choice[4] == 0
    assert outcome.proven and outcome.value == METHODS["brute-force"].search(problem, Effort()).value


@pytest.mark.parametrize("name", ["branch-and-bound", "fixing", "descent"])
def test_a_search_that_is_cut_keeps_what_it_has_and_claims_no_proof(name: str) -> None:
    problem = PbqpProblem(random_instance(60, 500, 4, 1))
    METHODS[name].prepare()
    outcome = METHODS[name].search(problem, Effort(deadline=time.monotonic() + 0.2))
    check_outcome(problem, METHODS[name], KIND, outcome)
    assert outcome.mapping is not None and not outcome.proven
    assert name != "branch-and-bound" or (outcome.stop == "time_limit" and outcome.bound is not None)


def test_an_interrupt_ends_the_search() -> None:
    interrupt = threading.Event()
    interrupt.set()
    problem = PbqpProblem(random_instance(60, 500, 4, 1))
    outcome = METHODS["branch-and-bound"].search(problem, Effort(interrupt=interrupt))
    assert outcome.stop == "interrupted" and not outcome.proven


def test_equal_seeds_give_equal_answers() -> None:
    problem = PbqpProblem(random_instance(40, 150, 3, 2))
    for name in ("branch-and-bound", "fixing", "descent"):
        one, other = (METHODS[name].search(problem, Effort(seed=3)) for _ in range(2))
        assert one.mapping == other.mapping


@settings(derandomize=True, deadline=None, max_examples=50)
@given(instances(most_vertices=8), st.integers(0, 5))
def test_choosing_anew_between_kept_vertices_never_costs_more(
    given_instance: PbqpInstance, seed: int
) -> None:
    start = METHODS["auto"].search(PbqpProblem(given_instance), Effort()).mapping
    if start is None:
        return
    generator = np.random.default_rng(seed)
    choice = generator.integers(0, given_instance.choices)
    value = given_instance.value(choice)
    if value is not None:
        after = given_instance.value(refitted(given_instance, choice, generator))
        assert after is not None and after <= value


def test_fixing_comes_near_the_optimum_of_a_large_instance_beyond_series_parallel() -> None:
    problem = PbqpProblem(random_instance(200, 320, 4, 7))
    exact = METHODS["auto"].search(problem, Effort())
    quick = METHODS["fixing"].search(problem, Effort())
    assert exact.proven and exact.value is not None and quick.value is not None
    assert quick.bound is not None and quick.bound <= exact.value <= quick.value <= 1.05 * exact.value
