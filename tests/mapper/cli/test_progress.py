"""What a search says of itself while it runs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from mapper.api.problem import pose
from mapper.api.solving import Search, run
from mapper.cli.progress import CLEAR, READING, ProgressReport, reading, standing
from mapper.models.limit import Limit, Standing
from mapper.models.plain import bridged
from mapper.solver.method import Progress


@pytest.mark.parametrize(
    ("progress", "gap", "said"),
    [
        (Progress(None, None, 0), None, "nothing found yet"),
        (Progress(None, 4, 1200), None, "nothing found yet, bound 4, 1,200 tried"),
        (Progress(2, 1, 9, "deciding II 1"), 0.5, "best 2, bound 1, gap 50.00%; deciding II 1"),
        (Progress(2, None, 9), None, "best 2"),
    ],
)
def test_a_search_says_what_it_has_and_what_is_left(progress: Progress, gap: float | None, said: str) -> None:
    assert standing(progress, gap) == said


def test_every_ii_that_cp_sat_decides_is_told_while_it_is_decided() -> None:
    told: list[Progress] = []
    search = Search(method="cp-sat", listener=lambda part, progress: told.append(progress), workers=1)
    found = run(pose("dot", "srp-2x2", None), search).certificate
    doing = [progress.doing for progress in told if progress.doing is not None]
    assert doing[0] == f"trying II {told[0].bound}" and told[0].evaluations == 0
    assert all(word.split(" II ")[0] in ("trying", "deciding", "placing operations for") for word in doing)
    assert told[-1].value == told[-1].bound == found.value


def test_compiling_is_told_whenever_it_has_come_further() -> None:
    told: list[Standing] = []
    limit = Limit(lambda: None, told.append, bridged)
    first, second = Standing(0, 1, "search"), Standing(1, 1, None)
    for standing_now in (first, first, second, second):
        limit.tell(standing_now)
    assert told == [first, second]


def test_a_log_tells_how_far_compiling_is(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with ProgressReport(1, True, path) as report:
        report.compiling(Standing(1, 3, "search"))
    event = json.loads(path.read_text())
    assert (event["event"], event["done"], event["of"]) == ("compiling", 1, 3)


def test_what_cannot_be_compiled_is_said_in_a_line_once(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressReport(1, True, None) as report:
        for done in (1, 2):
            report.compiling(Standing(done, 2, None, ("search",)))
    said = capsys.readouterr().err
    assert said.startswith("mapper: search: cannot be compiled") and said.count("\n") == 1


def test_a_terminal_says_at_once_that_something_is_read(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with reading(quiet=False):
        assert capsys.readouterr().err == READING
    assert capsys.readouterr().err == CLEAR
    with reading(quiet=True):
        assert capsys.readouterr().err == ""
