"""A kind that stands in its own folder goes through every public door once it is registered in one line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from mapper import InputError, Options, Search, compare, evaluate, explain, report, side_by_side, solve, sweep
from mapper import kind as kinds
from mapper.arch import source
from mapper.solver.method import Effort
from mapper.store.database import Store
from mapper.store.key import version_key
from tests.mapper.toy_kind import ENTRY
from tests.mapper.toy_kind.machine import PackingMachine
from tests.mapper.toy_kind.methods import METHODS
from tests.mapper.toy_kind.problem import PackingProblem
from tests.mapper.toy_kind.referee import verify
from tests.mapper.toy_kind.workload import Job, Jobs
from tests.solver.conformance import check_agreement, check_outcome, refereed_by

JOBS = "jobs: {filter: [4, 10], sort: [3, 6], copy: [2, 3], hash: [5, 9], scan: [6, 7]}\n"
SMALL = "{schema: toy.packing/1, name: small, clock_mhz: 1, cycles: [5, 4]}\n"
LARGE = "{schema: toy.packing/1, name: large, clock_mhz: 2, cycles: [9, 8, 3]}\n"
BEST_ON_SMALL = 19
"""hash on the worker of 5 cycles, filter on that of 4."""


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(kinds, "ENTRIES", kinds.ENTRIES)
    monkeypatch.setattr(source, "READERS", dict(source.READERS))
    kinds.register(ENTRY)
    monkeypatch.chdir(tmp_path)
    for name, text in (("jobs", JOBS), ("small", SMALL), ("large", LARGE)):
        Path(f"{name}.yaml").write_text(text)


def test_the_default_method_solves_and_proves_it() -> None:
    solution = solve("jobs.yaml", "small.yaml")
    certificate = solution.certificate
    assert (certificate.value, certificate.bound, certificate.proven) == (BEST_ON_SMALL, BEST_ON_SMALL, True)
    assert certificate.verified and certificate.method == "cp-sat"
    assert solution.to_json()["problem"]["objective"] == "worth"
    assert solution.cost == {"worth": 19, "cycles": 5, "latency_ms": 0.005}


def test_all_methods_are_compared_on_it() -> None:
    comparison = compare("jobs.yaml", "small.yaml")
    values = {row.certificate.method: row.certificate.value for row in comparison.rows}
    assert set(values) == set(METHODS) - {"auto"}
    assert (
        values["brute-force"]
        == values["cp-sat"]
        == BEST_ON_SMALL
        == max(values.values(), key=lambda v: v or 0)
    )


def test_the_store_answers_the_second_solve(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(Path("store.sqlite"))
    first = solve("jobs.yaml", "small.yaml", search=Search(store=store))
    assert [(entry.kind, entry.objective, entry.proven) for entry in store.entries()] == [
        ("packing", "worth", True)
    ]

    def never(problem: PackingProblem, effort: Effort) -> Any:
        raise AssertionError("solved again")

    monkeypatch.setattr("tests.mapper.toy_kind.methods.automatic", never)
    monkeypatch.setitem(METHODS, "auto", type(METHODS["auto"])("auto", True, "never", never))
    second = solve("jobs.yaml", "small.yaml", search=Search(store=store))
    assert second.certificate == first.certificate and second.parts[0].mapping == first.parts[0].mapping


def test_the_sources_of_a_kind_elsewhere_are_part_of_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    with_it = version_key()
    monkeypatch.setattr(kinds, "ENTRIES", kinds.ENTRIES[:-1])
    assert version_key() != with_it


def test_a_page_shows_its_proof_and_its_picture() -> None:
    document = solve("jobs.yaml", "small.yaml").to_json()
    page = report(document, compare("jobs.yaml", "small.yaml").to_json())
    assert "CP-SAT has excluded every packing of more worth" in page
    assert "every choice of jobs, and of a worker for each" in page
    assert "jobs on workers" in page and ">filter<" in page
    assert "Methods side by side, objective worth" in page


def test_machines_stand_side_by_side() -> None:
    found = side_by_side("jobs.yaml", ["small.yaml", "large.yaml"], "worth")
    assert [(row.kind.name, row.certificate.value) for row in found.rows] == [
        ("packing", 19),
        ("packing", 35),
    ]
    assert found.rows[0].utilisation == 20 / (2 * 5)
    assert "the way of the jobs to their workers" in found.rows[0].warnings


def test_a_mapping_from_anywhere_is_evaluated() -> None:
    mapping = {"filter": 0, "sort": 1, "copy": None, "hash": 0, "scan": None}
    Path("mapping.json").write_text(json.dumps({"workers": mapping}))
    rejected = evaluate("jobs.yaml", "small.yaml", Path("mapping.json"))
    assert [(rule.rule, rule.place, rule.size) for rule in rejected.certificate.broken] == [
        ("in time", "worker 0", 4)
    ]


def test_pins_decide_and_their_contradiction_has_a_reason() -> None:
    pinned = solve("jobs.yaml", "small.yaml", options=Options(fix={"copy": "1"}))
    assert pinned.certificate.value == 13 and pinned.certificate.proven
    away = solve("jobs.yaml", "small.yaml", options=Options(fix={"filter": "0", "sort": "0"}))
    assert away.exit_code == 1 and away.certificate.proven and not away.certificate.found
    assert "Filter, sort take 7 cycles of worker 0" in report(away.to_json())
    with pytest.raises(InputError, match="write JOB=WORKER"):
        solve("jobs.yaml", "small.yaml", options=Options(fix={"nobody": "0"}))


def test_machines_are_swept_and_the_formulation_is_explained() -> None:
    swept = sweep("jobs.yaml", "small.yaml", {"clock_mhz": [1, 2]})
    assert [row.cost["latency_ms"] for row in swept.rows if row.cost] == [0.005, 0.0025]
    said = explain("jobs.yaml", "small.yaml")
    assert "Packing jobs as a constraint program" in said and "5 jobs, 2 workers" in said


def test_the_commands_know_it(mapper: Any) -> None:
    code, out, err = mapper("solve", "jobs.yaml", "--arch", "small.yaml", "-o", "solution.json")
    assert code == 0, err
    assert "most worth (packing)" in out and "proven by solver" in out
    assert "worker  busy  cycles  jobs" in out and "hash" in out
    assert (
        "exact: a constraint program, solved by CP-SAT" in mapper("list", "methods", "--kind", "packing")[1]
    )
    assert re.search(r"worth +packing +the default", mapper("list", "objectives")[1])
    code, out, _ = mapper("compare", "jobs.yaml", "--arch", "small.yaml,large.yaml", "--objective", "worth")
    assert code == 0 and "large.yaml: clock 2 MHz; the way of the jobs to their workers" in out
    assert mapper("report", "solution.json", "-o", "page.html")[0] == 0
    assert mapper("evaluate", "jobs.yaml", "--arch", "small.yaml", "--mapping", "solution.json")[0] == 0
    code, _, err = mapper("simulate", "solution.json")
    assert code == 2 and "there is nothing to run" in err


@pytest.mark.parametrize("cycles", [[5, 4], [9, 8, 3], [1]], ids=str)
@pytest.mark.parametrize("pins", [{}, {0: 0}], ids=str)
def test_its_methods_conform(cycles: list[int], pins: dict[int, int]) -> None:
    jobs = Jobs(
        "five",
        tuple(Job(str(at), *pair) for at, pair in enumerate([(4, 10), (3, 6), (2, 3), (5, 9), (6, 7)])),
    )
    machine = PackingMachine(schema="toy.packing/1", name="drawn", clock_mhz=1, cycles=cycles)
    problem = PackingProblem(jobs, machine, pins)
    judge = refereed_by(verify, lambda problem, cost: cost.worth, lambda problem: True)
    outcomes = [(method, method.search(problem, Effort())) for method in METHODS.values()]
    for method, outcome in outcomes:
        check_outcome(problem, method, judge, outcome)
    check_agreement(problem, judge, outcomes)
