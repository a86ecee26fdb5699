"""The page of recomputed values: one self-contained HTML text in the style of report pages."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal
from importlib import metadata
from importlib.resources import files
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from docs.papers.row import VERDICTS, Paper, Row, Value
from docs.papers.running import Outcome
from mapper.api.solution import DISTRIBUTION
from mapper.reporting.drawing import figure, node, table

TITLE = "The papers' tables and figures, recomputed"
STYLE = """
.rows { width: 100%; } .rows td { text-align: right; }
.rows :is(th, td):is(:nth-child(2), :nth-child(5), :nth-child(6), :last-child) { text-align: left; }
.rows th:first-child { white-space: normal; min-width: 6rem; } .rows td:last-child { min-width: 14rem; }
.agrees td:nth-child(6) { color: var(--good); } .differs td:nth-child(6) { color: var(--open); }
.failed { border-left: .4rem solid var(--bad); background: var(--soft); padding: .5rem 1rem; }
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
MEANING = (
    "Every value under “computed” comes from this run of the model, the searches and the simulators; the benchmarks "
    "call the same functions. Agrees: rounded or cut off after the last published digit, the value equals the "
    "published one. Fitted: it does, because a parameter of the model was taken from it; this proves nothing. Differs: "
    "it does not, and the reason is given. Not published: the paper's text has no value, for instance because the bars "
    "of a figure have no labels. Not computed: the reason says what is missing. Seconds are those of this computer and "
    "say nothing about those in the paper."
)


def page(done: Sequence[tuple[Paper, Sequence[Outcome]]]) -> str:
    """The page about the papers and the outcomes of their items, in ASCII (other characters are references)."""
    sheet = (files("mapper.reporting") / "template" / "page.css").read_text(encoding="utf-8")
    head = node(
        "head",
        node("meta", charset="utf-8"),
        node("meta", name="viewport", content="width=device-width, initial-scale=1"),
        node("meta", name="color-scheme", content="light dark"),
        node("meta", http_equiv="Content-Security-Policy", content=POLICY),
        node("link", rel="icon", href="data:,"),
        node("title", TITLE),
        node("style"),
    )
    head[-1].text = sheet + STYLE
    body = node(
        "body",
        node("a", "Skip to the content", class_="skip", href="#content"),
        node("header", node("h1", TITLE)),
        node("main", *summary(done), *(section(*one) for one in done), id="content"),
        node("footer", node("p", f"Written by mapper {metadata.version(DISTRIBUTION)}.")),
    )
    text = ElementTree.tostring(node("html", head, body, lang="en"), encoding="unicode", method="html")
    return "<!doctype html>\n" + text.encode("ascii", "xmlcharrefreplace").decode() + "\n"


def summary(done: Sequence[tuple[Paper, Sequence[Outcome]]]) -> list[Element]:
    """What the verdicts mean, and how many of each there are."""
    lines, every = [], [one for _, outcomes in done for one in outcomes]
    for paper, outcomes in done:
        lines.append([paper.title, *_counts(outcomes)])
    if len(done) > 1:
        lines.append(["all", *_counts(every)])
    heading = ["paper", "rows", *VERDICTS, "items failed", "seconds"]
    links = [node("li", node("a", paper.title, href=f"#{paper.name}")) for paper, _ in done]
    return [
        node("p", MEANING),
        node("p", f"Run on {os.cpu_count()} processor cores, one item after another."),
        table(heading, lines),
        node("nav", node("ul", *links), aria_label="papers"),
    ]


def _counts(outcomes: Iterable[Outcome]) -> list[str]:
    known = list(outcomes)
    counts = Counter(row.verdict for one in known if one.found for row in one.found.rows)
    failed = sum(one.found is None for one in known)
    seconds = sum(one.seconds for one in known)
    return [
        str(counts.total()),
        *(str(counts[verdict]) for verdict in VERDICTS),
        str(failed),
        f"{seconds:.0f}",
    ]


def section(paper: Paper, outcomes: Sequence[Outcome]) -> Element:
    """One paper, item by item."""
    title = f"{paper.name}-title"
    parts = [part for one in outcomes for part in _item(one)]
    return node(
        "section",
        node("h2", paper.title, id=title),
        node("p", paper.aside),
        *parts,
        id=paper.name,
        aria_labelledby=title,
    )


def _item(one: Outcome) -> list[Element]:
    elements = [node("h3", one.item.place), node("p", one.item.about)]
    if one.found is None:
        return [*elements, node("p", f"Failed after {one.seconds:.0f} s: {one.error}", class_="failed")]
    if one.found.rows:
        elements.append(rows_table(one.found.rows))
    elements += [figure(drawing.picture, drawing.caption) for drawing in one.found.drawings]
    return [*elements, node("p", node("small", f"{one.seconds:.1f} s (limit: {one.item.seconds} s)."))]


def rows_table(rows: Sequence[Row]) -> Element:
    """The rows of an item; each carries its verdict as its class."""
    heading = ["place", "quantity", "published", "computed", "unit", "verdict", "reason"]
    cells = [
        [
            row.place,
            row.quantity,
            shown(row.published),
            shown(row.computed),
            row.unit,
            row.verdict,
            row.fitted if row.verdict == "fitted" else row.reason,
        ]
        for row in rows
    ]
    made = table(heading, cells, class_="rows")
    for line, row in zip(made.iter("tr"), [None, *rows], strict=True):
        if row is not None:
            line.set("class", row.verdict.replace(" ", "-"))
    return made


def shown(value: Value | None) -> str:
    """A value as the page writes it: whole numbers with separators, others with at most five digits."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if abs(float(value)) >= 1e13:
        digits = len(value.as_tuple().digits) if isinstance(value, Decimal) else 5
        return f"{value:.{digits - 1}e}".replace("e+", "e")
    if isinstance(value, Decimal):
        return f"{value:,f}"
    if isinstance(value, int) or value == int(value):
        return f"{int(value):,}"
    return f"{value:,.1f}" if abs(value) >= 10_000 else f"{value:,.5g}"
