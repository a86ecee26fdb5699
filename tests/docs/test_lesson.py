"""Lessons run, refute their first formulations, and render."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import jupytext
import pytest
from nbclient.exceptions import CellExecutionError

from docs.lessons import FOLDER, LESSONS
from docs.lessons.render import FIGURE, embed, render
from mapper.kind import kinds

SECTIONS = [
    "The problem",
    "The mathematics",
    "A first formulation",
    "The check",
    "The right one",
    "The fast one",
    "A real case",
    "Exercises",
]
LONG = ("hierarchy", "trace_partition")
"""Lessons that take many seconds: they run in `make slow`."""
RUN = [pytest.param(one, marks=pytest.mark.slow if one in LONG else ()) for one in LESSONS]
NAMES = ("wrong_verdict", "right_verdict", "fast_verdict", "speedup")
DRIVER = f"""
import json, runpy, sys
scope = runpy.run_path(sys.argv[1], run_name="__main__")
print(json.dumps({{name: scope[name] for name in {NAMES}}}))
"""


@cache
def outcome(lesson: str) -> tuple[str, dict[str, Any]]:
    """What the lesson prints, and the values of its names in the end."""
    command = [sys.executable, "-c", DRIVER, str(FOLDER / f"{lesson}.py")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=FOLDER.parents[1])
    assert ended.returncode == 0, ended.stderr[-2000:]
    *printed, last = ended.stdout.splitlines()
    return "\n".join(printed), json.loads(last)


@pytest.mark.parametrize("lesson", RUN)
def test_a_lesson_refutes_its_first_formulation(lesson: str) -> None:
    printed, values = outcome(lesson)
    assert values["wrong_verdict"]
    assert values["wrong_verdict"][0] in printed


@pytest.mark.parametrize("lesson", RUN)
def test_the_check_accepts_the_right_and_the_fast_formulation(lesson: str) -> None:
    _, values = outcome(lesson)
    assert values["right_verdict"] == values["fast_verdict"] == []


@pytest.mark.parametrize("lesson", RUN)
def test_the_measured_difference_is_printed_as_a_ratio(lesson: str) -> None:
    printed, values = outcome(lesson)
    assert values["speedup"] > 0
    assert "times as fast" in printed


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_is_a_notebook_with_every_section_in_order(lesson: str) -> None:
    cells = jupytext.read(FOLDER / f"{lesson}.py").cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == SECTIONS
    assert len(re.findall(r"^# ", text, re.MULTILINE)) == 1
    assert f"python -m docs.lessons.check {lesson} " in text
    assert text.count("$$") >= 4


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_has_a_picture_of_its_machine_and_of_its_solution(lesson: str) -> None:
    cells = jupytext.read(FOLDER / f"{lesson}.py").cells
    drawn = [found for cell in cells for found in FIGURE.findall(cell.source)]
    assert drawn and all((FOLDER.parent / "figure" / name).is_file() for name in drawn)
    assert [cell.source for cell in cells if cell.cell_type == "code"][-1] == "solution"


def test_a_notebook_stands_alone_with_its_pictures() -> None:
    notebook = jupytext.reads("# %% [markdown]\n# ![machine](../figure/tiling-machine.svg)\n", "py:percent")
    embed(notebook, "notebook")
    assert "(data:image/svg+xml;base64," in notebook.cells[0].source


def test_every_kind_of_problem_has_its_lesson() -> None:
    assert {kind.name for kind in kinds()} == set(LESSONS)


def test_the_folders_scripts_are_the_lessons_and_their_tools() -> None:
    scripts = {path.stem for path in FOLDER.glob("*.py")}
    assert scripts == {*LESSONS, "__init__", "attempt", "check", "render"}
    assert {path.stem for path in Path(FOLDER, "exercise").glob("*.py")} == {*LESSONS, "__init__", "exercise"}


def test_a_page_has_text_formulas_code_and_outputs(tmp_path: Path) -> None:
    lesson = tmp_path / "lesson.py"
    lesson.write_text("# %% [markdown]\n# # Title\n# $$x^2$$\n\n# %%\nprint(6 * 7)\n")
    markdown = render(lesson)
    assert "# Title" in markdown and "$$x^2$$" in markdown
    assert "print(6 * 7)" in markdown and "    42" in markdown
    assert "<h1" in render(lesson, "html")


def test_a_lesson_that_fails_is_not_rendered(tmp_path: Path) -> None:
    lesson = tmp_path / "lesson.py"
    lesson.write_text("# %%\nraise ValueError('no')\n")
    with pytest.raises(CellExecutionError, match="no"):
        render(lesson)
