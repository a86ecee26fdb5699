"""Branch and bound against brute force on drawn problems, and against Timeloop's evaluations."""

from __future__ import annotations

import math
from types import ModuleType

import pytest

from bench.hierarchy.gemmini import by_machine, machine, nest
from mapper.arch.hierarchy import HierarchyMachine, hierarchy_from_document
from mapper.formulations.hierarchy.problem import HierarchyProblem, ObjectiveName
from mapper.formulations.hierarchy.referee.verify import verify
from mapper.solver.hierarchy.exact import brute_force as oracle
from mapper.solver.hierarchy.exact import expansion, floor
from mapper.solver.hierarchy.exact.branch import Branch
from mapper.solver.hierarchy.exact.branch_and_bound import Search, Waiting, branch_and_bound, prepare
from mapper.solver.method import Effort
from mapper.workloads.document import InputError
from mapper.workloads.nest.layer_nest import matrix_product_nest
from tests.solver.hierarchy.random_hierarchy import random_problem

FAST, SLOW = range(60), range(60, 1000)


def check(problem: HierarchyProblem, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What branch and bound says holds, wherever brute force takes no more than ``most`` mappings."""
    monkeypatch.setattr(oracle, "MOST_MAPPINGS", most)
    try:
        least = oracle.brute_force(problem, Effort()).value
    except InputError:
        return
    found = branch_and_bound(problem, Effort())
    if found.mapping is not None:
        assert not verify(problem, found.mapping).broken
    if found.proven:
        assert found.value == least
    else:
        assert found.bound is not None
        assert least is not None
        assert found.bound <= least
        assert found.value is None or found.value >= least


@pytest.mark.parametrize("seed", FAST)
def test_what_is_proven_is_what_brute_force_finds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    check(random_problem(seed), 100, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SLOW)
def test_what_is_proven_is_what_brute_force_finds_on_more(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    check(random_problem(seed, links=seed % 3 == 0), 2_000, monkeypatch)


def test_a_nest_of_one_operation_has_one_mapping() -> None:
    machine = random_problem(1).machine
    problem = HierarchyProblem(matrix_product_nest("one", (), 1, 1, 1), machine, "edp")
    found = branch_and_bound(problem, Effort())
    assert found.proven
    assert found.value == oracle.brute_force(problem, Effort()).value


def with_energies(own: HierarchyMachine) -> HierarchyMachine:
    """A reference machine with whole energies."""
    fields = own.model_dump(mode="json", by_alias=True)
    for level, pj in zip(fields["levels"], (6400, 30, 2, 1), strict=True):
        level["energy_pj"] = {"read": pj, "fill": pj, "update": pj}
    fields["compute"]["energy_pj"] = 1
    return hierarchy_from_document(fields, "test")


@pytest.mark.parametrize("objective", ["edp", "energy", "latency"])
def test_no_mapping_of_the_reference_points_is_better(objective: ObjectiveName) -> None:
    from mapper.models.hierarchy.cost import evaluate
    from mapper.models.hierarchy.one_line import mapping_from_line

    rows = list(by_machine().values())[4][::75]
    for row in rows:
        problem = HierarchyProblem(nest(row), with_energies(machine(row)), objective)
        given = mapping_from_line(row["mapping"], problem.nest, problem.machine, "row")
        found = branch_and_bound(problem, Effort())
        assert found.proven
        assert found.value is not None
        assert found.value <= problem.value(evaluate(problem.nest, problem.machine, given))


def test_a_search_that_is_stopped_has_a_bound() -> None:
    row = next(iter(by_machine().values()))[0]
    problem = HierarchyProblem(nest(row), with_energies(machine(row)), "edp")
    effort = Effort()
    effort.interrupt.set()
    found = branch_and_bound(problem, effort)
    best = branch_and_bound(problem, Effort())
    assert found.stop == "interrupted"
    assert not found.proven
    assert found.bound is not None
    assert best.value is not None
    assert found.bound <= best.value


def test_loops_in_space_that_leave_no_room_for_the_smallest_tile_are_never_opened() -> None:
    energy = {"read": 1, "fill": 1, "update": 1}
    levels = [
        {"name": "outer", "energy_pj": energy},
        {"name": "inner", "words": 8, "keep": ["*"], "energy_pj": energy, "fanout": {"x": 8, "y": 8}},
    ]
    own = hierarchy_from_document(
        {"schema": "mapper.hierarchy/1", "name": "small", "levels": levels, "compute": {"energy_pj": 1}},
        "small",
    )
    problem = HierarchyProblem(matrix_product_nest("product", (), 8, 8, 8), own, "energy")
    search = Search(problem, Effort())
    spaces = search.gather(problem)
    opened = [one.outset() for _, _, one in search.heap if isinstance(one, Waiting)]
    fitting = [
        one
        for one in (spaces.trips(slice(row, row + 1))[0, 1] for row in range(len(spaces)))
        if one[0] * one[1] + one[1] * one[2] + one[0] * one[2] <= 8
    ]
    assert len(opened) == len(fitting) < len(spaces)
    assert all(one.fits.all() for one in opened)


def test_preparing_calls_what_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    called: set[str] = set()

    def heard(module: ModuleType, name: str) -> None:
        own = getattr(module, name)

        def hear(*arguments: object) -> object:
            called.add(name)
            return own(*arguments)

        monkeypatch.setattr(module, name, hear)

    heard(floor, "floors")
    heard(expansion, "expanded")
    prepare()
    assert called == {"floors", "expanded"}


@pytest.mark.parametrize("seed", range(12))
def test_tiles_that_a_limit_leaves_out_hold_no_mapping_below_it(seed: int) -> None:
    problem = random_problem(seed)
    whole = Search(problem, Effort())
    whole.gather(problem)
    for bound, number, waiting in sorted(whole.heap, key=lambda one: one[:2])[:5]:
        assert isinstance(waiting, Waiting)
        alone = Search(problem, Effort())
        alone.heap = [(bound, number, waiting)]
        alone._work(math.inf)
        least = math.inf if alone.trials.value is None else alone.trials.value
        plain, limited = (Branch(waiting.outset(), waiting.spaces.space(waiting.row)) for _ in range(2))
        assert plain.build(Effort())
        assert limited.build(Effort(), least * (1 + 1e-6))
        assert plain.bound * (1 - 1e-9) <= limited.bound <= least * (1 + 1e-9)
