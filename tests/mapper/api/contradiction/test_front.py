"""Fronts, comparisons of machines and methods that ask several searches refuse what contradicts itself."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mapper.api.problem import pose
from mapper.api.solving import Search, run
from mapper.kind.part import Options
from mapper.kind.pbqp.kind import Pbqp
from mapper.kind.pe_allocation.kind import PeAllocation
from mapper.solver.contradiction import ContradictionError
from mapper.solver.front import Front
from mapper.solver.method import Effort
from mapper.solver.outcome import Outcome
from mapper.solver.pbqp.catalogue import METHODS as PBQP_METHODS
from mapper.solver.pe_allocation import catalogue as allocation
from mapper.solver.pe_allocation.catalogue import METHODS as ALLOCATION_METHODS
from mapper.solver.pe_allocation.parallel.front import front
from mapper.solver.pe_allocation.parallel.integer_program import INTEGER_PROGRAM
from mapper.solver.tiling import catalogue as tiling
from mapper.solver.tiling.catalogue import METHODS as TILING
from mapper.store import Store
from mapper.store.recall import Recall
from tests.mapper.api.contradiction.lie import (
    INFEASIBLE,
    LAYER,
    NETWORK,
    Lie,
    almost_best,
    given,
    lying,
    none_at_all,
    run_one,
    told,
    too_tight,
    worse,
)


def test_a_front_whose_searches_contradict_each_other_is_told_with_both_documents(
    mapper: Any, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def contradicting(kind: PeAllocation, problem: Any, effort: Effort) -> Front[Any]:
        found = ALLOCATION_METHODS["greedy"].search(problem, effort)
        raise ContradictionError(INFEASIBLE, found, "one finds \x1b[2J what another excludes")

    monkeypatch.setattr(PeAllocation, "front", contradicting)
    answer = mapper("solve", NETWORK, "--pareto")
    told(answer, here / "mapper.contradiction.json")
    assert "\x1b" not in answer[2]


def test_a_front_refuses_a_point_that_another_is_better_than(
    mapper: Any, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def with_a_worse_point(kind: PeAllocation, problem: Any, effort: Effort) -> Front[Any]:
        found = front(problem, effort)
        poor = ALLOCATION_METHODS["proportional"].search(problem, effort)
        assert poor.mapping is not None
        point = Outcome.optimal(poor.mapping, poor.value)
        return replace(found, points=(*found.points, point))

    monkeypatch.setattr(PeAllocation, "front", with_a_worse_point)
    words = (
        "solve",
        NETWORK,
        "--objective",
        "latency",
        "--pareto",
        "--model",
        "calculus",
        "-o",
        "front.json",
    )
    told(mapper(*words), here / "front.json.contradiction.json")


@pytest.mark.parametrize("objective", ["throughput", "latency", "pes"])
def test_a_front_is_held_against_the_store(mapper: Any, here: Path, objective: str) -> None:
    store = Store(here / "s.sqlite")
    posed = pose(NETWORK, None, objective, Options(model="calculus"))
    kept = ("--model", "calculus", "--store", str(store.path))
    words = ("solve", NETWORK, "--objective", objective, "--pareto", *kept)
    run(posed, Search("ilp", workers=1, store=store))
    assert mapper(*words)[0] == 0
    pick = min if objective == "throughput" else max
    poor = pick(front(posed.parts[0].problem, Effort()).points, key=lambda point: point.value or 0)
    part = run_one(posed, poor)
    false = replace(part, certificate=replace(part.certificate, proven=False))
    Recall(store, posed, "cp-sat", pytest.fail).keep({0: false})
    told(mapper(*words), here / "mapper.contradiction.json")


def test_a_front_without_points_is_held_against_a_stored_mapping(
    mapper: Any, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ("--store", str(here / "s.sqlite"))
    assert mapper("solve", NETWORK, "--method", "greedy", *store)[0] == 0
    monkeypatch.setattr(PeAllocation, "front", lambda kind, problem, effort: Front((), True))
    told(mapper("solve", NETWORK, "--pareto", *store), here / "mapper.contradiction.json")


def test_machines_side_by_side_refuse_two_searches_that_contradict_each_other(
    mapper: Any, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    liar = lying("liar", almost_best, TILING["soc"])
    given(monkeypatch, replace(TILING["branch-and-bound"], before=(liar,)))
    words = ("compare", "lenet5", "--arch", "dmazerunner-256,dynamap-u200")
    told(mapper(*words), here / "mapper.contradiction.json")


@pytest.mark.parametrize("lie", [none_at_all, too_tight])
def test_a_method_that_asks_two_searches_refuses_answers_that_contradict_each_other(
    monkeypatch: pytest.MonkeyPatch, lie: Lie
) -> None:
    problem = pose(LAYER, None, "edp", Options()).parts[0].problem
    open_end = replace(worse(INFEASIBLE), bound=None, proven=False)
    monkeypatch.setattr(tiling, "BRANCH_AND_BOUND", lying("one", lambda found: open_end))
    monkeypatch.setattr(tiling, "BRUTE_FORCE", lying("other", lie))
    with pytest.raises(ContradictionError):
        TILING["auto"].search(problem, Effort())


@pytest.mark.parametrize("objective", ["throughput", "latency", "pes"])
def test_programs_that_contradict_each_other_are_refused(
    monkeypatch: pytest.MonkeyPatch, objective: str
) -> None:
    problem = pose(NETWORK, None, objective, Options(model="calculus")).parts[0].problem
    open_end = partial(replace, bound=None, proven=False, stop="time_limit")
    monkeypatch.setattr(allocation, "INTEGER_PROGRAM", lying("one", open_end, INTEGER_PROGRAM))
    monkeypatch.setattr(allocation, "CONSTRAINT_PROGRAM", lying("other", none_at_all, INTEGER_PROGRAM))
    with pytest.raises(ContradictionError):
        ALLOCATION_METHODS["auto"].search(problem, Effort())


def test_sums_that_differ_by_rounding_are_no_contradiction(
    mapper: Any, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = here / "cancelling.in"
    path.write_text("2 1\n2 1e9 -0.1\n2 0.3 1e9\n0 1\n2 2\n0 0\n0 0\n")
    true = PBQP_METHODS["brute-force"]
    # The least cost is 0.2, between costs of a billion.
    for by, code in ((1e-8, 0), (100.0, 4)):
        liar = lying("liar", partial(bounded_above, by), true)
        methods = {"auto": true, "brute-force": true, "liar": liar}
        monkeypatch.setattr(Pbqp, "methods_of", lambda kind, value, methods=methods: methods)
        assert mapper("compare", str(path), "--store", "none")[0] == code


def bounded_above(by: float, found: Outcome[Any]) -> Outcome[Any]:
    """No mapping, and a bound that lies so much above what was found."""
    assert found.value is not None
    return replace(found, mapping=None, value=None, bound=found.value + by, proven=False)
