"""Bounds by decomposition hold and close gaps that moved costs leave; splitting costs loses nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.pbqp.random_instance import cells, dense_blocks, grid
from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.solver.method import Effort, Progress
from mapper.solver.pbqp.catalogue import METHODS
from mapper.solver.pbqp.exact import decomposition, reduce_and_search
from mapper.solver.pbqp.exact.bound import bounded
from mapper.solver.pbqp.exact.decomposition import decomposed
from mapper.solver.pbqp.exact.spanning import spanning_subgraphs, subgraph
from mapper.solver.pbqp.heuristic.fixing import fixing
from mapper.solver.pbqp.heuristic.fusing import fused
from mapper.solver.pbqp.reduction.elimination import Eliminated, reduced
from mapper.solver.pbqp.reduction.elimination_plan import size
from mapper.workloads.pbqp.instance import PbqpInstance
from tests.solver.pbqp.oracle import brute_force
from tests.solver.pbqp.random_pbqp import FAMILIES, Family, drawn_instance
from tests.solver.sample import drawn

SEEDS = st.integers(0, (1 << 24) - 1)
WHOLE = [family for family in FAMILIES if family.exact]


def _silent(progress: Progress) -> None:
    """Nobody listens."""


def _core(seed: int, family: Family) -> PbqpInstance | None:
    """What reductions leave of a dense random instance, some with infinite costs."""
    draw = np.random.default_rng(seed)
    whole = drawn_instance(draw, "dense", family, float(draw.choice([0.0, 0.1, 0.4])))
    core = reduced(whole, Effort())
    assert isinstance(core, Eliminated)
    return None if core.infeasible else core.core


@drawn(60)
@given(SEEDS, st.sampled_from(WHOLE), st.sampled_from([1.0, 200.0]))
def test_no_assignment_costs_less_than_the_bound(seed: int, family: Family, entries: float) -> None:
    core = _core(seed, family)
    if core is None:
        return
    best = brute_force(core)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decomposition, "ENTRIES", entries)
        patch.setattr(decomposition, "MOST_ROUNDS", 40)
        found = decomposed(core, None, Effort(), _silent)
    if best is None:
        assert found.choice is None
        return
    assert found.bound <= best
    if found.choice is not None:
        value = core.value(found.choice)
        assert value is not None and value >= best


@drawn(30)
@given(SEEDS, st.sampled_from(WHOLE))
def test_costs_of_the_parts_add_up_to_those_that_were_split(seed: int, family: Family) -> None:
    core = _core(seed, family)
    if core is None:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decomposition, "ENTRIES", 1.0)
        found = decomposed(core, None, Effort(), _silent)
    if not found.parts:
        return
    moved = found.moved
    finite = moved.vertex_cost < moved.infinity
    together = np.sum([part.own for part in found.parts], axis=0)
    assert np.array_equal(together[finite], found.unit * moved.vertex_cost[finite])
    left = np.where(moved.edge_cost < moved.infinity, found.unit * moved.edge_cost, 0)
    held = np.zeros(moved.edges, np.bool_)
    for part in found.parts:
        rows = np.repeat(part.inside, np.diff(moved.edge_offset))
        left[rows] -= np.where(part.paid < moved.infinity, part.paid, 0)
        held |= part.inside
    assert not left[np.repeat(held, np.diff(moved.edge_offset))].any()
    assert (left >= 0).all(), "what no part holds would cost less than nothing"


@pytest.mark.parametrize("seed", range(3))
def test_a_decomposition_closes_most_of_the_gap_that_moved_costs_leave(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = dense_blocks(1, 11, 0, 3, seed)
    monkeypatch.setattr(decomposition, "ENTRIES", 11.0 * 3**6)
    exact = METHODS["elimination"].search(PbqpProblem(problem), Effort())
    assert exact.proven and exact.value is not None
    known = fixing(problem, Effort()).choice
    found = decomposed(problem, known, Effort(), _silent)
    before = exact.value - bounded(problem, 200).bound
    assert before > 0 and 0 <= exact.value - found.bound <= before / 4
    assert found.choice is not None and known is not None
    assert exact.value <= problem.value(found.choice) <= problem.value(known)  # type: ignore[operator]


@drawn(40)
@given(SEEDS, st.sampled_from(WHOLE))
def test_what_is_decomposed_and_then_searched_has_the_least_cost(seed: int, family: Family) -> None:
    core = _core(seed, family)
    if core is None:
        return
    best = brute_force(core)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reduce_and_search, "MOST_WORK", 0.0)
        patch.setattr(reduce_and_search, "LEAST_NODES", 1)
        patch.setattr(reduce_and_search, "WORK_OF_NODES", 0.0)
        patch.setattr(decomposition, "ENTRIES", 1.0)
        found = METHODS["auto"].search(PbqpProblem(core), Effort())
    assert found.proven and found.value == best


def test_an_instance_of_large_costs_is_searched_without_parts() -> None:
    draw = np.random.default_rng(3)
    large = drawn_instance(draw, "dense", next(one for one in WHOLE if one.name == "huge"), 0.0)
    found = decomposed(large, None, Effort(), _silent)
    assert found.parts == () and found.bound <= (brute_force(large) or 0)


def test_subgraphs_hold_every_edge_of_a_grid_in_small_tables() -> None:
    problem = grid(12, 12, 3, 1)
    made = spanning_subgraphs(problem, 3.0**6, Effort())
    assert isinstance(made, list) and len(made) == 2 and np.all(made[0][0] | made[1][0])
    for inside, plan in made:
        assert np.count_nonzero(inside) > 0.85 * problem.edges
        paid = problem.edge_cost[np.repeat(inside, np.diff(problem.edge_offset))]
        part = subgraph(problem, inside, problem.vertex_cost.copy(), paid)
        assert sorted(plan.vertex.tolist()) == list(range(problem.vertices))
        assert size(part, plan).table.max() <= 3.0**6


def test_assignments_put_together_are_no_dearer_than_each() -> None:
    problem, draw = grid(8, 8, 4, 2), np.random.default_rng(0)
    several = [draw.integers(0, problem.choices) for _ in range(4)]
    best = fused(problem, several)
    assert best is not None
    values = [problem.value(choice) for choice in (best, *several)]
    assert values[0] is not None and values[0] < min(value for value in values[1:] if value is not None)
    assert all(any(best[v] == choice[v] for choice in several) for v in range(problem.vertices))


@pytest.mark.parametrize("blocks", [5, 10])
def test_networks_of_cells_with_300_vertices_are_proven_by_elimination(blocks: int) -> None:
    found = METHODS["auto"].search(PbqpProblem(cells(300, blocks, 4, 1)), Effort())
    assert found.proven and found.method == "reduction + elimination"
