"""Checkers share nothing with mapper, and the lines that all of them have are the same."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "checkers"
CHECKERS = sorted(FOLDER.glob("check_*.py"))
BEGIN, END = "# ---- The same lines", "# ---- This kind's own"
ALLOWED = {
    "bisect",
    "collections",
    "gc",
    "pathlib",
    "signal",
    "hashlib",
    "json",
    "re",
    "resource",
    "sys",
    "fractions",
    "functools",
    "itertools",
    "math",
    "os",
    "heapq",
    "operator",
}


def shared_lines(path: Path) -> str:
    text = path.read_text()
    return text[text.index(BEGIN) : text.index(END)]


@pytest.mark.parametrize("path", CHECKERS, ids=lambda path: path.stem)
def test_a_checker_imports_the_standard_library_alone(path: Path) -> None:
    imported = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.module is not None and node.level == 0
            imported.add(node.module)
    assert imported <= ALLOWED


@pytest.mark.parametrize("path", CHECKERS, ids=lambda path: path.stem)
def test_the_lines_that_all_checkers_have_are_the_same(path: Path) -> None:
    assert shared_lines(path) == shared_lines(CHECKERS[0])
