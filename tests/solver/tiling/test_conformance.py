"""Every method for tilings against every other on the same small problems."""

from __future__ import annotations

import pytest

from mapper.formulations.tiling.problem import OBJECTIVES, Objective, TilingProblem
from mapper.formulations.tiling.referee.verify import verify
from mapper.models.tiling.mapping import TilingMapping
from mapper.solver.method import Effort, Method
from mapper.solver.tiling.catalogue import AUTOMATIC, METHODS
from mapper.solver.tiling.exact.brute_force import BRUTE_FORCE
from mapper.solver.tiling.heuristic.annealing import annealing
from mapper.solver.tiling.heuristic.genetic import genetic
from mapper.solver.tiling.heuristic.random_search import random_search
from mapper.solver.tiling.program.bounded_table import BOUNDED_TABLE
from mapper.solver.tiling.program.constraint_program import CONSTRAINT_PROGRAM
from tests.solver.conformance import check_agreement, check_determinism, check_outcome, refereed_by
from tests.solver.tiling.small import convolution, matrix_product, problem, recurrence, small_machine

TilingMethod = Method[TilingProblem, TilingMapping]

HEURISTICS: dict[str, TilingMethod] = {
    method.name: method for method in (annealing(4000), genetic(4000), random_search(4000))
}
FAST = tuple(
    HEURISTICS.get(method.name, method)
    for method in METHODS.values()
    if method not in (AUTOMATIC, CONSTRAINT_PROGRAM, BOUNDED_TABLE)
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


KIND = refereed_by(verify, TilingProblem.value)


def check_methods(posed: TilingProblem, methods: tuple[TilingMethod, ...]) -> None:
    outcomes = [(method, method.search(posed, Effort())) for method in methods]
    for method, outcome in outcomes:
        check_outcome(posed, method, KIND, outcome)
    check_agreement(posed, KIND, outcomes)


@pytest.mark.parametrize("name", PROBLEMS)
def test_methods_agree_on(name: str) -> None:
    check_methods(PROBLEMS[name], FAST)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_methods_agree_on_each_objective(objective: Objective) -> None:
    check_methods(problem(matrix_product(2, 2, 4), objective=objective), FAST)


@pytest.mark.parametrize(
    "name", ["matrix product", "nothing fits a register file", "pinned order", "backward recurrence"]
)
def test_programs_agree_with_brute_force_on(name: str) -> None:
    check_methods(PROBLEMS[name], (CONSTRAINT_PROGRAM, BOUNDED_TABLE, BRUTE_FORCE))


@pytest.mark.slow
@pytest.mark.parametrize("name", PROBLEMS)
def test_programs_agree_with_brute_force_on_every(name: str) -> None:
    check_methods(PROBLEMS[name], (CONSTRAINT_PROGRAM, BOUNDED_TABLE, BRUTE_FORCE))


@pytest.mark.parametrize("method", FAST, ids=lambda method: method.name)
@pytest.mark.parametrize("seed", [0, 7])
def test_same_seed_gives_same_mapping(method: TilingMethod, seed: int) -> None:
    check_determinism(problem(matrix_product(2, 2, 4)), method, seed)
