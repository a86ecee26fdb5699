"""The command line keeps its contract: tables or one JSON document on stdout, one line on stderr, exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mapper.cli import entry
from mapper.cli.listing import METHODS_FILE, Listing, listed, methods_of
from mapper.kind import ENTRIES

Run = tuple[int, str, str]

COST_KEYS = {"energy_pj", "cycles", "edp_pj_cycles", "latency_ms"}
CERTIFICATE_KEYS = {
    "stop", "found", "value", "bound", "gap", "proven", "evidence", "restrictions", "method", "verified", "broken",
    "seconds", "cpu_seconds", "evaluations", "seed", "workers",
}  # fmt: skip


@pytest.fixture
def mapper(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*words: str) -> Run:
        monkeypatch.setattr(sys, "argv", ["mapper", *words])
        with pytest.raises(SystemExit) as ended:
            entry.main()
        captured = capsys.readouterr()
        return int(ended.value.code or 0), captured.out, captured.err

    return run


@pytest.fixture
def solved(mapper: Any, tmp_path: Path) -> Path:
    path = tmp_path / "solution.json"
    assert mapper("solve", "resnet-dmazerunner/conv5_2", "-o", str(path))[0] == 0
    return path


def document(run: Run) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(run[1])
    return value


def test_solve_proves_the_papers_layer(mapper: Any) -> None:
    answer = document(mapper("solve", "resnet-dmazerunner/conv5_2", "--json"))
    assert answer["schema"] == "mapper.solution/1"
    part = answer["parts"][0]
    assert part["name"] == "conv5_2"
    assert part["cost"]["edp_pj_cycles"] == 6844957271165824
    assert set(part["cost"]) >= COST_KEYS
    assert set(part["certificate"]) == CERTIFICATE_KEYS
    assert part["certificate"]["proven"] and part["certificate"]["verified"]
    assert part["certificate"]["bound"] == part["certificate"]["value"] == 6844957271165824


def test_a_problem_carries_all_that_simulating_it_needs(mapper: Any) -> None:
    problem = document(mapper("solve", "resnet-dmazerunner/conv5_2", "--json"))["problem"]
    assert problem["kind"] == "tiling"
    assert problem["machine"]["name"] == "dmazerunner-256"
    assert problem["structure"]["layers"][0]["nest"]["loops"]["M"] == 512
    assert problem["options"] == {
        "batch": 4, "fix": {"padding": "off"}, "min_throughput": None, "max_pes": None, "max_buffer": None,
        "model": None,
    }  # fmt: skip
    assert [entry["path"] for entry in problem["inputs"]] == [
        "catalogue:resnet-dmazerunner",
        "catalogue:dmazerunner-256",
    ]
    assert all(len(entry["sha256"]) == 64 for entry in problem["inputs"])


def test_repeated_layers_are_solved_once_and_carry_the_full_answer(mapper: Any) -> None:
    answer = document(mapper("solve", "resnet50", "--fix", "padding=off", "--json"))
    first = {part["name"]: part for part in answer["parts"]}
    repeats = [part for part in answer["parts"] if part["same_as"] is not None]
    assert repeats
    for part in repeats:
        assert part["mapping"] == first[part["same_as"]]["mapping"]
        assert part["certificate"]["seconds"] == part["certificate"]["cpu_seconds"] == 0
    assert answer["certificate"]["value"] == answer["cost"]["edp_pj_cycles"]
    assert answer["cost"]["edp_of_totals"] == answer["cost"]["energy_pj"] * answer["cost"]["cycles"]
    assert {entry["op"] for entry in answer["skipped"]} >= {"Relu", "MaxPool"}


def test_the_table_names_value_proof_and_method(mapper: Any) -> None:
    code, out, _ = mapper("solve", "resnet-dmazerunner", "--objective", "edp")
    assert code == 0
    assert "proven by solver" in out and "branch-and-bound" in out and "total" in out


def test_evaluate_agrees_with_what_solve_wrote(mapper: Any, solved: Path) -> None:
    run = mapper("evaluate", "resnet-dmazerunner/conv5_2", "--mapping", str(solved), "--json")
    answer = document(run)
    assert run[0] == 0
    assert answer["cost"]["edp_pj_cycles"] == 6844957271165824
    assert answer["certificate"]["stop"] == "given"
    assert answer["certificate"]["method"] == "evaluate"
    assert answer["certificate"]["bound"] is None and not answer["certificate"]["proven"]


def test_evaluate_costs_an_invalid_mapping_and_rejects_it(mapper: Any, solved: Path) -> None:
    mapping = json.loads(solved.read_text())["parts"][0]["mapping"]
    mapping["tiling"]["M"] = {"dram": 1, "spm": 1, "rf": 1, "spatial": 512}
    solved.write_text(json.dumps(mapping))
    run = mapper("evaluate", "resnet-dmazerunner/conv5_2", "--mapping", str(solved), "--json")
    part = document(run)["parts"][0]
    assert run[0] == 1
    assert part["cost"]["cycles"] > 0
    assert not part["certificate"]["verified"]
    assert "PEs" in {rule["rule"] for rule in part["certificate"]["broken"]}
    assert run[2].count("\n") == 1


def test_factors_that_do_not_multiply_to_the_bound_have_no_cost(mapper: Any, solved: Path) -> None:
    mapping = json.loads(solved.read_text())["parts"][0]["mapping"]
    mapping["tiling"]["N"]["dram"] *= 2
    solved.write_text(json.dumps(mapping))
    run = mapper("evaluate", "resnet-dmazerunner/conv5_2", "--mapping", str(solved), "--json")
    assert run[0] == 1
    assert document(run)["parts"][0]["cost"] is None
    assert document(run)["cost"] is None


def test_an_unknown_key_in_a_mapping_is_wrong_input(mapper: Any, solved: Path) -> None:
    mapping = json.loads(solved.read_text())["parts"][0]["mapping"]
    mapping["tiling"]["Q"] = {"dram": 1, "spm": 1, "rf": 1, "spatial": 1}
    solved.write_text(json.dumps(mapping))
    code, out, err = mapper("evaluate", "resnet-dmazerunner/conv5_2", "--mapping", str(solved))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "tiling.Q" in err


def test_a_nest_that_fits_no_register_file_is_proven_infeasible(mapper: Any, tmp_path: Path) -> None:
    machine = tmp_path / "tiny.yaml"
    text = mapper("show", "dmazerunner-256")[1].replace("rf: {bytes: 512", "rf: {bytes: 2")
    machine.write_text(text.replace("rf: {by_bytes: {16: 0.03", "rf: {by_bytes: {2: 0.01, 16: 0.03"))
    run = mapper("solve", "matmul", "--arch", str(machine), "--json")
    certificate = document(run)["certificate"]
    assert run[0] == 1
    assert not certificate["found"] and certificate["proven"]
    assert certificate["value"] is None and certificate["bound"] is None
    assert run[2].count("\n") == 1


@pytest.mark.parametrize(
    ("words", "method"),
    [
        (("matmul",), "dive"),
        (("squeezenet", "--arch", "dynamap-u200"), "largest-arrays"),
        (("lenet5", "--arch", "snowflake-1cc"), "greedy"),
    ],
)
def test_without_time_a_rule_answers_and_claims_nothing(
    mapper: Any, words: tuple[str, ...], method: str
) -> None:
    run = mapper("solve", *words, "--time-limit", "0", "--json")
    certificate = document(run)["certificate"]
    assert run[0] == 0
    assert certificate["found"] and certificate["verified"] and not certificate["proven"]
    assert (certificate["stop"], certificate["method"]) == ("time_limit", method)


def test_no_time_at_all_is_no_answer_rather_than_infeasible(mapper: Any) -> None:
    run = mapper("solve", "matmul", "--method", "branch-and-bound", "--time-limit", "0", "--json")
    certificate = document(run)["certificate"]
    assert run[0] == 3
    assert not certificate["found"] and not certificate["proven"]
    assert certificate["stop"] == "time_limit"


def test_pinned_spatial_loops_are_obeyed_and_the_rest_is_proven(mapper: Any) -> None:
    run = mapper("solve", "resnet-dmazerunner/conv5_2", "--fix", "spatial=Oy,Ox", "--json")
    answer = document(run)
    tiling = answer["parts"][0]["mapping"]["tiling"]
    assert {loop for loop, factors in tiling.items() if factors["spatial"] > 1} == {"Oy", "Ox"}
    assert answer["certificate"]["proven"]
    assert answer["problem"]["options"]["fix"] == {"padding": "off", "spatial": "Oy,Ox"}


def test_compare_answers_with_rows(mapper: Any) -> None:
    run = mapper(
        "compare",
        "resnet-dmazerunner/conv5_2",
        "--method",
        "branch-and-bound",
        "--method",
        "opt1+opt2+opt3",
        "--json",
    )
    answer = document(run)
    assert [row["method"] for row in answer["rows"]] == ["branch-and-bound", "opt1+opt2+opt3"]
    exact, pruned = (row["certificate"] for row in answer["rows"])
    assert exact["proven"] and not pruned["proven"]
    assert pruned["value"] == exact["value"]
    assert len(pruned["restrictions"]) == 3


def test_sweep_follows_the_energies_of_the_swept_sizes(mapper: Any) -> None:
    run = mapper(
        "sweep", "matmul", "--vary", "rf.bytes=256,512", "--vary", "spm.bytes=65536,131072", "--json"
    )
    rows = document(run)["rows"]
    assert [row["vary"] for row in rows] == [
        {"rf.bytes": 256, "spm.bytes": 65536},
        {"rf.bytes": 256, "spm.bytes": 131072},
        {"rf.bytes": 512, "spm.bytes": 65536},
        {"rf.bytes": 512, "spm.bytes": 131072},
    ]
    assert len({row["cost"]["energy_pj"] for row in rows}) == 4


def test_levels_of_a_hierarchy_are_swept_by_their_names(mapper: Any) -> None:
    vary = "levels.accumulator.words=128,1024"
    rows = document(mapper("sweep", "lenet5/conv1", "--arch", "gemmini-16", "--vary", vary, "--json"))["rows"]
    assert rows[0]["cost"]["energy_pj"] != rows[1]["cost"]["energy_pj"]
    assert all(row["certificate"]["proven"] for row in rows)


def test_a_sweep_can_be_drawn(mapper: Any, tmp_path: Path) -> None:
    path = tmp_path / "sweep.svg"
    assert mapper("sweep", "lenet5/conv1", "--vary", "rf.bytes=256,512", "--plot", str(path))[0] == 0
    assert path.read_text().startswith("<?xml")


def test_progress_can_be_logged_as_json_lines(mapper: Any, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    mapper("solve", "resnet-dmazerunner", "--log", str(log))
    events = [json.loads(line) for line in log.read_text().splitlines()]
    assert {"progress", "parts"} <= {event["event"] for event in events}


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("solve", "no-such-network"), "no-such-network"),
        (("solve", "--arch", "no-such-machine"), "no-such-machine"),
        (("solve", "--objective", "beauty"), "beauty"),
        (("solve", "--objective", "ii"), "edp, energy, latency"),
        (("solve", "--method", "magic"), "branch-and-bound"),
        (("solve", "matmul", "--fix", "I.rf=banana"), "I.rf"),
        (("solve", "matmul", "--fix", "spatial=Q"), "Q"),
        (("solve", "matmul", "--max-pes", "4"), "--max-pes"),
        (("solve", "gemm", "--arch", "srp-4x4", "--pareto"), "--pareto"),
        (("solve", "matmul", "--time-limit", "-1"), "time-limit"),
        (("solve", "matmul", "-o", "no-such-folder/x.json"), "no-such-folder"),
        (("sweep", "matmul"), "--vary"),
        (("sweep", "matmul", "--vary", "rf.colour=1"), "rf.colour"),
        (("sweep", "matmul", "--vary", "pe_array.rows=0"), "pe_array.rows"),
        (("sweep", "matmul", "--vary", "rf.bytes=48"), "by_bytes"),
        (("simulate", "no-such-file.json"), "no-such-file.json"),
        (("evaluate", "matmul"), "--mapping"),
        (("show", "no-such-preset"), "no-such-preset"),
        (("show", "mnist-tcpa"), "mapper explain"),
        (("list", "colours"), "colours"),
    ],
)
def test_wrong_input_is_one_line_that_names_the_field(
    mapper: Any, words: tuple[str, ...], named: str
) -> None:
    code, out, err = mapper(*words)
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert named in err


@pytest.mark.parametrize(
    "words", [(), ("--help",), ("solve", "--help"), ("list", "methods"), ("list", "archs")]
)
def test_help_and_lists_import_no_heavy_library(words: tuple[str, ...]) -> None:
    script = (
        "import sys; sys.argv = ['mapper', *sys.argv[1:]]\n"
        "from mapper.cli import entry\n"
        "try: entry.main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numba', 'ortools', 'onnx', 'onnxruntime', 'matplotlib', 'networkx', 'pulp'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", script, *words], check=True, capture_output=True)


def test_a_sweep_that_ends_before_its_first_machine_is_not_infeasible(
    mapper: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mapper.sweeping.sweep._here", lambda problems, search: iter(()))
    code, out, _ = mapper("sweep", "matmul", "--vary", "rf.bytes=256,512", "--json")
    assert code == 3 and len(json.loads(out)["rows"]) == 2


def test_the_methods_that_are_listed_are_those_of_the_kinds() -> None:
    own = [row for entry in ENTRIES for row in methods_of(entry)]
    assert all((entry.folder / METHODS_FILE).is_file() for entry in ENTRIES)
    assert listed(Listing.methods) == own, "run python -m mapper.cli.listing"


def test_every_command_has_help_and_an_example(mapper: Any) -> None:
    for command in (
        "solve",
        "compare",
        "explain",
        "evaluate",
        "sweep",
        "simulate",
        "generate",
        "list",
        "show",
    ):
        code, out, _ = mapper(command, "--help")
        assert code == 0
        assert f"Example: mapper {command}" in " ".join(out.split())


def test_the_same_seed_and_workers_give_the_same_document(mapper: Any) -> None:
    def answer() -> dict[str, Any]:
        found = document(mapper("solve", "squeezenet", "--fix", "padding=off", "--json", "--workers", "2"))
        for certificate in [found["certificate"], *(part["certificate"] for part in found["parts"])]:
            del certificate["seconds"], certificate["cpu_seconds"]
        return found

    assert answer() == answer()
