"""What bounds and proofs of PBQP hold to: costs below zero, costs as large as may be, cuts, and floating point."""

from __future__ import annotations

import itertools
import threading
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.solver.cbc import CbcResult, run_cbc
from mapper.solver.method import Effort, Progress
from mapper.solver.pbqp.catalogue import METHODS
from mapper.solver.pbqp.exact.bound import bounded
from mapper.solver.pbqp.exact.branch_and_bound import branch_and_bound
from mapper.solver.pbqp.exact.floating import UNDECIDED, lowered
from mapper.solver.pbqp.exact.program import UNCONFIRMED
from mapper.solver.pbqp.reduction.elimination import Eliminated, reduced
from mapper.workloads.document import InputError
from mapper.workloads.pbqp.file import read_pbqp
from mapper.workloads.pbqp.instance import LARGEST_TOTAL, PbqpInstance, flat_instance, instance
from tests.solver.conformance import check_outcome
from tests.solver.pbqp.oracle import KIND, brute_force
from tests.solver.pbqp.random_pbqp import FAMILIES, Family, drawn_instance
from tests.solver.sample import drawn

SMALL = (
    "4 6 2 -19 -19 2 0 0 2 -18 -12 2 -15 -9 1 2 2 2 0 0 -19 -19 0 2 2 2 -12 0 0 -14 3 1 2 2 0 -17 -19 0 "
    "1 0 2 2 0 -16 -17 -11 0 3 2 2 0 -15 -20 0 3 2 2 2 0 -12 -19 0"
)
WHOLE = [family for family in FAMILIES if family.exact]
FLOATING = [family for family in FAMILIES if not family.exact]
SEEDS = st.integers(0, (1 << 24) - 1)


def _complete(vertices: int, choices: int, largest: int, seed: int) -> PbqpInstance:
    """Every vertex is joined to every other; costs lie evenly between -largest and largest."""
    draw = np.random.default_rng(seed)
    ends = np.array(list(itertools.combinations(range(vertices), 2)), np.int64)
    own = draw.integers(-largest, largest + 1, vertices * choices)
    paid = draw.integers(-largest, largest + 1, len(ends) * choices**2)
    return flat_instance(np.full(vertices, choices, np.int64), own, ends, paid)


def _best_of_descents(problem: PbqpInstance, starts: int) -> int:
    """The least value that single changes of choices reach from random ones; shares nothing with the solvers."""
    draw, vertices = np.random.default_rng(0), problem.vertices
    matrix = {}
    for edge, (u, v) in enumerate(problem.edge_end.tolist()):
        matrix[u, v], matrix[v, u] = problem.matrix(edge), problem.matrix(edge).T
    best = LARGEST_TOTAL
    for _ in range(starts):
        choice = draw.integers(0, problem.choices)
        while True:
            before = choice.copy()
            for u in range(vertices):
                near = (matrix[u, v][:, choice[v]] for v in range(vertices) if v != u)
                choice[u] = int(np.argmin(problem.costs(u) + sum(near)))
            if np.array_equal(before, choice):
                break
        best = min(best, int(problem.value(choice) or 0))
    return best


def test_an_instance_whose_core_costs_less_than_nothing_is_searched_to_its_end(tmp_path: Path) -> None:
    file = tmp_path / "small.in"
    file.write_text(SMALL)
    problem = PbqpProblem(read_pbqp(file)[0])
    for name in ("auto", "elimination", "branch-and-bound", "brute-force"):
        outcome = METHODS[name].search(problem, Effort())
        assert (outcome.value, outcome.proven) == (-139, True), name


@pytest.mark.parametrize("seed", range(4))
def test_branch_and_bound_proves_what_elimination_proves_where_costs_lie_on_both_sides_of_zero(
    seed: int,
) -> None:
    problem = PbqpProblem(_complete(9, 4, 10, seed))
    one, other = (METHODS[name].search(problem, Effort()) for name in ("branch-and-bound", "elimination"))
    assert one.proven and other.proven and one.value == other.value
    assert (one.evaluations or 0) > 1, "the root alone decides"


@pytest.mark.parametrize("seed", range(3))
def test_no_descent_beats_what_is_claimed_of_a_large_instance(seed: int) -> None:
    given_instance = _complete(22, 6, 10, seed)
    descended = _best_of_descents(given_instance, 40)
    METHODS["branch-and-bound"].prepare()
    claims: list[Progress] = []
    effort = Effort(deadline=time.monotonic() + 1.5, report=claims.append)
    outcome = METHODS["branch-and-bound"].search(PbqpProblem(given_instance), effort)
    quick = METHODS["fixing"].search(PbqpProblem(given_instance), Effort())
    for bound in (outcome.bound, quick.bound, *(claim.bound for claim in claims)):
        assert bound is not None and bound <= descended
    assert outcome.value is not None and (not outcome.proven or outcome.value <= descended)


