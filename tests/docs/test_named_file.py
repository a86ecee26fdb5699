"""Files and modules that pages name are there, under the names that they have today."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
ROOMS = (
    "arch", "bench", "checkers", "codegen", "docs", "formulations", "models", "sim", "solver", "src", "tests",
    "workloads",
)  # fmt: skip


@cache
def sources() -> tuple[str, ...]:
    """Every source file of the repository, relative to it; the links of ``src/mapper`` are not followed."""
    found = (path.relative_to(ROOT) for room in ROOMS for path in (ROOT / room).rglob("*.py"))
    return tuple(path.as_posix() for path in found)


@cache
def is_there(pattern: str) -> bool:
    """Whether a file has this name, or ends in this path; a star stands for one folder or file."""
    expression = re.compile(rf"(?:^|/){re.escape(pattern).replace(re.escape('*'), '[^/]*')}$")
    return any(expression.search(path) for path in sources())


def named(text: str) -> set[str]:
    """The source files that a text names between backticks."""
    return set(re.findall(r"`([\w./{},*-]+\.py)`", text))


def spelt_out(name: str) -> Iterator[str]:
    """What a name with braces stands for; words in capitals (KIND, FLOOR) stand for any folder or file."""
    found = re.search(r"\{([^}]*)\}", name)
    if found is None:
        yield re.sub(r"\b[A-Z]+\b", "*", name)
        return
    for one in found[1].split(","):
        yield from spelt_out(name.replace(found[0], one, 1))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_source_file_that_a_page_names_is_there(page: Path) -> None:
    for name in sorted(named(page.read_text("utf-8"))):
        for pattern in spelt_out(name):
            assert is_there(pattern), f"{name}: there is no {pattern}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_module_that_a_page_calls_is_there(page: Path) -> None:
    for module in re.findall(r"python3? -m\s+((?:bench|docs|tests)(?:\.\w+)+)", page.read_text("utf-8")):
        path = ROOT.joinpath(*module.split("."))
        assert path.with_suffix(".py").is_file() or (path / "__main__.py").is_file(), module


def test_names_that_have_gone_are_found() -> None:
    text = "see `situation.py`, `models/KIND/{mapping,situation}.py` and `python -m x`"
    gone = {pattern for name in named(text) for pattern in spelt_out(name) if not is_there(pattern)}
    assert gone == {"situation.py", "models/*/situation.py"}
