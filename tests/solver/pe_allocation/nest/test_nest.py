"""Loop nests on a TCPA: exact methods agree with trying everything, and what they find runs as the model says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mapper.arch.source import load_machine
from mapper.arch.tcpa import TcpaMachine
from mapper.formulations.pe_allocation.nest.infeasible import why_nest_infeasible
from mapper.formulations.pe_allocation.nest.problem import NestProblem
from mapper.formulations.pe_allocation.nest.tiled_problem import NestPins
from mapper.formulations.pe_allocation.referee.verify_nest import verify_nest
from mapper.models.pe_allocation.nest.cost import evaluate
from mapper.sim.pe_allocation.nest import report_nest
from mapper.solver.method import Effort
from mapper.solver.pe_allocation.nest.catalogue import METHODS
from mapper.workloads.source import load_network
from tests.solver.pe_allocation.nest.random_nest import random_problem


def is_small(problem: NestProblem) -> bool:
    """Whether brute force takes well below a second."""
    return problem.nest.iterations <= 6 and problem.machine.pe_count <= 3


SMALL = [seed for seed in range(60) if is_small(random_problem(seed, loops=3, most=3))]
MIDDLE = [seed for seed in range(40) if random_problem(seed, loops=4, most=6).nest.iterations <= 100]


def solved(problem: NestProblem, method: str = "auto") -> int | float | None:
    found = METHODS[method].search(problem, Effort())
    assert found.proven
    return found.value


def posed(workload: str, arch: str) -> NestProblem:
    machine, _ = load_machine(arch)
    assert isinstance(machine, TcpaMachine)
    return NestProblem(load_network(workload).layers[0].nest, machine)


@pytest.mark.parametrize("seed", SMALL)
def test_branch_and_bound_finds_what_brute_force_finds(seed: int) -> None:
    problem = random_problem(seed, loops=3, most=3)
    assert solved(problem, "branch-and-bound") == solved(problem, "brute-force")


@pytest.mark.parametrize("seed", MIDDLE)
def test_the_constraint_program_finds_what_branch_and_bound_finds(seed: int) -> None:
    problem = random_problem(seed, loops=4, most=6)
    assert solved(problem, "cp-sat") == solved(problem, "branch-and-bound")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 300))
def test_the_exact_methods_agree_on_more_nests(seed: int) -> None:
    problem = random_problem(seed, loops=4, most=5)
    if problem.nest.iterations <= 200:
        assert solved(problem, "cp-sat") == solved(problem, "branch-and-bound")


@pytest.mark.parametrize("name", ["greedy", "output-stationary"])
def test_no_heuristic_is_better_than_the_proven_least(name: str) -> None:
    for seed in range(150):
        problem = random_problem(seed, loops=4, most=6)
        found, least = METHODS[name].search(problem, Effort()), METHODS["auto"].search(problem, Effort())
        if found.mapping is not None:
            assert found.value is not None and least.value is not None
            assert verify_nest(problem, found.mapping).valid
            assert found.value >= least.value


def test_every_mapping_passes_the_referee_and_runs_as_the_model_says() -> None:
    for seed in range(200):
        problem = random_problem(seed, loops=5, most=5)
        found = METHODS["auto"].search(problem, Effort())
        if found.mapping is None:
            assert found.proven
            continue
        assert verify_nest(problem, found.mapping).valid
        result = report_nest(problem, found.mapping, seed)
        assert result["agrees"] and result["cost_simulated"]["cycles"] == found.value


@pytest.mark.parametrize(
    ("workload", "arch", "cycles"),
    [("matmul", "tcpa-4x4", 1_605_638), ("mttkrp", "tcpa-8x8", 1_048_591), ("depthwise", "tcpa-4x4", 56_455)],
)
def test_nests_of_the_catalogue_are_proven_at_once(workload: str, arch: str, cycles: int) -> None:
    assert solved(posed(workload, arch)) == cycles


def test_a_sum_that_goes_through_tiles_waits_for_the_tile_before() -> None:
    """K over the columns: each tile starts when the one before has added its last product of the first sum."""
    problem = replace(posed("matmul", "tcpa-1x4"), pins=NestPins({}, ("I", "J", "K"), {"columns": "K"}))
    found = METHODS["auto"].search(problem, Effort()).mapping
    assert found is not None
    words = found.words("K", found.tile_of["K"])
    assert found.outer_of["K"] == (words - 1) + 1 + 1


def test_an_input_that_tiles_share_takes_a_cycle_to_the_next_tile() -> None:
    found = METHODS["auto"].search(posed("matmul", "tcpa-4x4"), Effort()).mapping
    assert found is not None and (found.rows, found.columns) == ("I", "J")
    assert found.outer == (1, 1, 0)


def test_few_address_generators_forbid_layouts_with_many_streams() -> None:
    problem = posed("matmul", "tcpa-4x4")
    border = problem.machine.border.model_copy(update={"address_generators": 9})
    scarce = replace(problem, machine=problem.machine.model_copy(update={"border": border}))
    found = METHODS["auto"].search(scarce, Effort())
    assert found.proven and found.mapping is not None and found.value is not None
    assert evaluate(scarce.nest, scarce.grid, found.mapping).streams <= 9
    assert found.value > 1_605_638


def test_what_is_pinned_is_kept_and_the_rest_is_proven() -> None:
    pins = NestPins({"J": 200}, None, {"rows": "J"})
    problem = replace(posed("matmul", "tcpa-4x4"), pins=pins)
    found = METHODS["auto"].search(problem, Effort())
    assert found.proven and found.mapping is not None
    assert found.mapping.tile_of["J"] == 200 and found.mapping.rows == "J"
    assert verify_nest(problem, found.mapping).valid


def test_pins_that_make_too_many_tiles_are_proven_infeasible() -> None:
    problem = replace(posed("matmul", "tcpa-4x4"), pins=NestPins({"J": 2}))
    found = METHODS["auto"].search(problem, Effort())
    assert found.proven and found.mapping is None
    assert why_nest_infeasible(problem) is not None


def test_tensors_that_exceed_the_buffers_are_proven_infeasible() -> None:
    problem = replace(posed("matmul", "tcpa-4x4"), max_bytes=462_847)
    assert METHODS["cp-sat"].search(problem, Effort()).proven
    assert "462,848" in str(why_nest_infeasible(problem))