@drawn(150)
@given(SEEDS, st.sampled_from(WHOLE), st.sampled_from([1, 8, 60]))
def test_moved_costs_of_every_assignment_are_those_given_less_the_bound(
    seed: int, family: Family, passes: int
) -> None:
    draw = np.random.default_rng(seed)
    whole = drawn_instance(draw, "dense", family, float(draw.choice([0.0, 0.1, 0.4])))
    core = reduced(whole, Effort())
    assert isinstance(core, Eliminated)
    if core.core is None or core.infeasible:
        return
    problem, best = core.core, brute_force(core.core)
    found = bounded(problem, passes)
    if found.bound == problem.infinity:
        assert best is None
        return
    assert best is None or found.bound <= best
    assert (found.moved.vertex_cost >= 0).all() and (found.moved.edge_cost >= 0).all()
    for choice in draw.integers(0, problem.choices, (60, problem.vertices)):
        value, moved = problem.value(choice), found.moved.value(choice)
        if value is not None:
            assert moved is not None and found.bound + moved == value
            least = found.least[problem.vertex_offset[:-1] + choice]
            assert (least <= moved).all()
        else:
            assert moved is None


def test_costs_that_nothing_finite_holds_grow_without_leaving_64_bits() -> None:
    # Three choices of four, each other than its neighbours', at costs that double with every pass.
    largest, infinite = LARGEST_TOTAL // 10, float("inf")
    different = [[infinite if i == j else largest for j in range(3)] for i in range(3)]
    clique = instance([[largest] * 3] * 4, [(u, v, different) for u in range(4) for v in range(u)])
    found = bounded(clique, 5000)
    assert found.bound == clique.infinity or 0 <= found.bound < clique.infinity
    assert found.bound == clique.infinity or (found.moved.edge_cost >= 0).all()
    for name in ("auto", "branch-and-bound", "elimination"):
        outcome = METHODS[name].search(PbqpProblem(clique), Effort())
        assert outcome.proven and outcome.mapping is None, name


def test_an_instance_may_cost_the_largest_total_and_not_one_more() -> None:
    assert instance([[LARGEST_TOTAL - 3, 5]], [(0, 0, [[3, 0], [0, -2]])]).value([0]) == LARGEST_TOTAL
    with pytest.raises(InputError, match="scale the costs"):
        instance([[LARGEST_TOTAL - 3, 5]], [(0, 0, [[4, 0], [0, -2]])])


@pytest.mark.parametrize("name", ["auto", "elimination", "branch-and-bound", "fixing"])
def test_a_search_without_time_bounds_what_others_prove(name: str) -> None:
    for seed in range(6):
        one, other = _complete(6, 3, 9, seed), _complete(7, 2, 9, seed)
        edges = [
            (u + shift, v + shift, part.matrix(edge).tolist())
            for shift, part in ((0, one), (6, other))
            for edge, (u, v) in enumerate(part.edge_end.tolist())
        ]
        own = [part.costs(at).tolist() for part in (one, other) for at in range(part.vertices)]
        problem = PbqpProblem(instance(own, edges))
        outcome = METHODS[name].search(problem, Effort(deadline=0.0))
        check_outcome(problem, METHODS[name], KIND, outcome)
        assert outcome.stop == "time_limit" and not outcome.proven
        assert outcome.value is not None and outcome.bound is not None
        proven = METHODS["auto"].search(problem, Effort())
        assert proven.proven and proven.value is not None
        assert outcome.bound <= proven.value <= outcome.value


def test_a_search_that_is_interrupted_bounds_no_more_than_what_it_has() -> None:
    # Its bound is added to those of other parts, so that it may not lie above the best of its own.
    cut = 0
    for seed in range(40):
        interrupt = threading.Event()
        progress: list[Progress] = []

        def stop(one: Progress, interrupt: threading.Event = interrupt, heard: Any = progress) -> None:
            heard.append(one)
            interrupt.set()

        problem = _complete(7, 3, 9, seed)
        found = branch_and_bound(problem, None, Effort(interrupt=interrupt, report=stop), stop)
        cut += found.stop == "interrupted"
        best = METHODS["elimination"].search(PbqpProblem(problem), Effort()).value
        assert best is not None
        assert all(one.bound is not None and one.bound <= best for one in progress)
        assert found.bound <= best
    assert cut > 5, "hardly any search was cut"


