"""The README's commands run as they stand, in the order in which they stand, and so do those of the tour."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from mapper.cli import app as cli
from mapper.kind import ENTRIES
from tests.console import commands, figures, files, run_commands

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "README.md"
TOUR = ROOT / "docs" / "tour.md"
README = PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("page", "least"),
    [pytest.param(PAGE, 10, id="README"), pytest.param(TOUR, 20, id="tour", marks=pytest.mark.slow)],
)
def test_every_command_of_the_page_runs_and_shows_its_figures(
    page: Path,
    least: int,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    printed = run_commands(page, monkeypatch, capsys)
    assert len(figures(page)) > least
    for figure in figures(page):
        assert figure in printed, f"{figure} stands in {page.name}, but no command prints it"


def test_the_tour_shows_every_command() -> None:
    shown = {shlex.split(command)[1] for command in commands(TOUR)}
    single = {command.name or command.callback.__name__ for command in cli.app.registered_commands}  # type: ignore[union-attr]
    # Compiling everything ahead takes minutes: the tour tells of it.
    assert "`mapper warm-up`" in TOUR.read_text(encoding="utf-8")
    assert shown | {"warm-up"} == single | {str(group.name) for group in cli.app.registered_groups}


def test_the_readme_solves_one_problem_of_every_kind() -> None:
    kinds = {entry.name for entry in ENTRIES} | {"pbqp"}
    assert kinds == set(re.findall(r"^\| `(\w+)`", README, re.MULTILINE))
    assert len([command for command in commands(PAGE) if command.startswith("mapper solve ")]) == len(kinds)
    assert set(files(PAGE)) == {"choices.in"}


@pytest.mark.parametrize("page", [PAGE, TOUR], ids=["README", "tour"])
def test_the_python_example_of_the_page_runs(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = re.search(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert code is not None
    scope: dict[str, object] = {}
    exec(compile(code.group(1), page.name, "exec"), scope)
    assert "tiling" in capsys.readouterr().out


def test_the_first_screen_has_the_two_commands() -> None:
    head = README[:900]
    assert "make solve" in head and "make test" in head


def test_the_pictures_of_the_readme_are_in_the_repository_and_small() -> None:
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    assert len(pictures) == 2
    for picture in pictures:
        assert (ROOT / picture).stat().st_size < 200_000, picture
