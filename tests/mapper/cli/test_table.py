"""Tables on a terminal: columns go where there is no room, the least important first, and digits never."""

from __future__ import annotations

import os
import re
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.cli.table import CLOSE_GAP, GAP, fitting, needed_width, print_table

HEADING = ["part", "energy_pj", "cycles", "edp_pj_cycles", "latency_ms", "gap", "proof", "method", "seconds"]
LINE = [
    "conv5_2",
    "2,784,205,169",
    "2,458,496",
    "6.844957e+15",
    "4.917",
    "0.00%",
    "proven by solver",
    "auto",
    "0.02",
]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    def printed(columns: int, **named: Any) -> list[str]:
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size((columns, 24)))
        print_table(HEADING, [LINE], **named)
        return re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).splitlines()

    return printed


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_a_table_is_as_wide_as_the_terminal_at_most_and_says_what_it_left_out(
    terminal: Any, columns: int
) -> None:
    lines = terminal(columns, sought="edp")
    assert all(len(line) <= columns for line in lines)
    shown = lines[0].split()
    gone = [title for title in HEADING if title not in shown]
    assert (
        gone
        and " ".join(map(str.strip, lines[3:]))
        == f"left out at {columns} columns: {', '.join(gone)}; --wide shows all"
    )
    assert all(LINE[HEADING.index(title)] in lines[2] for title in shown)


def test_what_is_sought_and_its_proof_stay_and_its_gap_goes_last(terminal: Any) -> None:
    assert terminal(50, sought="energy")[0].split() == ["part", "energy_pj", "gap", "proof"]
    assert terminal(20, sought="energy")[0].split() == ["part", "energy_pj", "proof"]


def test_a_wide_table_has_all_columns_on_a_narrow_terminal(terminal: Any) -> None:
    lines = terminal(60, wide=True)
    assert lines[1].split() == HEADING and not any("left out" in line for line in lines)


def test_nothing_is_left_out_where_no_terminal_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    print_table(["a", *HEADING, *HEADING], [["b", *LINE, *LINE]])
    shown = capsys.readouterr().out.splitlines()
    assert shown[1].split() == ["a", *HEADING, *HEADING] and "…" not in "".join(shown)


@settings(deadline=None)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=12), st.integers(1, 200))
def test_columns_go_only_as_long_as_there_is_no_room(widths: list[int], columns: int) -> None:
    heading = [f"c{place}" for place in range(len(widths))]
    lines = [["x" * width for width in widths]]
    shown = fitting(heading, lines, columns, None)
    assert shown[0] == 0 and shown == list(range(len(shown)))
    assert needed_width(heading, lines, shown) <= columns or shown == [0]
    assert len(shown) == len(widths) or needed_width(heading, lines, [*shown, len(shown)]) > columns


def test_columns_stand_closer_before_one_goes(terminal: Any) -> None:
    shown = list(range(len(HEADING)))
    close, wide = (needed_width(HEADING, [LINE], shown, gap) for gap in (CLOSE_GAP, GAP))
    assert close < wide
    lines = terminal(close)
    assert lines[0].split() == HEADING and all(len(line) <= close for line in lines)
    assert "left out" not in "".join(lines) and "left out" in terminal(close - 1)[-1]
