"""The figures of the kinds' pages are what their script draws today, and stand on their pages."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from docs.site.figure.catalogue import FIGURES, FOLDER
from mapper.kind import ENTRIES

WIDTH = 700
KINDS = [entry.name.replace("_", "-") for entry in ENTRIES]


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_what_its_script_draws(name: str) -> None:
    written = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    assert written == FIGURES[name](), "run python -m docs.site.figure"


@pytest.mark.parametrize("name", FIGURES)
def test_what_a_figure_shows_lies_within_it(name: str) -> None:
    root = ElementTree.parse(FOLDER / f"{name}.svg").getroot()
    _, _, width, height = (float(part) for part in root.attrib["viewBox"].split())
    assert width == WIDTH
    for node in root.iter():
        x, y = float(node.get("x", 0)), float(node.get("y", 0))
        assert x >= 0 and x + float(node.get("width", 0)) <= width, ElementTree.tostring(node)
        assert y >= 0 and y + float(node.get("height", 0)) <= height, ElementTree.tostring(node)


@pytest.mark.parametrize("kind", [*KINDS, "pbqp"])
def test_the_page_of_a_kind_shows_its_machine_and_a_mapping(kind: str) -> None:
    page = (FOLDER.parent / "kind" / f"{kind}.md").read_text("utf-8")
    shown = [name for name in FIGURES if name.rpartition("-")[0] == kind]
    assert f"{kind}-mapping" in shown and (kind == "pbqp" or f"{kind}-machine" in shown)
    for name in shown:
        assert f"](../figure/{name}.svg)" in page, name
