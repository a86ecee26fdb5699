"""Formulas are pictures that need no font."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from mapper.workloads.text.formula import typeset, typeset_or_text

SVG = "{http://www.w3.org/2000/svg}"
HARD = (
    r"\left\lceil\frac{M_i}{P_i}\right\rceil",
    r"\begin{cases} 1 & J \text{ innermost} \\ n_J & \text{else} \end{cases}",
    r"\min \sum_{l \in L} \sum_{o} T_{l,o}\, x_{l,o}",
)


@pytest.mark.parametrize("tex", HARD)
@pytest.mark.parametrize("is_block", [True, False])
def test_braces_ceilings_and_sums_are_paths_and_nothing_is_left_to_fonts(tex: str, is_block: bool) -> None:
    root = ElementTree.fromstring(typeset(tex, is_block))
    drawn = root if root.tag == f"{SVG}svg" else root[0]
    tags = {element.tag for element in drawn.iter()}
    assert f"{SVG}path" in tags and not tags & {f"{SVG}text", f"{SVG}use", f"{SVG}symbol"}
    assert drawn.get("aria-label") == tex


def test_a_ceiling_is_as_high_as_what_stands_in_it() -> None:
    high, low = (
        float(ElementTree.fromstring(typeset(tex, True))[0].get("height", 0))
        for tex in (r"\left\lceil\frac{a}{b}\right\rceil", r"\lceil a \rceil")
    )
    assert high > 1.3 * low


def test_what_is_no_formula_stays_as_it_is_written() -> None:
    assert typeset_or_text(r"\frac{<") == r"<pre>\frac{&lt;</pre>"
