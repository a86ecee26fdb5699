"""Two proofs that contradict each other, or a mapping that should not exist, end every command with exit code 4."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import mapper as api
from mapper.api.problem import PosedProblem, pose
from mapper.api.solving import Search, run
from mapper.cli.contradiction_file import SCHEMA
from mapper.kind.part import Options, Part
from mapper.kind.pbqp.kind import Pbqp
from mapper.kind.pe_allocation.kind import PeAllocation
from mapper.kind.tiling.kind import Tiling
from mapper.solver.contradiction import ContradictionError
from mapper.solver.front import Front
from mapper.solver.method import Effort, Method
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
from mapper.sweeping.engine import DaskEngine

LAYER = "resnet-dmazerunner/conv5_2"
NETWORK = "mnist-tcpa"
INFEASIBLE: Outcome[Any] = Outcome.infeasible()

Lie = Callable[[Outcome[Any]], Outcome[Any]]


def none_at_all(found: Outcome[Any]) -> Outcome[Any]:
    return INFEASIBLE


def too_tight(found: Outcome[Any]) -> Outcome[Any]:
    """A bound that no mapping as good as the one found can have."""
    assert found.value is not None
    return replace(INFEASIBLE, bound=1000 * found.value, proven=False)


def almost_best(found: Outcome[Any]) -> Outcome[Any]:
    """The claim that a poor mapping, where there is one, is next to the best there can be."""
    if found.value is None:
        return found
    return Outcome.bounded(found.mapping, found.value, found.value - 1, "heuristic")


def another_value(found: Outcome[Any]) -> Outcome[Any]:
    """A proof that the mapping is worth what it is not."""
    return replace(found, value=1, bound=1)


def worse(found: Outcome[Any]) -> Outcome[Any]:
    """A prior dataflow's mapping, proven to be optimal."""
    poor = TILING["soc"].search(pose(LAYER, None, "edp", Options()).parts[0].problem, Effort())
    return Outcome.optimal(poor.mapping, poor.value)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty folder at hand."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lying(name: str, lie: Lie, true: Method[Any, Any] = TILING["branch-and-bound"]) -> Method[Any, Any]:
    def search(problem: Any, effort: Effort) -> Outcome[Any]:
        return lie(true.search(problem, effort))

    return Method(name, True, "says what is false", search, true.prepare)


def given(monkeypatch: pytest.MonkeyPatch, *methods: Method[Any, Any]) -> None:
    """The kind ``tiling`` has these methods, the first by default."""
    monkeypatch.setattr(Tiling, "methods", lambda kind: {method.name: method for method in methods})
    monkeypatch.setattr(Tiling, "default_method", methods[0].name)


def told(ended: tuple[int, str, str], path: Path) -> dict[str, Any]:
    """The documents, after a look at how the command ended and what it said."""
    code, out, errors = ended
    assert code == 4 and out == ""
    assert len(errors.splitlines()) == 1 and "CONTRADICTION" in errors and path.name in errors
    document: dict[str, Any] = json.loads(path.read_text())
    assert document["schema"] == SCHEMA and len(document["documents"]) == 2
    return document


@pytest.mark.parametrize("as_json", [(), ("--json",)])
@pytest.mark.parametrize("lie", [none_at_all, too_tight, worse])
def test_compare_refuses_two_methods_that_contradict_each_other(
    mapper: Any, here: Path, monkeypatch: pytest.MonkeyPatch, lie: Lie, as_json: tuple[str, ...]
) -> None:
    given(monkeypatch, TILING["auto"], TILING["branch-and-bound"], lying("liar", lie))
    document = told(mapper("compare", LAYER, *as_json), here / "mapper.contradiction.json")
    one, other = document["documents"]
    assert one["schema"] == other["schema"] == "mapper.solution/1"
    assert one["certificate"]["method"] == "branch-and-bound" and one["certificate"]["proven"]
    assert "conv5_2" in document["reason"]


def test_help_and_reference_say_what_exit_code_4_is(mapper: Any) -> None:
    code, out, _ = mapper("--help")
    told = "4 two answers contradict each other"
    assert code == 0 and told in " ".join(out.split())
    page = Path(__file__).parents[3] / "docs" / "cli.md"
    assert told in page.read_text(encoding="utf-8")


def test_methods_that_agree_are_compared_as_ever(mapper: Any, here: Path) -> None:
    names = ("branch-and-bound", "opt1+opt2", "soc", "ws1")
    code, _, errors = mapper("compare", LAYER, *(word for name in names for word in ("--method", name)))
    assert code == 0 and "CONTRADICTION" not in errors and not list(here.iterdir())


