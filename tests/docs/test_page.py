"""Pages: what they show runs, what they link to is there, and every option of the command line is documented."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from docs.site import command_reference
from mapper.cli.app import app
from tests.console import commands, figures, run_commands

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
# The tour runs beside the README: tests/mapper/test_readme.py.
SHOWING = [page for page in PAGES if commands(page) and page != ROOT / "docs" / "tour.md"]
WITH_LONG = [page for page in SHOWING if commands(page, long=False) != commands(page)]
COMMANDS = list(command_reference.commands(typer.main.get_command(app)))


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", SHOWING, ids=name)
def test_every_command_of_a_page_runs_and_shows_its_figures(
    page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs_as_shown(page, False, monkeypatch, tmp_path, capsys)


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_LONG, ids=name)
def test_the_long_commands_of_a_page_do_too(
    page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs_as_shown(page, True, monkeypatch, tmp_path, capsys)


def runs_as_shown(
    page: Path,
    long: bool,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    printed = run_commands(page, monkeypatch, capsys, long)
    for figure in figures(page, long):
        assert figure in printed, f"{figure} stands in {page.name}, but no command prints it"


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES], ids=name)
def test_links_of_a_page_lead_to_files(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        if not re.match(r"[a-z]+:|#", target):
            assert (page.parent / target.partition("#")[0]).exists(), f"{name(page)} links to {target}"


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES], ids=name)
def test_every_row_of_a_table_is_one_line_with_a_cell_a_column(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    for table in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
        rows = table.splitlines()
        assert re.fullmatch(r"[|:\- ]+", "".join(rows[1:2])), f"{rows[0]} has no rule below it"
        columns = {len(re.findall(r"(?<!\\)\|", row)) for row in rows}
        assert len(columns) == 1 and all(row.endswith("|") for row in rows), f"{rows[0]} has unequal rows"


def test_every_page_has_its_place_in_the_navigation() -> None:
    shown = (ROOT / "mkdocs.yml").read_text("utf-8")
    pages = {str(page.relative_to(ROOT / "docs")) for page in PAGES} - {"lessons/README.md"}
    assert not {page for page in pages if page not in shown}


def test_the_reference_of_the_command_line_is_what_the_commands_say() -> None:
    written = command_reference.PAGE.read_text("utf-8")
    assert written == command_reference.reference(), "run python -m docs.site.command_reference"


@pytest.mark.parametrize(("words", "command"), COMMANDS, ids=[" ".join(words) for words, _ in COMMANDS])
def test_a_command_has_help_an_example_and_help_for_every_option(
    words: tuple[str, ...], command: object
) -> None:
    section = command_reference.section(words, command)
    assert f"```text\n{' '.join(words)}" in section.split("Example:")[1]
    for parameter in command.params:  # type: ignore[attr-defined]
        assert parameter.help, f"{' '.join(words)}: {parameter.name} has no help"
    assert all(option in section for option in command_reference.option_names(command))


@pytest.mark.slow
def test_the_site_builds_without_a_warning_and_loads_nothing_from_the_network(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mkdocs",
            "build",
            "--strict",
            "--quiet",
            "--site-dir",
            str(tmp_path / "site"),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert 'id="mapper.solve"' in (tmp_path / "site" / "api" / "mapper.html").read_text("utf-8")
    for page in (tmp_path / "site").rglob("*.html"):
        loaded = re.findall(r'<(?:script|img|iframe)[^>]+src="(https?://[^"]*)"', page.read_text("utf-8"))
        assert not loaded, f"{page.name} loads {loaded[0]}"
