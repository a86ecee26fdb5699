"""Proofs in prose: the claim, the evidence step by step, and what remains trusted.

The checker runs first; only proofs that it accepts are told.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mapper.api.verb import read_document
from mapper.kind import kind_of_proofs
from mapper.kind.checker_lines import checker, trusted
from mapper.proving.checker import Checked, check
from mapper.workloads.document import InputError
from mapper.workloads.text.plain_text import latex, markdown, plain

LONGEST_LINE = 2000
STATUSES = {
    "certified": "certified: the checker accepts this proof.",
    "refuted": "refuted: the evidence does not show the claim",
    "malformed": "malformed: this is not a proof",
    "not certified": "not certified",
}
UNTOLD = "The proof ends here: some fields that the checker did not need are not as mapper writes them."
FAULTS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


@dataclass(frozen=True)
class Told:
    """A part's proof: what the checker says of it, and the proof in sentences, claim first."""

    part: str
    verdict: str
    lines: tuple[str, ...]


def tell(path: Path, form: str = "text") -> tuple[str, list[Checked]]:
    """The proofs of a file in prose (``text``, ``markdown``, ``latex`` or ``html``), and what the checker says.

    Raises: InputError if the file cannot be read, holds proofs of no kind, or there is no such form.
    """
    writers: dict[str, Callable[[str, Sequence[Told], str], str]] = {
        "text": _text,
        "markdown": _markdown,
        "latex": _latex,
        "html": _html,
    }
    if form not in writers:
        raise InputError("--format", form, f"no such format; use {', '.join(writers)}")
    document, checked = read_document(path), check(path)
    proofs = document["proofs"]
    kind = str(proofs[0]["kind"])
    same = len(proofs) == len(checked)
    told = [
        Told(plain(one[0] or "the file", 80), verdict(one), tuple(sentences(proof, one)))
        for proof, one in zip(proofs if same else [None] * len(checked), checked, strict=True)
    ]
    return writers[form](f"Proofs of kind {kind}", told, f"What remains trusted: {trusted(kind)}."), checked


def verdict(checked: Checked) -> str:
    """What a checker says of a proof, as a sentence."""
    _, status, reason = checked
    said = STATUSES[status]
    return said if said.endswith(".") else f"{said} ({reason})."


def sentences(proof: Mapping[str, Any] | None, checked: Checked) -> list[str]:
    """A proof of which its checker says this, in sentences; none where there is nothing to tell."""
    _, status, reason = checked
    kind = None if proof is None else kind_of_proofs(str(proof["kind"]))
    if proof is None or kind is None or not kind.proof_is_told(status, reason):
        return []
    try:
        lines = kind.proof_lines(proof, reason)
    except (*FAULTS, checker(kind.proof_kind).EndedError):
        return [UNTOLD]
    return [plain(line, LONGEST_LINE) for line in lines]


def _text(title: str, told: Sequence[Told], rest: str) -> str:
    lines = [title]
    for one in told:
        lines += ["", f"{one.part}: {plain(one.verdict)}", *(f"  {line}" for line in one.lines)]
    return "\n".join([*lines, "", rest]) + "\n"


def _markdown(title: str, told: Sequence[Told], rest: str) -> str:
    lines = [f"# {title}"]
    for one in told:
        lines += ["", f"## {markdown(one.part)}", "", markdown(one.verdict), ""]
        lines += [f"- {markdown(line)}" for line in one.lines]
    return "\n".join([*lines, "", markdown(rest)]) + "\n"


def _latex(title: str, told: Sequence[Told], rest: str) -> str:
    lines = [r"\documentclass{article}", r"\begin{document}", rf"\section*{{{latex(title)}}}"]
    for one in told:
        lines += [rf"\subsection*{{{latex(one.part)}}}", latex(one.verdict)]
        items = [rf"\item {latex(line)}" for line in one.lines]
        lines += [r"\begin{itemize}", *items, r"\end{itemize}"] if items else []
    return "\n".join([*lines, "", latex(rest), r"\end{document}"]) + "\n"


def _html(title: str, told: Sequence[Told], rest: str) -> str:
    lines = [
        "<!DOCTYPE html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title></head><body>',
        f"<h1>{html.escape(title)}</h1>",
    ]
    for one in told:
        lines += [f"<h2>{html.escape(one.part)}</h2>", f"<p>{html.escape(plain(one.verdict))}</p>"]
        items = [f"<li>{html.escape(line)}</li>" for line in one.lines]
        lines += ["<ul>", *items, "</ul>"] if items else []
    return "\n".join([*lines, f"<p>{html.escape(rest)}</p>", "</body></html>"]) + "\n"