@pytest.mark.parametrize("as_json", [(), ("--json",)])
def test_solve_refuses_a_mapping_that_passes_its_own_bound(
    mapper: Any, here: Path, monkeypatch: pytest.MonkeyPatch, as_json: tuple[str, ...]
) -> None:
    given(
        monkeypatch,
        lying("auto", lambda found: replace(found, bound=2 * (found.value or 0), proven=False)),
    )
    words = ("solve", LAYER, "-o", "answer.json", *as_json)
    claim, found = told(mapper(*words), here / "answer.json.contradiction.json")["documents"]
    assert claim["parts"][0]["mapping"] is None and found["parts"][0]["mapping"] is not None
    assert claim["certificate"]["bound"] == 2 * found["certificate"]["value"]
    assert found["certificate"]["verified"]


def test_solve_refuses_a_proof_of_another_value_than_the_mapping_has(
    mapper: Any, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given(monkeypatch, lying("auto", another_value))
    told(mapper("solve", LAYER), here / "mapper.contradiction.json")


def test_one_layer_of_a_network_is_enough(mapper: Any, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def search(problem: Any, effort: Effort) -> Outcome[Any]:
        found = TILING["soc"].search(problem, effort)
        return replace(found, bound=2 * (found.value or 0)) if problem.nest.name == "conv4_2" else found

    given(monkeypatch, Method("auto", False, "", search, TILING["soc"].prepare))
    words = ("solve", "resnet-dmazerunner")
    document = told(mapper(*words), here / "mapper.contradiction.json")
    assert document["reason"].startswith("conv4_2: ")
    parts = document["documents"][1]["parts"]
    assert [part["name"] for part in parts if part["mapping"] is not None] == ["conv4_2"]


def test_a_mapping_that_the_referee_rejects_contradicts_nothing(
    mapper: Any, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(found: Outcome[Any]) -> Outcome[Any]:
        assert found.mapping is not None
        # Everything in the register files, which are far too small.
        factors = tuple((1, 1, math.prod(own), 1) for own in found.mapping.factors)
        return replace(found, mapping=replace(found.mapping, factors=factors), value=1, bound=None)

    poor = worse(INFEASIBLE)
    given(monkeypatch, lying("auto", broken))
    kept(Search(store=Store(here / "s.sqlite")), poor, "auto", bound=poor.value, proven=False)
    code, _, errors = mapper("solve", LAYER, "--store", str(here / "s.sqlite"))
    assert code == 1 and "referee rejects" in errors


def test_where_the_file_cannot_be_written_the_line_says_so(
    mapper: Any, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "mapper.contradiction.json").mkdir()
    given(monkeypatch, lying("auto", another_value))
    code, _, errors = mapper("solve", LAYER)
    assert code == 4 and "cannot be written" in errors and len(errors.splitlines()) == 1


@pytest.mark.parametrize(
    "words", [("solve", LAYER, "-o", "/dev/null"), ("sweep", LAYER, "--vary", "rf.bytes=256", "--dry-run")]
)
def test_without_a_file_of_the_command_both_documents_are_in_the_folder_at_hand(
    mapper: Any, here: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    given(monkeypatch, lying("auto", another_value))
    told(mapper(*words), here / "mapper.contradiction.json")
    assert not Path("/dev/null.contradiction.json").exists()


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


def test_the_library_raises_it_with_both_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, lying("auto", another_value))
    with pytest.raises(api.ContradictionError) as raised:
        api.solve(LAYER)
    assert [document["schema"] for document in raised.value.documents] == ["mapper.solution/1"] * 2


def kept(search: Search, found: Outcome[Any], method: str, **changes: Any) -> None:
    """Somebody has written an answer to the layer, by ``method``, and what he claims of it."""
    posed = pose(LAYER, None, "edp", Options())
    part = run_one(posed, found)
    certificate = replace(part.certificate, method=method, **changes)
    assert search.store is not None
    Recall(search.store, posed, method, pytest.fail).keep({0: replace(part, certificate=certificate)})
    assert len(search.store.entries()) >= 1


def run_one(posed: PosedProblem, found: Outcome[Any]) -> Part:
    """``found`` as an answer, judged."""
    from mapper.api.contradicting import _part_of

    return _part_of(posed.kind, posed.parts[0], found, "somebody")


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
