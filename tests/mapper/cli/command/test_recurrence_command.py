"""Recurrences on tightly coupled processor arrays from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

STENCIL = """schema: mapper.nest/1
name: jacobi
loops: {t: 4, i: 8}
operands:
  - {tensor: A, name: new, index: [t + 1, i], access: write}
  - {tensor: A, name: left, index: [t, i - 1]}
  - {tensor: A, name: right, index: [t, i + 1]}
operation: add
"""
SOLVER = """schema: mapper.recurrence/1
name: solver
loops: {i: 12, j: 12}
statements:
  - p[i, j] = s[i, j - 1] * r[i] if i == j and j > 0
  - p[i, j] = b[i] * r[i] if i == j
  - p[i, j] = p[i - 1, j] if j < i
  - s[i, j] = b[i] - L[i, j] * p[i, j] if j == 0
  - s[i, j] = s[i, j - 1] - L[i, j] * p[i, j] if j < i
  - x[i] = p[i, j] if i == j
local: [p, s]
"""


def answer(mapper: Any, *words: str) -> dict[str, Any]:
    code, out, err = mapper(*words, "--json")
    assert code == 0, err
    document: dict[str, Any] = json.loads(out)
    return document


def solved(mapper: Any, folder: Path, text: str, *words: str) -> tuple[dict[str, Any], str]:
    nest, solution = folder / "nest.yaml", folder / "solution.json"
    nest.write_text(text)
    found = answer(mapper, "solve", str(nest), "--arch", "tcpa-2x2", "-o", str(solution), *words)
    return found, str(solution)


@pytest.mark.parametrize("text", [STENCIL, SOLVER], ids=["stencil", "solver"])
def test_a_recurrence_is_proven_and_simulated_to_the_cycle(mapper: Any, tmp_path: Path, text: str) -> None:
    found, solution = solved(mapper, tmp_path, text)
    (part,) = found["parts"]
    assert part["certificate"]["proven"] and part["certificate"]["verified"]
    assert part["mapping"]["mode"] == "nest"
    run = answer(mapper, "simulate", solution)
    assert run["agrees"] and run["outputs_equal"] and run["cost_simulated"] == found["cost"]


def test_a_mapping_costs_the_same_when_it_is_evaluated(mapper: Any, tmp_path: Path) -> None:
    found, solution = solved(mapper, tmp_path, SOLVER)
    nest = str(tmp_path / "nest.yaml")
    again = answer(mapper, "evaluate", nest, "--arch", "tcpa-2x2", "--mapping", solution)
    assert again["cost"] == found["cost"] and again["certificate"]["verified"]


def test_a_schedule_that_starts_tiles_too_early_is_rejected_with_the_rule(
    mapper: Any, tmp_path: Path
) -> None:
    found, solution = solved(mapper, tmp_path, STENCIL)
    found["parts"][0]["mapping"]["schedule"]["outer"] = [0, 0]
    Path(solution).write_text(json.dumps(found))
    nest = str(tmp_path / "nest.yaml")
    code, out, _ = mapper("evaluate", nest, "--arch", "tcpa-2x2", "--mapping", solution, "--json")
    broken = json.loads(out)["certificate"]["broken"]
    assert code == 1 and broken[0]["rule"].startswith("a value is computed, and over the links")


def test_every_method_is_compared_and_none_beats_the_proof(mapper: Any, tmp_path: Path) -> None:
    nest = tmp_path / "nest.yaml"
    nest.write_text(STENCIL.replace("t: 4, i: 8", "t: 2, i: 2"))
    rows = answer(mapper, "compare", str(nest), "--arch", "tcpa-1x2", "--time-limit", "20")["rows"]
    values = {row["method"]: row["certificate"]["value"] for row in rows}
    assert set(values) == {"branch-and-bound", "brute-force", "greedy", "in-sequence"}
    assert values["branch-and-bound"] == values["brute-force"] == min(values.values())


def test_the_configuration_holds_program_streams_and_starts(mapper: Any, tmp_path: Path) -> None:
    found, solution = solved(mapper, tmp_path, SOLVER)
    code, _, _ = mapper("generate", solution, "-o", str(tmp_path / "out"))
    made = json.loads((tmp_path / "out" / "configuration.json").read_text())
    assert code == 0 and made["cycles"] == found["cost"]["cycles"]
    assert len(made["pes"]) == found["cost"]["pes"]
    assert len(made["program"]) == 6
    streams = sum(len(one["pes"]) for one in made["streams"])
    assert streams == found["parts"][0]["breakdown"]["streams"]


def test_a_recurrence_is_explained_by_the_program_of_its_schedule(mapper: Any, tmp_path: Path) -> None:
    nest = tmp_path / "nest.yaml"
    nest.write_text(SOLVER)
    code, out, _ = mapper("explain", str(nest), "--arch", "tcpa-2x2", "--fix", "i.tile=6", "--fix", "rows=i")
    assert code == 0 and "The schedule of a recurrence's tiles" in out and "i 6 of 12" in out


def test_a_report_page_draws_tiles_and_their_times(mapper: Any, tmp_path: Path) -> None:
    _, solution = solved(mapper, tmp_path, SOLVER, "--fix", "rows=i")
    code, _, err = mapper("report", solution, "-o", str(tmp_path / "report.html"))
    assert code == 0, err
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "tiles on PEs" in page and "when each PE works" in page and "from cycle 0" in page


def test_a_recurrence_names_the_machines_that_run_it(mapper: Any, tmp_path: Path) -> None:
    nest = tmp_path / "nest.yaml"
    nest.write_text(SOLVER)
    code, _, err = mapper("solve", str(nest), "--arch", "dmazerunner-256")
    assert code == 2 and "tcpa-4x4" in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--model", "calculus"), "holds for networks alone"),
        (("--fix", "q.tile=2"), "unknown decision"),
        (("--min-throughput", "5"), "no frames"),
        (("--batch", "2"), "has no batch"),
    ],
)
def test_what_a_recurrence_does_not_have_is_refused_in_a_line(
    mapper: Any, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    nest = tmp_path / "nest.yaml"
    nest.write_text(SOLVER)
    code, _, err = mapper("solve", str(nest), "--arch", "tcpa-2x2", *words)
    assert code == 2 and said in err and err.count("\n") == 1
