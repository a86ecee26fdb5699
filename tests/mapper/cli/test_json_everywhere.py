"""Commands that write text or files say it as one JSON document too."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def solution(mapper: Any, tmp_path: Path) -> str:
    path = tmp_path / "solution.json"
    assert mapper("solve", "resnet-dmazerunner/conv5_2", "-o", str(path))[0] == 0
    return str(path)


def said(run: tuple[int, str, str]) -> Any:
    assert run[0] == 0, run[2]
    return json.loads(run[1])


def test_explain_has_its_text_in_a_document(mapper: Any) -> None:
    words = ("explain", "resnet-dmazerunner/conv5_2", "--format", "markdown")
    found = said(mapper(*words, "--json"))
    assert found == {"schema": "mapper.explanation/1", "format": "markdown", "text": mapper(*words)[1]}


def test_explaining_a_proof_refers_to_check(mapper: Any) -> None:
    code, _, line = mapper("explain", "--proof", "proofs.json", "--json")
    assert code == 2 and "mapper check --json" in line


@pytest.mark.parametrize(
    ("name", "key"), [("dmazerunner-256", "schema"), ("matmul", "schema"), ("gemm", "text")]
)
def test_show_gives_a_document_as_values_and_a_kernel_as_text(mapper: Any, name: str, key: str) -> None:
    assert key in said(mapper("show", name, "--json"))


def test_generate_lists_the_files_that_it_wrote(mapper: Any, solution: str, tmp_path: Path) -> None:
    found = said(mapper("generate", solution, "-o", str(tmp_path / "code"), "--json"))
    assert found["schema"] == "mapper.generated/1" and found["files"]
    assert all(Path(file).is_file() for file in found["files"])


def test_report_says_where_its_page_is_and_how_large(mapper: Any, solution: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    found = said(mapper("report", solution, "-o", str(page), "--json"))
    assert found == {"schema": "mapper.report/1", "page": str(page), "bytes": page.stat().st_size}


def test_a_sweep_prints_comma_separated_values(mapper: Any) -> None:
    code, out, _ = mapper("sweep", "resnet-dmazerunner/conv5_2", "--vary", "rf.bytes=256,512", "--csv")
    lines = out.splitlines()
    assert code == 0 and len(lines) == 3 and lines[0].startswith("rf.bytes,") and lines[1].startswith("256,")
    first, second = csv.DictReader(io.StringIO(out))
    assert (first["energy_pj"], first["cycles"], first["gap"]) == ("1920242770", "3195584", "0.0")
    assert int(second["edp_pj_cycles"]) == 2784205169 * 2458496 and 0.73 < float(second["utilisation"]) < 0.74
