"""The README's commands run as they stand, in the order in which they stand."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from mapper import cli, entry

README = (Path(__file__).parents[2] / "README.md").read_text()


def console_lines() -> list[str]:
    blocks = re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def commands() -> list[str]:
    return [line.removeprefix("$ ") for line in console_lines() if line.startswith("$ ")]


def test_every_command_of_the_readme_runs_and_shows_its_figures(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    printed = ""
    for command in commands():
        monkeypatch.setattr(sys, "argv", shlex.split(command))
        with pytest.raises(SystemExit) as ended:
            entry.main()
        assert not ended.value.code, command
        printed += capsys.readouterr().out
    figures = [
        figure
        for line in console_lines()
        if not line.startswith("$ ")
        for figure in re.findall(r"\d[\d,]*\.\d+e\+\d+|\d{1,3}(?:,\d{3})+", line)
    ]
    assert len(figures) > 20
    for figure in figures:
        assert figure in printed, f"{figure} stands in the README, but no command prints it"


def test_the_readme_shows_every_command() -> None:
    shown = {shlex.split(command)[1] for command in commands()}
    assert shown == {command.name or command.callback.__name__ for command in cli.app.registered_commands}  # type: ignore[union-attr]


def test_the_python_example_of_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert code is not None
    scope: dict[str, object] = {}
    exec(compile(code.group(1), "README.md", "exec"), scope)
    assert "tiling" in capsys.readouterr().out


def test_the_first_screen_has_the_two_commands() -> None:
    head = README[:900]
    assert "make solve" in head and "make test" in head
