"""Kernels on CGRAs from the command line: schedule, proof, grid, simulation, configuration words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

COST_KEYS = {"ii", "mii", "res_mii", "rec_mii", "stages", "cycles", "latency_ms", "energy_pj"}


def test_a_kernel_is_scheduled_at_its_bound_and_proven(mapper: Any) -> None:
    code, out, _ = mapper("solve", "gemm", "--arch", "srp-4x4", "--objective", "ii", "--json")
    answer = json.loads(out)
    part = answer["parts"][0]
    assert code == 0
    assert answer["problem"]["kind"] == "modulo_schedule"
    assert part["name"] == "gemm"
    assert set(part["cost"]) == COST_KEYS
    assert part["cost"]["ii"] == part["cost"]["mii"] == part["certificate"]["bound"] == 3
    assert part["certificate"]["proven"] and part["certificate"]["verified"]
    mapping = part["mapping"]
    assert set(mapping) == {"ii", "stages", "schedule", "routes"}
    assert [route["edge"] for route in mapping["routes"]] == sorted(
        route["edge"] for route in mapping["routes"]
    )
    assert min(entry["time"] for entry in mapping["schedule"].values()) >= 0


def test_the_table_shows_the_grid_and_what_binds(mapper: Any) -> None:
    code, out, _ = mapper("solve", "gemm")
    assert code == 0
    assert "ResMII" in out and "RecMII 3: recurrence" in out and "PE" in out


def test_a_schedule_runs_and_becomes_words(mapper: Any, tmp_path: Path) -> None:
    path = tmp_path / "gemm.json"
    assert mapper("solve", "gemm", "--arch", "mesh-3x3", "-o", str(path))[0] == 0
    code, out, _ = mapper("simulate", str(path), "--json")
    result = json.loads(out)
    assert code == 0
    assert result["outputs_equal"] and result["agrees"]
    assert result["cost_simulated"]["cycles"] == result["cost_model"]["cycles"]
    folder = tmp_path / "out"
    assert mapper("generate", str(path), "-o", str(folder))[0] == 0
    assert json.loads((folder / "configuration.json").read_text())["ii"] == result["cost_model"]["ii"]


def test_evaluate_rejects_a_schedule_that_breaks_the_array(mapper: Any, tmp_path: Path) -> None:
    path = tmp_path / "gemm.json"
    mapper("solve", "gemm", "--arch", "mesh-3x3", "-o", str(path))
    mapping = json.loads(path.read_text())["parts"][0]["mapping"]
    for placed in mapping["schedule"].values():
        placed["pe"] = [0, 0]
    path.write_text(json.dumps(mapping))
    code, out, err = mapper("evaluate", "gemm", "--arch", "mesh-3x3", "--mapping", str(path), "--json")
    assert code == 1
    assert not json.loads(out)["parts"][0]["certificate"]["verified"]
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("solve", "gemm", "--arch", "dmazerunner-256"), "srp-4x4"),
        (("solve", "no-such-network", "--arch", "srp-4x4"), "no-such-network"),
        (("solve", "lenet5", "--arch", "mesh-4x4"), "vliw"),
        (("solve", "lenet5", "--arch", "srp-4x4", "--method", "cp-sat"), "cp-sat"),
        (("solve", "lenet5", "--arch", "srp-4x4", "--objective", "ii"), "latency"),
        (("solve", "lenet5", "--arch", "srp-4x4", "--fix", "conv1.colour=red"), "conv1.colour"),
        (("solve", "lenet5", "--arch", "srp-4x4", "--fix", "conv1.algorithm=fft"), "im2col+gemm"),
        (("solve", "gemm", "--method", "baseline"), "baseline"),
        (("solve", "gemm", "--objective", "edp"), "ii"),
        (("solve", "gemm", "--fix", "colour=red"), "colour"),
        (("solve", "gemm", "--fix", "ii=zero"), "ii"),
        (("solve", "gemm", "--batch", "2"), "--batch"),
        (("solve", "missing.c"), "missing.c"),
    ],
)
def test_wrong_input_is_one_line(mapper: Any, words: tuple[str, ...], named: str) -> None:
    code, out, err = mapper(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert named in err


def test_an_interval_below_the_bound_is_proven_infeasible(mapper: Any) -> None:
    code, out, _ = mapper("solve", "gemm", "--fix", "ii=1", "--json")
    certificate = json.loads(out)["certificate"]
    assert code == 1
    assert certificate["proven"] and not certificate["found"]


def test_registers_too_few_for_any_schedule_are_proven_so(mapper: Any, tmp_path: Path) -> None:
    graph = {
        "schema": "mapper.dfg/1",
        "name": "twice",
        "operations": [
            {"name": "value", "opcode": "not", "immediates": {"0": 7}},
            {"name": "first", "opcode": "not"},
            {"name": "second", "opcode": "neg"},
        ],
        "edges": [{"from": "value", "to": reader, "operand": 0} for reader in ("first", "second")],
    }
    machine = {
        "schema": "mapper.cgra/1",
        "name": "single",
        "rows": 1,
        "columns": 1,
        "links": ["mesh"],
        "pes": [{"at": "all", "classes": ["any"]}],
        "register_file": {"registers": 0},
    }
    (tmp_path / "twice.json").write_text(json.dumps(graph))
    (tmp_path / "single.yaml").write_text(json.dumps(machine))
    words = ("solve", str(tmp_path / "twice.json"), "--arch", str(tmp_path / "single.yaml"), "--json")
    for method in ("auto", "cp-sat", "decoupled"):
        code, out, _ = mapper(*words, "--method", method)
        certificate = json.loads(out)["certificate"]
        assert code == 1
        assert certificate["proven"] and not certificate["found"]


def test_a_kernel_is_shown_as_c_that_solves_alike(mapper: Any, tmp_path: Path) -> None:
    code, out, _ = mapper("show", "dot")
    path = tmp_path / "dot.c"
    path.write_text(out)
    assert code == 0
    assert mapper("solve", str(path), "--arch", "mesh-2x2", "--quiet")[0] == 0
