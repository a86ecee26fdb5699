"""What was found is held against what a store says, in solving and in sweeps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import mapper as api
from mapper.api.problem import pose
from mapper.api.solving import Search
from mapper.kind.part import Options
from mapper.solver.contradiction import ContradictionError
from mapper.solver.method import Effort
from mapper.solver.outcome import Outcome
from mapper.solver.tiling.catalogue import METHODS as TILING
from mapper.store import Store
from mapper.sweeping.engine import DaskEngine
from tests.mapper.api.contradiction.lie import (
    INFEASIBLE,
    LAYER,
    Lie,
    given,
    kept,
    lying,
    none_at_all,
    told,
    worse,
)

STORED = {
    "a proof by another method": ("cp-sat", {"proven": True}),
    "a bound of the same search": ("branch-and-bound", {"proven": False, "stop": "time_limit"}),
    "a bound of another search": ("annealing", {"proven": False, "stop": "time_limit"}),
}


@pytest.mark.parametrize(("method", "changes"), STORED.values(), ids=STORED)
def test_solve_refuses_what_the_store_says_against_a_better_mapping(
    mapper: Any, here: Path, method: str, changes: dict[str, Any]
) -> None:
    poor = worse(INFEASIBLE)
    kept(Search(store=Store(here / "s.sqlite")), poor, method, bound=poor.value, **changes)
    words = ("solve", LAYER, "--method", "branch-and-bound", "--store", str(here / "s.sqlite"))
    document = told(mapper(*words, "-o", "o.json"), here / "o.json.contradiction.json")
    assert method in document["reason"]
    # What was found is not kept beside what it contradicts.
    assert len(Store(here / "s.sqlite").entries()) == 1
    assert mapper(*words[:-2], "--store", "none")[0] == 0


def test_a_fresh_infeasibility_beside_a_stored_mapping_is_refused(
    mapper: Any, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ("--store", str(here / "s.sqlite"))
    assert mapper("solve", LAYER, "--method", "soc", *store)[0] == 0
    given(monkeypatch, lying("auto", none_at_all), TILING["soc"])
    told(mapper("solve", LAYER, *store), here / "mapper.contradiction.json")


def test_a_proof_that_somebody_wrote_meanwhile_is_held_against_what_was_found(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = Search("branch-and-bound", store=Store(here / "s.sqlite"))
    poor = worse(INFEASIBLE)

    def meanwhile(found: Outcome[Any]) -> Outcome[Any]:
        kept(search, poor, "branch-and-bound", bound=poor.value, proven=True)
        return found

    given(monkeypatch, lying("branch-and-bound", meanwhile))
    with pytest.raises(ContradictionError) as raised:
        api.solve(LAYER, search=search)
    assert len(raised.value.documents) == 2


def test_answers_of_a_store_that_contradict_each_other_are_refused_before_a_search(
    mapper: Any, here: Path
) -> None:
    store = Store(here / "s.sqlite")
    best = TILING["branch-and-bound"].search(pose(LAYER, None, "edp", Options()).parts[0].problem, Effort())
    poor = worse(INFEASIBLE)
    kept(Search(store=store), best, "branch-and-bound")
    kept(Search(store=store), poor, "cp-sat", bound=poor.value, proven=True)
    words = ("solve", LAYER, "--method", "soc", "--store", str(store.path))
    told(mapper(*words), here / "mapper.contradiction.json")


def test_a_sweep_refuses_what_the_store_says_against_a_better_mapping(mapper: Any, here: Path) -> None:
    poor = worse(INFEASIBLE)
    kept(Search(store=Store(here / "s.sqlite")), poor, "auto", bound=poor.value, proven=False)
    words = ("sweep", LAYER, "--vary", "rf.bytes=256,512", "--store", str(here / "s.sqlite"))
    told(mapper(*words, "--json"), here / "mapper.contradiction.json")


def test_a_sweep_refuses_two_answers_to_a_machine_that_stands_in_it_twice(
    mapper: Any, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns: Iterator[Lie] = iter([lambda found: found, none_at_all])
    given(monkeypatch, lying("auto", lambda found: next(turns)(found)))
    words = ("sweep", LAYER, "--vary", "rf.bytes=512,512", "--store", "none")
    told(mapper(*words), here / "mapper.contradiction.json")


def test_a_sweep_on_a_cluster_refuses_what_a_worker_or_this_process_sees(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    poor = worse(INFEASIBLE)
    grid = {"rf.bytes": [512]}
    with DaskEngine(None, 1) as engine:
        for method in ("auto", "cp-sat"):
            # The worker begins with the first, the second is known here alone.
            search = Search(store=Store(here / f"{method}.sqlite"))
            kept(search, poor, method, bound=poor.value, proven=False)
            with pytest.raises(ContradictionError) as raised:
                api.sweep(LAYER, None, grid, search=search, engine=engine)
            assert len(raised.value.documents) == 2 and method in str(raised.value)
        # The cluster serves on.
        assert api.sweep(LAYER, None, grid, engine=engine).rows[0].certificate.proven