@drawn(100)
@given(SEEDS, st.sampled_from(FLOATING))
def test_lowered_costs_are_below_the_given_ones_by_less_than_two_units_each(
    seed: int, family: Family
) -> None:
    draw = np.random.default_rng(seed)
    given_instance = drawn_instance(draw, "wheel", family, float(draw.choice([0.0, 0.3])))
    places = given_instance.vertices + given_instance.edges
    reference = draw.integers(0, given_instance.choices)
    lower = lowered(given_instance, reference)
    unit = Fraction(2) ** -lower.shift
    base = sum(map(Fraction, lower.paid.tolist()))
    for choice in draw.integers(0, given_instance.choices, (20, given_instance.vertices)):
        value, low = _exact(given_instance, choice), lower.instance.value(choice)
        assert (value is None) == (low is None)
        if value is not None and low is not None:
            assert 0 <= value - (base + int(low) * unit) < 2 * places * unit
    at_reference = lower.instance.value(reference)
    assert at_reference is None or at_reference == 0


def _exact(problem: PbqpInstance, choice: np.ndarray) -> Fraction | None:
    """The cost as a fraction; None if it is infinite."""
    u, v = problem.edge_end[:, 0], problem.edge_end[:, 1]
    own = problem.vertex_cost[problem.vertex_offset[:-1] + choice]
    paid = problem.edge_cost[problem.edge_offset[:-1] + choice[u] * problem.choices[v] + choice[v]]
    if np.isinf(own).any() or np.isinf(paid).any():
        return None
    return sum(map(Fraction, [*own.tolist(), *paid.tolist()]), Fraction(0))


@pytest.mark.parametrize("name", ["auto", "elimination", "branch-and-bound", "brute-force"])
def test_nothing_is_proven_where_rounding_could_decide(name: str) -> None:
    # A unit that holds 1e299 in 57 bits tells 0.5 - 0.25 from nothing only by where it is rounded.
    near = instance([[0.0, 0.5], [0.0], [0.0, 1e299]], [(0, 1, [[0.0], [-0.25]])])
    outcome = METHODS[name].search(PbqpProblem(near), Effort())
    assert outcome.value == 0 and not outcome.proven and outcome.restrictions == (UNDECIDED,)
    assert outcome.bound is not None and outcome.bound < 0
    check_outcome(PbqpProblem(near), METHODS[name], KIND, outcome)


@pytest.mark.parametrize("name", ["auto", "elimination", "branch-and-bound", "brute-force"])
def test_costs_that_cancel_in_floating_point_are_told_apart_and_proven(name: str) -> None:
    large = instance([[1e299], [0.5, 0.25]], [(0, 1, [[-1e299, -1e299]])])
    outcome = METHODS[name].search(PbqpProblem(large), Effort())
    assert outcome.proven and outcome.value == 0.25


def test_a_descent_ends_where_rounding_makes_two_vertices_chase_each_other() -> None:
    # To the first vertex 2^53 + 1 - 2^53 is 0 and 2^53 + 2 + 1 - (2^53 + 2) is 2; to the second -1 and -2.
    near, far = 2.0**53, 2.0**53 + 2
    matrix = np.array([near, far, far, near])
    chase = flat_instance(
        np.array([2, 2]),
        np.array([1.0, 1.0, -1.0, -1.0]),
        np.array([[0, 1], [0, 1]]),
        np.concatenate([matrix, -matrix]),
    )
    for name in ("descent", "fixing", "auto"):
        assert METHODS[name].search(PbqpProblem(chase), Effort()).value == 0


@pytest.mark.parametrize("lie", ["a dearer assignment is optimal", "there is none"])
def test_what_cbc_says_is_proven_only_where_integers_confirm_it(
    lie: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = PbqpProblem(instance([[3, 1], [2, 2]], [(0, 1, [[0, 5], [4, 6]])]))
    honest = METHODS["ilp"].search(problem, Effort())
    assert honest.proven and honest.value == 5

    def lying(model: object, effort: Effort) -> CbcResult:
        told = run_cbc(model, effort)
        if lie == "there is none":
            return replace(told, answer="infeasible")
        return replace(told, value_of=lambda variable: int(variable.name in ("x_0_1", "x_1_1")))

    monkeypatch.setattr("mapper.solver.cbc.run_cbc", lying)
    outcome = METHODS["ilp"].search(problem, Effort())
    assert not outcome.proven and outcome.restrictions == (UNCONFIRMED,)
    assert outcome.bound is not None and outcome.bound <= 5
    check_outcome(problem, METHODS["ilp"], KIND, outcome)
