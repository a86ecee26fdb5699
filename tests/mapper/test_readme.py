"""The README's commands run as they stand, in the order in which they stand."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from mapper.cli import app as cli
from tests.console import commands, figures, run_commands

PAGE = Path(__file__).parents[2] / "README.md"
README = PAGE.read_text()


def test_every_command_of_the_readme_runs_and_shows_its_figures(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    printed = run_commands(PAGE, monkeypatch, capsys)
    assert len(figures(PAGE)) > 20
    for figure in figures(PAGE):
        assert figure in printed, f"{figure} stands in the README, but no command prints it"


def test_the_readme_shows_every_command() -> None:
    shown = {shlex.split(command)[1] for command in commands(PAGE)}
    single = {command.name or command.callback.__name__ for command in cli.app.registered_commands}  # type: ignore[union-attr]
    assert shown == single | {str(group.name) for group in cli.app.registered_groups}


def test_the_python_example_of_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert code is not None
    scope: dict[str, object] = {}
    exec(compile(code.group(1), "README.md", "exec"), scope)
    assert "tiling" in capsys.readouterr().out


def test_the_first_screen_has_the_two_commands() -> None:
    head = README[:900]
    assert "make solve" in head and "make test" in head
