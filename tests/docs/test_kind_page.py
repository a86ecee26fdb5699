"""The page of a kind answers the four questions that a reader brings to it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mapper.kind import ENTRIES

DOCS = Path(__file__).parents[2] / "docs"
QUESTIONS = (
    "Definition",
    "Restrictions",
    "What proven means",
    "What the paper leaves open, and what was chosen",
)


@pytest.mark.parametrize("page", sorted(DOCS.glob("kind/**/*.md")), ids=lambda page: page.stem)
def test_every_page_on_a_kind_has_a_picture_that_is_there(page: Path) -> None:
    shown = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page.read_text("utf-8"))
    assert shown
    assert all((page.parent / path).is_file() for path in shown)


@pytest.mark.parametrize("kind", [entry.name for entry in ENTRIES])
def test_the_page_of_a_kind_has_a_section_for_each_question(kind: str) -> None:
    page = (DOCS / "kind" / f"{kind.replace('_', '-')}.md").read_text("utf-8")
    sections = {
        heading.strip(): text.strip()
        for heading, _, text in (part.partition("\n") for part in page.split("\n## ")[1:])
    }
    assert all(sections.get(question) for question in QUESTIONS)
