"""Every method for tilings against every other on the same small problems."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.arch.dataflow import DataflowMachine
from mapper.formulations.tiling.problem import OBJECTIVES, Objective, TilingProblem
from mapper.formulations.tiling.referee import verify
from mapper.formulations.verdict import BrokenRule
from mapper.models.tiling.mapping import TilingMapping
from mapper.solver.method import Effort, Method
from mapper.solver.tiling.annealing import annealing
from mapper.solver.tiling.brute_force import BRUTE_FORCE
from mapper.solver.tiling.catalogue import AUTOMATIC, METHODS
from mapper.solver.tiling.constraint_program import CONSTRAINT_PROGRAM
from mapper.solver.tiling.genetic import genetic
from mapper.solver.tiling.random_search import random_search
from mapper.workloads.nest import LoopNest
from tests.solver.conformance import (
    Judgement,
    Number,
    check_agreement,
    check_determinism,
    check_outcome,
)
from tests.solver.small import convolution, matrix_product, problem, recurrence, small_machine

TilingMethod = Method[TilingProblem, TilingMapping]

HEURISTICS: dict[str, TilingMethod] = {
    method.name: method for method in (annealing(4000), genetic(4000), random_search(4000))
}
FAST = tuple(
    HEURISTICS.get(method.name, method) for method in METHODS if method not in (AUTOMATIC, CONSTRAINT_PROGRAM)
)

PROBLEMS = {
    "matrix product": problem(matrix_product()),
    "row convolution": problem(convolution()),
    "bounds of one that do not fit": problem(matrix_product(1, 1, 1), small_machine(rf_bytes=4)),
    "prime bounds": problem(matrix_product(5, 3, 2)),
    "bounds of one": problem(matrix_product(1, 1, 1)),
    "one PE": problem(matrix_product(), small_machine(1, 1)),
    "mesh and single buffers": problem(
        matrix_product(2, 2, 4), small_machine(noc={"reduction": "mesh"}, rf={"double_buffered": False})
    ),
    "physical rules": problem(
        matrix_product(2, 2, 4), small_machine(rules={"partial_sums": "first_visit_free", "energy": "exact"})
    ),
    "nothing fits a register file": problem(matrix_product(), small_machine(rf_bytes=4)),
    "recurrence": problem(recurrence()),
    "diagonal recurrence": problem(recurrence(3, 4, i=1, j=1)),
    "backward recurrence": problem(recurrence(3, 4, i=1, j=-1)),
    "pinned space": problem(matrix_product(4, 2, 4), spatial="I,J"),
    "pinned factor": problem(matrix_product(), K__dram="2", I__rf="1"),
    "pinned order": problem(matrix_product(), order__dram="K,I", order__spm="I,J,K"),
    "pins that contradict the machine": problem(matrix_product(4, 4, 2), I__spatial="4", J__spatial="4"),
    "pins that contradict a dependence": problem(recurrence(), i__spatial="2"),
    "pins that contradict a bound": problem(matrix_product(), I__rf="3"),
}


def judge(posed: TilingProblem, mapping: TilingMapping) -> tuple[tuple[BrokenRule, ...], Number | None]:
    verdict = verify(posed, mapping)
    return verdict.broken, None if verdict.cost is None else posed.value(verdict.cost)


KIND = Judgement(judge)


def check_methods(posed: TilingProblem, methods: tuple[TilingMethod, ...]) -> None:
    outcomes = [(method, method.search(posed, Effort())) for method in methods]
    for method, outcome in outcomes:
        check_outcome(posed, method, KIND, outcome)
    check_agreement(outcomes)


@pytest.mark.parametrize("name", PROBLEMS)
def test_methods_agree_on(name: str) -> None:
    check_methods(PROBLEMS[name], FAST)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_methods_agree_on_each_objective(objective: Objective) -> None:
    check_methods(problem(matrix_product(2, 2, 4), objective=objective), FAST)


@pytest.mark.parametrize("name", ["matrix product", "nothing fits a register file", "pinned order"])
def test_constraint_program_agrees_with_brute_force_on(name: str) -> None:
    check_methods(PROBLEMS[name], (CONSTRAINT_PROGRAM, BRUTE_FORCE))


@pytest.mark.slow
@pytest.mark.parametrize("name", PROBLEMS)
def test_constraint_program_agrees_with_brute_force_on_every(name: str) -> None:
    check_methods(PROBLEMS[name], (CONSTRAINT_PROGRAM, BRUTE_FORCE))


@pytest.mark.parametrize("method", FAST, ids=lambda method: method.name)
@pytest.mark.parametrize("seed", [0, 7])
def test_same_seed_gives_same_mapping(method: TilingMethod, seed: int) -> None:
    check_determinism(problem(matrix_product(2, 2, 4)), method, seed)


bounds = st.sampled_from([1, 2, 3, 4])
few = st.sampled_from([1, 2])
nests: st.SearchStrategy[LoopNest] = st.one_of(
    st.builds(matrix_product, bounds, bounds, bounds),
    st.builds(convolution, st.just(1), few, few, st.just(3), st.just(2)),
    st.builds(recurrence, bounds, bounds, i=st.sampled_from([1, 2]), j=st.sampled_from([-1, 0, 1])),
)
machines = st.builds(
    small_machine,
    rows=st.sampled_from([1, 2]),
    columns=st.sampled_from([1, 2, 4]),
    rf_bytes=st.sampled_from([8, 16, 32]),
    rf=st.fixed_dictionaries({"double_buffered": st.booleans()}),
    noc=st.fixed_dictionaries({"reduction": st.sampled_from(["bus", "mesh"])}),
    rules=st.fixed_dictionaries(
        {
            "partial_sums": st.sampled_from(["doubled", "first_visit_free"]),
            "energy": st.sampled_from(["rounded", "exact"]),
        }
    ),
)


@settings(derandomize=True, deadline=None, max_examples=16)
@given(nest=nests, machine=machines, objective=st.sampled_from(OBJECTIVES))
def test_methods_agree_on_random_problems(
    nest: LoopNest, machine: DataflowMachine, objective: Objective
) -> None:
    check_methods(problem(nest, machine, objective), FAST)
