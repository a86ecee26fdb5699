"""``mapper solve --certificate`` and ``mapper check``: proofs written, checked, and bound to a solution."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import mapper
from mapper.api.solving import Search
from mapper.cli.entry import main
from mapper.proving.certified import certified
from mapper.solver.proof import digest

Run = Callable[..., tuple[int, str, str]]
LAYER = "resnet-dmazerunner/conv5_2"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["mapper", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, error = capsys.readouterr()
        return int(ended.value.code or 0), out, error

    return call


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a solution and its proofs."""
    folder = tmp_path_factory.mktemp("solved")
    words = ("solve", LAYER, "-o", folder / "solution.json", "--certificate", folder / "proofs.json")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["mapper", *map(str, words), "--store", "none"])
        with pytest.raises(SystemExit) as ended:
            main()
    assert not ended.value.code
    return folder


@pytest.fixture
def solved(made: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A solution and its proofs, to be changed."""
    names = ("solution.json", "proofs.json")
    solution, proofs = (Path(shutil.copy(made / name, tmp_path / name)) for name in names)
    return solution, proofs


def changed(path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """A copy of the proofs in which the first was changed."""
    document = json.loads(path.read_text())
    change(document["proofs"][0])
    copy = path.with_name("changed.json")
    copy.write_text(json.dumps(document))
    return copy


def test_what_a_checker_accepts_is_certified_in_the_solution(solved: tuple[Path, Path]) -> None:
    document = json.loads(solved[0].read_text())
    assert document["certificate"]["evidence"] == "certified"
    assert [part["certificate"]["evidence"] for part in document["parts"]] == ["certified"]


def test_without_the_option_the_word_is_the_solvers(run: Run) -> None:
    code, out, _ = run("solve", LAYER, "--json", "--store", "none")
    assert code == 0 and json.loads(out)["certificate"]["evidence"] == "solver"


def test_proofs_of_a_solution_are_certified(run: Run, solved: tuple[Path, Path]) -> None:
    code, out, _ = run("check", solved[1], "--problem", solved[0])
    assert code == 0 and out.startswith("conv5_2: certified: optimal 6844957271165824")


def test_the_document_is_the_contracts(solved: tuple[Path, Path]) -> None:
    document = json.loads(solved[1].read_text())
    assert set(document) == {"schema", "proofs"} and document["schema"] == "mapper.proofs/1"
    (proof,) = document["proofs"]
    assert set(proof) == {"schema", "kind", "part", "problem", "problem_sha256", "claim", "evidence"}
    assert (proof["schema"], proof["kind"], proof["part"]) == ("mapper.proof/1", "tiling", "conv5_2")
    assert proof["problem_sha256"] == digest(proof["problem"])
    assert proof["claim"] == {"status": "optimal", "value": 6844957271165824, "bound": 6844957271165824}


def test_a_value_that_is_not_the_optimum_is_refuted(run: Run, solved: tuple[Path, Path]) -> None:
    def raised(proof: dict[str, Any]) -> None:
        proof["claim"]["value"] += 1

    assert run("check", changed(solved[1], raised))[0] == 1


def test_a_proof_without_a_claim_is_malformed(run: Run, solved: tuple[Path, Path]) -> None:
    assert run("check", changed(solved[1], lambda proof: proof.pop("claim")))[0] == 2


def test_a_proof_without_evidence_is_not_certified(run: Run, solved: tuple[Path, Path]) -> None:
    def emptied(proof: dict[str, Any]) -> None:
        proof["evidence"] = {"rule": "none", "reason": "nobody looked"}

    code, out, _ = run("check", changed(solved[1], emptied))
    assert code == 3 and "not certified: nobody looked" in out


def test_the_proof_of_another_problem_is_refuted(run: Run, solved: tuple[Path, Path], tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    assert run("solve", "resnet-dmazerunner/conv5_1", "-o", other, "--store", "none")[0] == 0
    code, out, _ = run("check", solved[1], "--problem", other)
    assert code == 1 and "conv5_1: refuted: no proof is about the problem" in out


def test_what_is_no_proof_is_one_line(run: Run, solved: tuple[Path, Path]) -> None:
    code, _, error = run("check", solved[0])
    assert code == 2 and error.count("\n") == 1 and "mapper.proofs/1" in error


def test_python_gives_the_same(solved: tuple[Path, Path]) -> None:
    (proof,) = mapper.certify(solved[0])
    assert proof == json.loads(solved[1].read_text())["proofs"][0]
    ((part, status, _),) = mapper.check(solved[1])
    assert (part, status) == ("conv5_2", "certified")


def test_a_network_has_the_weakest_word_of_its_parts(run: Run, tmp_path: Path) -> None:
    words = ("lenet5", "--arch", "srp-4x4", "--method", "baseline", "--store", "none", "--json")
    code, out, _ = run("solve", *words, "--certificate", tmp_path / "proofs.json")
    document = json.loads(out)
    assert code == 0 and document["certificate"]["evidence"] == "bounded"
    assert {part["certificate"]["evidence"] for part in document["parts"]} == {"bounded", "solver"}


def test_a_gap_that_a_search_left_is_closed_where_evidence_is_found(tmp_path: Path) -> None:
    readers = ("o1", "o2", "o3", "o4")
    graph = {
        "schema": "mapper.dfg/1",
        "name": "star",
        "operations": [{"name": name, "opcode": "add", "immediates": {"1": 1}} for name in ("o0", *readers)],
        "edges": [{"from": "o0", "to": name, "operand": 0} for name in readers]
        + [{"from": "o0", "to": "o0", "operand": 0, "distance": 1}],
    }
    (tmp_path / "star.json").write_text(json.dumps(graph))
    search = Search("iterative", 10.0)
    solution = mapper.solve(str(tmp_path / "star.json"), "mesh-1x5", search=search)
    assert not solution.certificate.proven and solution.certificate.bound == 1
    found = certified(solution, tmp_path / "proofs.json", search)
    assert found.solution.certificate.proven and found.solution.certificate.certified
    assert found.solution.certificate.value == found.solution.certificate.bound == 2
    assert mapper.check(tmp_path / "proofs.json")[0][1] == "certified"
