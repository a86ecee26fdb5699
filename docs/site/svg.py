"""Pictures as SVG text: a white sheet, boxes, lines, arrows and words in a few styles."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

INK, QUIET, LINE, PAPER = "#1b2733", "#51606e", "#9aa7b3", "#ffffff"
FONT = "system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif"

STYLE = f"""text {{ font: 13px {FONT}; fill: {INK}; }}
.title {{ font-weight: 600; }} .small {{ font-size: 12px; }} .quiet {{ font-size: 12px; fill: {QUIET}; }}
.mono {{ font-family: ui-monospace, 'DejaVu Sans Mono', monospace; font-size: 12.5px; font-weight: 600; }}
.code {{ font-family: ui-monospace, 'DejaVu Sans Mono', monospace; font-size: 12.5px; }}
.tiny {{ font-size: 11px; }}"""

TIP = (
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
    'markerUnits="userSpaceOnUse" orient="auto-start-reverse">'
    f'<path d="M0,0 L8,4 L0,8 z" fill="{QUIET}"/></marker></defs>'
)


def page(width: int, height: int, label: str, parts: Sequence[str]) -> str:
    """A whole picture of this size in pixels; ``label`` is what it shows, for those who do not see it."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{escape(label)}">'
    )
    paper = f'<rect width="{width}" height="{height}" rx="10" fill="{PAPER}"/>'
    return "\n".join([head, f"<style>{STYLE}</style>", TIP, paper, *parts, "</svg>"]) + "\n"


def box(
    x: float, y: float, width: float, height: float, colour: str, stroke: str | None = None, corner: float = 6
) -> str:
    edge = f' stroke="{stroke}"' if stroke else ""
    size = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
    return f'<rect {size} rx="{corner:g}" fill="{colour}"{edge}/>'


def text(x: float, y: float, said: str, style: str = "", anchor: str = "middle") -> str:
    named = f' class="{style}"' if style else ""
    return f'<text x="{x:g}" y="{y:g}"{named} text-anchor="{anchor}">{escape(said)}</text>'


def written(x: float, y: float, said: str, style: str, anchor: str, step: int) -> list[str]:
    """Text of several lines."""
    return [text(x, y + step * line, words, style, anchor) for line, words in enumerate(said.splitlines())]


def line(
    points: Sequence[tuple[float, float]],
    colour: str = QUIET,
    width: float = 1.5,
    tip: bool = False,
    tail: bool = False,
    dashed: bool = False,
) -> str:
    """A line through these points, with a tip at its end or at both."""
    path = "M" + " L".join(f"{x:.4g},{y:.4g}" for x, y in points)
    return curve(path, colour, width, tip, tail, dashed)


def curve(
    path: str,
    colour: str = QUIET,
    width: float = 1.5,
    tip: bool = False,
    tail: bool = False,
    dashed: bool = False,
) -> str:
    """A line along a path."""
    marks = ' marker-end="url(#tip)"' if tip else ""
    marks += ' marker-start="url(#tip)"' if tail else ""
    marks += ' stroke-dasharray="4 3"' if dashed else ""
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width:g}"{marks}/>'
