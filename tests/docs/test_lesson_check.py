"""The checker of exercises accepts what is right and says in a line what is not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from docs.lessons import FOLDER, LESSONS

SAMPLE = Path(__file__).parent / "sample"
PERTURBED = """
import runpy
scope = runpy.run_path({sample!r})

def off(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, list):
        return [off(value[0]), *value[1:]] if value else [0]
    if isinstance(value, dict):
        first = next(iter(value))
        return {{**value, first: off(value[first])}}
    return [value]

def changed(function):
    return lambda *arguments: off(function(*arguments))

exercise_1, exercise_2, exercise_3 = (changed(scope[f"exercise_{{n}}"]) for n in (1, 2, 3))
"""


def check(lesson: str, file: Path, *words: str) -> tuple[int, list[str]]:
    """Exit code and lines of the checker."""
    command = [sys.executable, "-m", "docs.lessons.check", lesson, str(file), *words]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=FOLDER.parents[1])
    assert "Traceback" not in ended.stderr
    return ended.returncode, ended.stdout.splitlines()


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_sample_solutions_are_right(lesson: str) -> None:
    code, lines = check(lesson, SAMPLE / f"{lesson}.py")
    assert lines == [f"exercise_{n}: right" for n in (1, 2, 3)]
    assert code == 0


@pytest.mark.parametrize("lesson", LESSONS)
def test_answers_that_are_a_little_off_are_refused(lesson: str, tmp_path: Path) -> None:
    file = tmp_path / "answers.py"
    file.write_text(PERTURBED.format(sample=str(SAMPLE / f"{lesson}.py")))
    code, lines = check(lesson, file)
    assert code == 1
    assert len(lines) == 3
    assert all(line.startswith(f"exercise_{n}: for (") for n, line in enumerate(lines, 1))


def test_a_function_that_hangs_raises_or_is_missing_is_named_in_a_line_each(tmp_path: Path) -> None:
    file = tmp_path / "answers.py"
    file.write_text(
        "def exercise_1(*arguments):\n    while True:\n        pass\n\n\n"
        "def exercise_2(*arguments):\n    return [][0]\n"
    )
    code, lines = check(LESSONS[0], file, "--seconds", "4")
    assert code == 1
    assert lines == [
        "exercise_1: did not end within 4 s",
        "exercise_2: raised IndexError (line 7): list index out of range",
        "exercise_3: the file has no function exercise_3",
    ]


def test_what_a_function_starts_or_prints_does_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "answers.py"
    file.write_text(
        "import os, subprocess, sys\n\n\n"
        "def exercise_1(*arguments):\n"
        "    subprocess.run([sys.executable, '-c', 'while True: pass'])\n\n\n"
        "def exercise_2(*arguments):\n    print('x' * 1_000_000)\n    return {1, 2}\n\n\n"
        "def exercise_3(*arguments):\n    os._exit(7)\n"
    )
    _, lines = check(LESSONS[0], file, "--seconds", "4")
    assert lines == [
        "exercise_1: did not end within 4 s",
        "exercise_2: returned something else than numbers, strings, lists and dictionaries",
        "exercise_3: its process ended with code 7",
    ]


def test_a_file_that_is_no_python_is_refused_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "answers.py"
    file.write_text("def exercise_1():\n    return 1\n\n\ndef exercise_2(:\n")
    code, lines = check(LESSONS[0], file)
    assert code == 1
    assert all("raised SyntaxError (line 5)" in line for line in lines)


def test_a_missing_file_and_an_unknown_lesson_are_no_exercise(tmp_path: Path) -> None:
    assert check(LESSONS[0], tmp_path / "absent.py") == (2, [])
    assert check("cooking", SAMPLE / f"{LESSONS[0]}.py") == (2, [])
