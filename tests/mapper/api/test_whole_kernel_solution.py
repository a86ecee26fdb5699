"""A function in C with several loops is solved, judged and simulated whole."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

import mapper
from mapper.api.solving import Search
from mapper.kind.part import Options
from mapper.workloads.document import InputError

TEXT = """#define N 10
void rows(float alpha, float m[N][N], float x[N], float y[N]) {
  int i, j;
  for (i = 0; i < N; i++)
    y[i] = 0.0f;
  for (i = 0; i < N; i++) {
    float s = alpha;
    for (j = 0; j < i; j++)
      s += m[i][j] * x[j];
    y[i] = s;
  }
}
void scaled(float f, float m[N][N]) {
  int i, j;
  for (i = 0; i < N; i++)
    for (j = 0; j < N; j++)
      m[i][j] *= f;
}
void counted(int n[N], int x[N]) {
  int i, j;
  for (i = 0; i < n[0]; i++)
    for (j = 0; j < N; j++)
      x[j] += i;
  for (j = 0; j < N; j++)
    x[j] ^= 1;
}
"""


HOST = {"nest": "host"}


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "loops.c").write_text(TEXT)
    return str(tmp_path / "loops.c")


def solved(workload: str, arch: str = "srp-4x4", **fix: str) -> dict[str, Any]:
    return solved_within(20, workload, arch, **fix)


def solved_within(seconds: float, workload: str, arch: str, **fix: str) -> dict[str, Any]:
    search = Search("iterative", seconds, workers=1)
    return mapper.solve(workload, arch, options=Options(fix=fix), search=search).to_json()


def test_several_loops_are_one_part_whose_cycles_are_proven_and_simulated(file: str) -> None:
    found = solved(f"{file}:rows", nest="host")
    (part,) = found["parts"]
    assert (found["problem"]["objective"], found["problem"]["options"]["fix"]) == (
        "latency",
        {"nest": "host"},
    )
    assert part["certificate"]["proven"] and part["certificate"]["value"] == part["cost"]["cycles"]
    assert part["cost"]["ii"] is None
    # The second loop is not started where it would run no iteration.
    counts = [(loop["loop"], loop["starts"], loop["iterations"]) for loop in part["mapping"]["loops"]]
    assert counts == [("rows:0", 1, 10), ("rows:1", 9, 45)]
    assert all(loop["certificate"]["proven"] for loop in part["mapping"]["loops"])
    run = mapper.simulate(found)
    assert run["outputs_equal"] and run["agrees"]
    assert run["parts"][0]["reference"] == "the system's compiler"
    assert run["cost_simulated"] == {**run["cost_simulated"], "cycles": part["cost"]["cycles"]}


def test_cycles_are_those_of_every_start_with_what_surrounds_it(file: str) -> None:
    (part,) = solved(f"{file}:rows", nest="host")["parts"]
    first, second = part["mapping"]["loops"]
    spent = part["breakdown"]["cycles"]
    assert spent["kernel"] == 10 * first["ii"] + 45 * second["ii"]
    assert spent["fill"] == sum(
        loop["starts"] * (loop["stages"] - 1) * loop["ii"] for loop in (first, second)
    )
    # Each start of the second loop leaves s in memory, from where it is loaded.
    assert spent["exit"] == 9 * 16
    assert spent["load"] == 16 * (first["ii"] + second["ii"])
    assert sum(spent.values()) == part["cost"]["cycles"]


def test_a_machine_that_holds_one_loop_loads_it_whenever_another_has_run(file: str, tmp_path: Path) -> None:
    import yaml

    from mapper.arch.cgra_preset import cgra_preset

    fields = {**(cgra_preset("srp-4x4") or {}), "name": "small"}
    fields["configuration_memory"] = {"contexts": 3, "context_cycles": 16}
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(fields))
    found = solved(f"{file}:rows", str(tmp_path / "small.yaml"), **HOST)
    iis = [loop["ii"] for loop in found["parts"][0]["mapping"]["loops"]]
    assert sum(iis) > 3 and found["parts"][0]["breakdown"]["cycles"]["load"] == 16 * sum(iis)
    run = mapper.simulate(found)
    assert run["outputs_equal"] and run["agrees"]


def test_flattening_a_perfect_nest_starts_it_once(file: str) -> None:
    # No schedule meets the bound: what is found at once is as good as what a longer search ends with.
    host, flat = (solved_within(2, f"{file}:scaled", "srp-4x4", nest=nest) for nest in ("host", "flatten"))
    (loop,) = flat["parts"][0]["mapping"]["loops"]
    assert (loop["starts"], loop["iterations"]) == (1, 100)
    assert flat["cost"]["cycles"] < host["cost"]["cycles"]
    run = mapper.simulate(flat)
    assert run["outputs_equal"] and run["agrees"]
    best = solved_within(2, f"{file}:scaled", "srp-4x4", nest="auto")
    assert best["parts"][0]["mapping"]["nest"] == "flatten"
    assert best["cost"]["cycles"] <= flat["cost"]["cycles"]


def test_one_innermost_loop_is_whole_where_that_is_asked_for(file: str) -> None:
    alone, whole = solved(f"{file}:scaled"), solved(f"{file}:scaled", nest="host")
    assert alone["cost"]["ii"] is not None and alone["problem"]["objective"] == "ii"
    assert whole["parts"][0]["mapping"]["loops"][0]["starts"] == 10


def test_a_mapping_from_elsewhere_is_judged_loop_by_loop(file: str) -> None:
    found = solved(f"{file}:rows", nest="host")
    again = mapper.evaluate(f"{file}:rows", "srp-4x4", found, fix=HOST)
    assert again.certificate.verified and again.cost == found["cost"]
    broken = copy.deepcopy(found)
    schedule = broken["parts"][0]["mapping"]["loops"][1]["schedule"]
    places = list(schedule.values())
    places[0]["pe"], places[0]["time"] = places[1]["pe"], places[1]["time"]
    judged = mapper.evaluate(f"{file}:rows", "srp-4x4", broken, fix=HOST)
    assert not judged.certificate.verified
    assert any("rows:1" in rule.place for rule in judged.certificate.broken)


def test_without_a_decision_a_function_is_its_first_loop_and_a_note_names_the_decision(file: str) -> None:
    found = solved(f"{file}:rows")
    assert found["problem"]["objective"] == "ii" and found["cost"]["ii"] == 1
    notes = found["problem"]["structure"]["kernel"]["notes"]
    assert any("1 more innermost loops" in note and "nest=host" in note for note in notes)


def test_what_cannot_be_mapped_whole_is_said_with_the_reason(file: str) -> None:
    with pytest.raises(InputError, match="data decide how often its loops run"):
        solved(f"{file}:counted", nest="host")


@pytest.mark.parametrize(
    ("workload", "nest", "what"),
    [
        ("FILE:rows:1", "host", "is of a whole function"),
        ("gemm", "flatten", "is of a whole function"),
        ("FILE:rows", "hots", "did you mean host"),
    ],
)
def test_nests_that_there_are_not_are_said_in_a_line(file: str, workload: str, nest: str, what: str) -> None:
    with pytest.raises(InputError, match=what):
        solved(workload.replace("FILE", file), nest=nest)
