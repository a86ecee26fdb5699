"""Loop nests on tightly coupled processor arrays from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

COST_KEYS = {"pes", "throughput_fps", "cycles", "latency_ms", "buffer_bytes"}
NEST = """schema: mapper.nest/1
name: product
loops: {I: 12, J: 8, K: 6}
operands:
  - {tensor: O, index: [I, J], access: read_write}
  - {tensor: A, index: [I, K]}
  - {tensor: B, index: [K, J]}
"""


def answer(mapper: Any, *words: str) -> dict[str, Any]:
    code, out, err = mapper(*words, "--json")
    assert code == 0, err
    document: dict[str, Any] = json.loads(out)
    return document


def solved(mapper: Any, folder: Path, *words: str) -> tuple[dict[str, Any], str]:
    nest, solution = folder / "nest.yaml", folder / "solution.json"
    nest.write_text(NEST)
    found = answer(mapper, "solve", str(nest), "--arch", "tcpa-2x2", "-o", str(solution), *words)
    return found, str(solution)


def test_a_nest_is_one_part_with_the_mapping_and_cost_that_documents_promise(mapper: Any) -> None:
    found = answer(mapper, "solve", "matmul", "--arch", "tcpa-4x4")
    (part,) = found["parts"]
    assert found["problem"]["kind"] == "pe_allocation" and found["problem"]["objective"] == "latency"
    assert part["name"] == "matmul" and part["certificate"]["proven"] and part["certificate"]["verified"]
    assert set(part["cost"]) == COST_KEYS and part["cost"]["throughput_fps"] is None
    assert part["mapping"]["mode"] == "nest"
    assert part["mapping"]["tile"] == {"I": 49, "J": 128, "K": 512}
    assert part["mapping"]["schedule"]["inner"] == [32768, 256, 1]
    assert part["mapping"]["schedule"]["outer"] == [1, 1, 0]
    assert part["mapping"]["placement"] == {"rows": "I", "columns": "J"}


def test_a_solution_is_simulated_to_the_cycle(mapper: Any, tmp_path: Path) -> None:
    found, solution = solved(mapper, tmp_path)
    run = answer(mapper, "simulate", solution)
    assert run["agrees"] and run["cost_simulated"] == found["cost"]


def test_a_mapping_costs_the_same_when_it_is_evaluated(mapper: Any, tmp_path: Path) -> None:
    found, solution = solved(mapper, tmp_path)
    nest = str(tmp_path / "nest.yaml")
    again = answer(mapper, "evaluate", nest, "--arch", "tcpa-2x2", "--mapping", solution)
    assert again["cost"] == found["cost"] and again["certificate"]["verified"]


def test_a_schedule_that_starts_tiles_too_early_is_rejected_with_the_rule(
    mapper: Any, tmp_path: Path
) -> None:
    found, solution = solved(mapper, tmp_path)
    found["parts"][0]["mapping"]["schedule"]["outer"] = [0, 0, 0]
    Path(solution).write_text(json.dumps(found))
    nest = str(tmp_path / "nest.yaml")
    code, out, _ = mapper("evaluate", nest, "--arch", "tcpa-2x2", "--mapping", solution, "--json")
    broken = json.loads(out)["certificate"]["broken"]
    assert code == 1 and broken[0]["rule"].startswith("an input that several tiles read")


def test_pinned_decisions_are_kept_and_the_rest_is_proven(mapper: Any, tmp_path: Path) -> None:
    pins = ("--fix", "J.tile=5", "--fix", "order=K,J,I", "--fix", "columns=J", "--fix", "rows=none")
    found, _ = solved(mapper, tmp_path, *pins)
    mapping = found["parts"][0]["mapping"]
    assert mapping["tile"]["J"] == 5 and mapping["schedule"]["order"] == ["K", "J", "I"]
    assert mapping["placement"] == {"rows": None, "columns": "J"}
    assert found["certificate"]["proven"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--objective", "throughput"), "has latency here"),
        (("--model", "calculus"), "holds for networks alone"),
        (("--fix", "J.tile=9"), "whole number from 1 to 8"),
        (("--fix", "order=I,J"), "once each"),
        (("--fix", "rows=Z"), "is no loop"),
        (("--fix", "J.pes=2"), "unknown decision"),
        (("--fix", "rows=I", "--fix", "columns=I"), "is the loop on the rows"),
        (("--min-throughput", "5"), "no frames"),
    ],
)
def test_what_a_nest_does_not_have_is_refused_in_a_line(
    mapper: Any, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    nest = tmp_path / "nest.yaml"
    nest.write_text(NEST)
    code, _, err = mapper("solve", str(nest), "--arch", "tcpa-2x2", *words)
    assert code == 2 and said in err and err.count("\n") == 1


def test_too_few_bytes_of_buffers_are_a_proven_refusal(mapper: Any, tmp_path: Path) -> None:
    nest = tmp_path / "nest.yaml"
    nest.write_text(NEST)
    code, _, err = mapper("solve", str(nest), "--arch", "tcpa-2x2", "--max-buffer", "10")
    assert code == 1 and "the tensors need" in err


def test_every_method_is_compared_and_none_beats_the_proof(mapper: Any, tmp_path: Path) -> None:
    nest = tmp_path / "nest.yaml"
    nest.write_text(NEST.replace("I: 12, J: 8, K: 6", "I: 3, J: 2, K: 2"))
    rows = answer(mapper, "compare", str(nest), "--arch", "tcpa-1x2", "--time-limit", "20")["rows"]
    values = {row["method"]: row["certificate"]["value"] for row in rows}
    assert set(values) == {"branch-and-bound", "cp-sat", "brute-force", "greedy", "output-stationary"}
    exact = {values[name] for name in ("branch-and-bound", "cp-sat", "brute-force")}
    assert exact == {min(values.values())}


def test_a_nest_is_explained_by_its_own_program(mapper: Any) -> None:
    code, out, _ = mapper("explain", "matmul", "--arch", "tcpa-4x4")
    assert code == 0 and "A loop nest on a TCPA as a constraint program" in out and "sequence" in out


def test_the_configuration_says_when_every_pe_starts(mapper: Any, tmp_path: Path) -> None:
    found, solution = solved(mapper, tmp_path)
    code, _, _ = mapper("generate", solution, "-o", str(tmp_path / "out"))
    made = json.loads((tmp_path / "out" / "configuration.json").read_text())
    assert code == 0 and made["cycles"] == found["cost"]["cycles"]
    assert len(made["pes"]) == found["cost"]["pes"]


def test_a_report_page_is_made_of_a_nest(mapper: Any, tmp_path: Path) -> None:
    _, solution = solved(mapper, tmp_path)
    code, _, err = mapper("report", solution, "-o", str(tmp_path / "report.html"))
    assert code == 0, err
    assert "every layout and size of tiles was tried" in (tmp_path / "report.html").read_text("utf-8")


def test_a_network_of_several_nests_says_how_to_name_one(mapper: Any) -> None:
    code, _, err = mapper("solve", "resnet-dmazerunner", "--arch", "tcpa-4x4")
    assert code == 2 and "resnet-dmazerunner/conv1" in err


def test_a_store_answers_a_nest_at_once(mapper: Any, tmp_path: Path) -> None:
    store = ("--store", str(tmp_path / "store.sqlite"))
    first, _ = solved(mapper, tmp_path, *store)
    second, _ = solved(mapper, tmp_path, *store)
    assert first["parts"][0]["mapping"] == second["parts"][0]["mapping"]
