"""Commands that a page shows in its ``console`` blocks, the files it shows, and what running them prints."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from mapper.cli import entry

FIGURE = re.compile(r"\d[\d,]*\.\d+e\+\d+|\d{1,3}(?:,\d{3})+")


LONG = "<!-- make slow -->\n"
"""What stands before a block whose commands take many seconds, and show what another test holds."""


def console_lines(page: Path, long: bool = True) -> list[str]:
    """All lines of the page's ``console`` blocks; those of its long blocks only if asked for."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(rf"({LONG})?```console\n(.*?)```", text, re.DOTALL)
    return [line for mark, block in blocks if long or not mark for line in block.splitlines()]


def commands(page: Path, long: bool = True) -> list[str]:
    """The commands of a page, in order."""
    return [line.removeprefix("$ ") for line in console_lines(page, long) if line.startswith("$ ")]


def files(page: Path) -> dict[str, str]:
    """The files that a page shows in full: the blocks that have a title, by that name."""
    text = page.read_text(encoding="utf-8")
    return dict(re.findall(r'^```\w+ title="([\w.-]+)"\n(.*?)^```', text, re.DOTALL | re.MULTILINE))


def figures(page: Path, long: bool = True) -> list[str]:
    """Large and long numbers in what a page says that its commands print."""
    shown = [line for line in console_lines(page, long) if not line.startswith("$ ")]
    return [figure for line in shown for figure in FIGURE.findall(line)]


def run_commands(
    page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], long: bool = True
) -> str:
    """Run the page's commands in order in the folder at hand, beside the files that it shows; what they print. Each
    must end with exit code 0."""
    for name, content in files(page).items():
        Path(name).write_text(content, encoding="utf-8")
    printed = ""
    for command in commands(page, long):
        monkeypatch.setattr(sys, "argv", shlex.split(command))
        with pytest.raises(SystemExit) as ended:
            entry.main()
        assert not ended.value.code, f"{page.name}: {command}\n{capsys.readouterr().err}"
        printed += capsys.readouterr().out
    return printed
