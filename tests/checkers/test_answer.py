"""Whatever a file holds and whatever ends a check, there is one answer: an exit code from 0 to 3 and plain lines."""

from __future__ import annotations

import hashlib
import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CHECKERS = sorted((Path(__file__).parents[2] / "checkers").glob("check_*.py"))
each_checker = pytest.mark.parametrize("checker", CHECKERS, ids=lambda path: path.stem)
RUN = """
import importlib.util, os, resource, signal, sys
spec = importlib.util.spec_from_file_location("checker", sys.argv[1])
checker = importlib.util.module_from_spec(spec)
spec.loader.exec_module(checker)
checker.check = lambda *given: {check}
sys.exit(checker.main(*sys.argv[2:]))
"""


def file_of(folder: Path, checker: Path, part: str = "part", count: int = 1) -> Path:
    """A file whose proofs get as far as this kind's own check."""
    kind = checker.stem.removeprefix("check_")
    proof: dict[str, Any] = {
        "schema": "mapper.proof/1", "kind": kind, "part": part, "problem": {}, "evidence": {},
        "problem_sha256": hashlib.sha256(b"{}").hexdigest(),
        "claim": {"status": "optimal", "value": 1, "bound": 1},
    }  # fmt: skip
    path = folder / "proof.json"
    path.write_text(json.dumps({"schema": "mapper.proofs/1", "proofs": [proof] * count}))
    return path


def answer(*words: object, **given: Any) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, *map(str, words)], capture_output=True, text=True, timeout=60, check=False, **given
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


@each_checker
def test_a_second_file_is_not_passed_over_in_silence(checker: Path, tmp_path: Path) -> None:
    path = file_of(tmp_path, checker)
    for words in ((), (path, path), (path, "--jsn"), ("",)):
        code, said = answer("-I", checker, *words)
        assert code == 2 and "is not called as" in said


@each_checker
@pytest.mark.parametrize("most", [60, resource.RLIM_INFINITY])
def test_limits_that_are_lower_already_are_kept(checker: Path, most: int, tmp_path: Path) -> None:
    def lowered() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, most if most < 0 else 1 << 30))
        resource.setrlimit(resource.RLIMIT_CPU, (50, most))

    assert answer("-I", checker, file_of(tmp_path, checker), preexec_fn=lowered)[0] == 2


@each_checker
@pytest.mark.parametrize(
    "check", ["os.abort()", "os.kill(os.getpid(), 9)", "sys.exit(0)", "1 + {}[0].x, exit"]
)
def test_a_check_that_is_ended_from_outside_certifies_nothing(
    checker: Path, check: str, tmp_path: Path
) -> None:
    code, said = answer("-c", RUN.format(check=check), checker, file_of(tmp_path, checker))
    assert code in (2, 3) and (": malformed: " in said or ": not certified: " in said)


@each_checker
def test_the_end_of_the_time_is_the_end_of_that_proof_alone(checker: Path, tmp_path: Path) -> None:
    run = RUN.format(check="signal.raise_signal(signal.SIGXCPU) or 'shown'")
    code, said = answer("-c", run, checker, file_of(tmp_path, checker, count=2))
    assert (code, said.splitlines()[:2]) == (
        3,
        ["part: not certified: takes more than 300 s", "part: certified: shown"],
    )


@each_checker
def test_no_name_is_obeyed_by_a_terminal_or_hides_the_answer(checker: Path, tmp_path: Path) -> None:
    name = "\x1b[2J\r\n\u202eok: certified: optimal" + " " * 5000
    code, said = answer("-I", checker, file_of(tmp_path, checker, name))
    assert code == 2
    assert said.isascii() and said.replace("\n", "").isprintable()
    assert len(said.splitlines()[0]) < 300
    code, said = answer("-I", checker, file_of(tmp_path, checker, name), "--json")
    assert code == 2 and json.loads(said)[0][:2] == [name, "malformed"]
