"""The constraint program of hierarchies: it proves what brute force finds, and never counts more than the model."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mapper.arch.hierarchy import HierarchyMachine
from mapper.formulations.explanation import render
from mapper.formulations.hierarchy.problem import HierarchyProblem, Pins
from mapper.formulations.hierarchy.program.counting import Counting
from mapper.formulations.hierarchy.program.cp_sat import HierarchyProgram, build, refusal
from mapper.solver.cp_sat import run_cp_sat
from mapper.solver.hierarchy.exact import brute_force as oracle
from mapper.solver.hierarchy.program.constraint_program import constraint_program
from mapper.solver.method import Effort
from mapper.workloads.document import InputError
from mapper.workloads.nest.layer_nest import matrix_product_nest
from mapper.workloads.nest.loop_nest import AffineIndex
from tests.solver.hierarchy.random_hierarchy import random_problem
from tests.solver.hierarchy.test_conformance import PRODUCT, small


def agree(seed: int, most: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the program proves what brute force finds; a bound holds in any case."""
    monkeypatch.setattr(oracle, "MOST_MAPPINGS", most)
    problem = random_problem(seed)
    try:
        least = oracle.brute_force(problem, Effort()).value
    except InputError:
        return False
    found = constraint_program(problem, Effort())
    if least is not None and refusal(problem) is None:
        assert solved(problem, 2 * least) <= least
    if found.proven:
        assert found.value == least
    elif least is not None:
        assert found.bound is not None and found.bound <= least
    return found.proven


def solved(problem: HierarchyProblem, limit: float) -> float:
    """The program's own least value, of mappings worth up to a limit."""
    program = HierarchyProgram(problem, Counting.of(problem, limit))
    program.build()
    result = run_cp_sat(program.model, Effort(), lambda value, bound: None)
    assert result.answer == "optimal"
    counted = result.value_of(program.minimised)
    return counted if problem.objective == "latency" else float(program.counting.real(counted))


def test_the_program_proves_what_brute_force_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sum(agree(seed, 40, monkeypatch) for seed in range(12)) > 0


@pytest.mark.slow
@pytest.mark.parametrize("first", range(12, 600, 60))
def test_the_program_proves_what_brute_force_finds_on_more(
    first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sum(agree(seed, 200, monkeypatch) for seed in range(first, first + 60)) > 0


def test_energies_too_fine_for_the_solver_are_counted_rounded_down() -> None:
    problem = HierarchyProblem(matrix_product_nest("large", (), 512, 512, 512), small(), "edp")
    counting = Counting.of(problem, 1e21)
    assert counting.unit > 10**9
    assert all(counting.real(counting.units(pj)) <= pj for pj in (1, 2, 3, 50))


def test_pins_hold_in_the_program() -> None:
    pinned = HierarchyProblem(PRODUCT, small(), "edp", Pins(keep=(("inner", "A"),), padded=(("J", 3),)))
    found = constraint_program(pinned, Effort())
    assert found.proven and found.mapping is not None
    assert "A" in found.mapping.levels[1].keep and found.mapping.padded == (("J", 3),)


def test_the_explanation_has_every_family() -> None:
    text = render(build(HierarchyProblem(PRODUCT, small(), "edp")))
    for said in (
        "tiles",
        "fan outs",
        "capacities",
        "staying",
        "arrivals",
        "accesses",
        "energy balance",
        "throughput",
    ):
        assert f"\n  {said} (" in text


def test_what_the_program_does_not_state_is_refused() -> None:
    nest = matrix_product_nest("product", (), 2, 2, 2)
    wide = AffineIndex((("I", 2), ("J", 2)))
    gaps = [replace(one, index=(wide,)) if one.writes else one for one in nest.operands]
    problem = HierarchyProblem(replace(nest, operands=tuple(gaps)), small(), "edp")
    reason = refusal(problem)
    assert reason is not None and "still zero" in reason
    assert constraint_program(problem, Effort()).restrictions == (reason,)
    with pytest.raises(InputError, match="still zero"):
        build(problem)


@pytest.mark.parametrize("machine", [pytest.param(small(fanout={"x": 2}), marks=pytest.mark.slow), small()])
def test_words_that_neighbours_may_hand_on_count_nothing(machine: HierarchyMachine) -> None:
    problem = HierarchyProblem(PRODUCT, machine, "edp")
    least = oracle.brute_force(problem, Effort()).value
    assert least is not None
    assert solved(problem, 2 * least) <= least
    found = constraint_program(problem, Effort())
    assert found.mapping is not None and found.value is not None and found.value >= least
    assert found.bound is not None and found.bound <= least
    assert not found.proven or found.value == least


def test_a_value_that_is_limited_leaves_nothing_better() -> None:
    problem = HierarchyProblem(PRODUCT, small(), "energy")
    best = oracle.brute_force(problem, Effort()).value
    assert best is not None
    assert solved(problem, 3 * best) == best
    program = HierarchyProgram(problem, Counting.of(problem, best * 0.9))
    program.build()
    assert run_cp_sat(program.model, Effort(), lambda value, bound: None).answer == "infeasible"
