"""A built formulation for people: text, Markdown, LaTeX or HTML, from the parts that built the model."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from typing import Literal, get_args

from mapper.formulations.formulation import BuiltPart, Formulation, Kind
from mapper.workloads.document import InputError
from mapper.workloads.text.formula import typeset_or_text
from mapper.workloads.text.plain_text import latex, markdown, plain

Format = Literal["text", "markdown", "latex", "html"]
FORMATS: tuple[Format, ...] = get_args(Format)
HEADINGS: dict[Kind, str] = {
    "set": "Sets",
    "variables": "Variables",
    "family": "Constraints",
    "objective": "Objective",
}
INSTANCE = "This instance"
STYLE = """
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 52rem; margin: 0 auto; padding: 1rem; }
h2 { border-bottom: 1px solid #8888; margin-top: 2rem; } dt { margin-top: 1rem; } dd { margin: 0 0 0 1rem; }
div.formula { margin: .6rem 0; overflow-x: auto; } pre { overflow-x: auto; }
@media print { dt, dd { break-inside: avoid; } }
"""
Sections = list[tuple[str, list[BuiltPart]]]


def render(formulation: Formulation, form: str = "text", remarks: Sequence[str] = ()) -> str:
    """The built ``formulation`` in words, symbols and the counts of this instance; ``remarks`` are lines of set text
    about the instance that follow.

    Raises: InputError if ``form`` is not one of ``FORMATS``.
    """
    writers: dict[str, Callable[[Formulation, Sections, Sequence[str]], str]] = {
        "text": _text,
        "markdown": _markdown,
        "latex": _latex,
        "html": _html,
    }
    if form not in writers:
        raise InputError("--format", form, f"no such format; use {', '.join(FORMATS)}")
    sections = [
        (heading, [built for built in formulation.built if built.part.kind == kind])
        for kind, heading in HEADINGS.items()
    ]
    return writers[form](formulation, [section for section in sections if section[1]], remarks)


def _total(formulation: Formulation) -> str:
    variables = sum(part.variables for part in formulation.built)
    constraints = sum(part.constraints for part in formulation.built)
    return f"{variables:,} variables, {constraints:,} constraints"


def _count(built: BuiltPart) -> str:
    if built.part.kind == "set":
        return f"{built.members:,}"
    counts = [(built.variables, "variable"), (built.constraints, "constraint")]
    said = [f"{count:,} {noun}{'' if count == 1 else 's'}" for count, noun in counts if count]
    return ", ".join(said) or "nothing here"


def _name(built: BuiltPart) -> str:
    return built.part.name.replace("_", " ")


def _text(formulation: Formulation, sections: Sections, remarks: Sequence[str]) -> str:
    lines = [plain(formulation.title), f"  {plain(formulation.instance())}", f"  {_total(formulation)}"]
    for heading, parts in sections:
        lines += ["", heading]
        for built in parts:
            lines += [
                f"  {_name(built)} ({_count(built)})",
                f"    {built.part.sentence}",
                f"    {built.part.tex}",
            ]
    if remarks:
        lines += ["", INSTANCE, *(f"  {plain(line)}" for line in remarks)]
    return "\n".join(lines) + "\n"


def _markdown(formulation: Formulation, sections: Sections, remarks: Sequence[str]) -> str:
    lines = [
        f"# {markdown(formulation.title)}",
        "",
        f"{markdown(formulation.instance())}: {_total(formulation)}.",
    ]
    for heading, parts in sections:
        lines += ["", f"## {heading}"]
        for built in parts:
            lines += [
                "",
                f"**{_name(built)}** ({_count(built)}). {built.part.sentence}",
                "",
                f"$${built.part.tex}$$",
            ]
    if remarks:
        said = [plain(line) for line in remarks]
        # A fence is ended by one as long: longer than any that a remark holds.
        fence = "`" * max(3, *(1 + len(run) for line in said for run in re.findall("`+", line)), 0)
        lines += ["", f"## {INSTANCE}", "", fence, *said, fence]
    return "\n".join(lines) + "\n"


def _latex(formulation: Formulation, sections: Sections, remarks: Sequence[str]) -> str:
    lines = [
        r"\documentclass{article}",
        r"\usepackage{amsmath,amssymb}",
        r"\begin{document}",
        rf"\section*{{{latex(formulation.title)}}}",
        latex(f"{formulation.instance()}: {_total(formulation)}."),
    ]
    for heading, parts in sections:
        lines.append(rf"\subsection*{{{heading}}}")
        for built in parts:
            said = latex(f"({_count(built)}). {built.part.sentence}")
            lines += [rf"\paragraph{{{latex(_name(built))}}} {said}", rf"\[ {built.part.tex} \]"]
    if remarks:
        lines += [
            rf"\subsection*{{{INSTANCE}}}",
            r"\begin{verbatim}",
            *map(_verbatim, remarks),
            r"\end{verbatim}",
        ]
    return "\n".join([*lines, r"\end{document}"]) + "\n"


def _verbatim(line: str) -> str:
    """A line that does not end the environment that it stands in."""
    return plain(line).replace(r"\end{verbatim}", r"\end {verbatim}")


def _html(formulation: Formulation, sections: Sections, remarks: Sequence[str]) -> str:
    title = html.escape(plain(formulation.title))
    lines = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title><style>{STYLE}</style></head><body>",
        f"<h1>{title}</h1>",
        f"<p>{html.escape(plain(formulation.instance()))}: {_total(formulation)}.</p>",
    ]
    for heading, parts in sections:
        lines.append(f"<h2>{heading}</h2><dl>")
        for built in parts:
            lines += [
                f"<dt><b>{html.escape(_name(built))}</b> ({_count(built)})</dt>",
                f"<dd>{html.escape(built.part.sentence)}{typeset_or_text(built.part.tex)}</dd>",
            ]
        lines.append("</dl>")
    if remarks:
        lines.append(f"<h2>{INSTANCE}</h2><pre>{html.escape(chr(10).join(map(plain, remarks)))}</pre>")
    return "\n".join([*lines, "</body></html>"]) + "\n"
