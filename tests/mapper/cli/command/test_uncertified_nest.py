"""Loop nests and recurrences on a TCPA say what their proof rests on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

NEST = {
    "schema": "mapper.nest/1",
    "name": "small",
    "loops": {"i": 3, "j": 4},
    "operands": [
        {"tensor": "y", "index": ["i"], "access": "read_write"},
        {"tensor": "A", "index": ["i", "j"]},
    ],
}
RECURRENCE = {
    "schema": "mapper.recurrence/1",
    "name": "small",
    "loops": {"t": 3, "i": 4},
    "statements": ["A[t, i] = A[t - 1, i] + x[i]"],
}


@pytest.mark.parametrize(("document", "said"), [(NEST, "loop nests"), (RECURRENCE, "recurrences")])
def test_what_has_no_checker_says_that_its_proof_rests_on_the_search(
    mapper: Any, tmp_path: Path, document: dict[str, Any], said: str
) -> None:
    path = tmp_path / "small.yaml"
    path.write_text(yaml.safe_dump(document))
    proofs = str(tmp_path / "proofs.json")
    code, out, _ = mapper("solve", str(path), "--arch", "tcpa-2x2", "--certificate", proofs)
    assert code == 0 and "proven by solver" in out
    assert f"not certified: no checker restates {said} on TCPAs" in out


@pytest.mark.parametrize(
    ("fix", "said"), [("layer-parallel", "once, before the first frame"), ("layer-by-layer", "do not count")]
)
def test_the_time_of_loading_weights_is_said(mapper: Any, fix: str, said: str) -> None:
    code, out, _ = mapper("solve", "mnist-tcpa", "--arch", "tcpa-4x4", "--fix", f"mode={fix}")
    assert code == 0 and "weights take 139 cycles or more" in out and said in out
