"""Formulas as pictures: braces, ceilings and sums are whole wherever a page is read, whatever fonts are there."""

from __future__ import annotations

import html
from functools import cache
from importlib import import_module
from typing import Any
from xml.etree.ElementTree import tostring

BLOCK, INLINE = 18.0, 16.0
"""Sizes in pixels of a formula on lines of its own, and of one among words."""


@cache
def typeset(tex: str, is_block: bool) -> str:
    """TeX as SVG whose letters are paths in the colour of the text around it; among words it stands on their line.

    Raises: ValueError if it cannot be read as TeX.
    """
    ziafont: Any = import_module("ziafont")
    ziamath: Any = import_module("ziamath")
    # Paths in place: symbols would share their names with those of other formulas on the page.
    ziafont.config.svg2 = False
    try:
        drawn = ziamath.Latex(
            tex, size=BLOCK if is_block else INLINE, inline=not is_block, color="currentColor"
        )
        element = drawn.svgxml()
        below = drawn.getyofst()
    except Exception as error:
        # Whatever its parser stumbles over.
        raise ValueError(f"no formula: {tex} ({error})") from None
    element.set("role", "img")
    element.set("aria-label", " ".join(tex.split()))
    element.set("class", "formula")
    element.set("style", "max-width: 100%; height: auto" if is_block else f"vertical-align: {below:.2f}px")
    text = tostring(element, encoding="unicode")
    return f'<div class="formula">{text}</div>' if is_block else text


def typeset_or_text(tex: str, is_block: bool = True) -> str:
    """The same, or the TeX itself, escaped, where it cannot be read."""
    try:
        return typeset(tex, is_block)
    except ValueError:
        return f"<pre>{html.escape(tex)}</pre>"
