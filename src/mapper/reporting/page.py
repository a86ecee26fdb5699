"""The page: documents in, one HTML text out, which needs no network and runs no script but its own."""

from __future__ import annotations

import base64
import hashlib
import itertools
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from mapper.api.contradicting import refuse_contradicting_solutions
from mapper.api.solution import DISTRIBUTION, Solution
from mapper.reporting.document import Rows, Solved, read
from mapper.reporting.drawing import plain
from mapper.reporting.proof_section import beside, is_proofs, judged
from mapper.reporting.rows_section import MethodRow, comparison_section, method_rows, rows_section
from mapper.reporting.section import solution_section
from mapper.workloads.document import InputError

MOST_BYTES = 3_000_000
"""Pages are smaller."""
MOST_DOCUMENTS = 50


def report(*given: Path | str | Mapping[str, Any] | Solution) -> str:
    """A page about solutions, their proofs, comparisons and sweeps: files, documents or values. Solutions of one
    problem, and a comparison of it, are set against each other.

    Raises: InputError if one of them is no such document, if there are none or too many, or if the page would be larger
    than 3 MB; ContradictionError if two solutions of one problem cannot both hold.
    """
    if not 1 <= len(given) <= MOST_DOCUMENTS:
        raise InputError("report", str(len(given)), f"give 1 to {MOST_DOCUMENTS} solutions or comparisons")
    documents = [_plain_document(one) for one in given]
    are_proofs = [is_proofs(one) for one in documents]
    proofs = [
        proof for one, is_one in zip(documents, are_proofs, strict=True) if is_one for proof in judged(one)
    ]
    read_in = [read(one) for one, is_one in zip(documents, are_proofs, strict=True) if not is_one]
    shown = beside([one for one in read_in if isinstance(one, Solved)], proofs)
    solved = [one for one, _ in shown]
    certified = iter(solved)
    read_in = [next(certified) if isinstance(one, Solved) else one for one in read_in]
    for first, second in itertools.combinations(solved, 2):
        if first.key == second.key:
            refuse_contradicting_solutions(first.solution, second.solution)
    compared = [one for one in read_in if isinstance(one, Rows)]
    sections = [solution_section(one, f"s{number}", own) for number, (one, own) in enumerate(shown)]
    methods: dict[str, list[MethodRow]] = {}
    titles: dict[str, tuple[str, str]] = {}
    for one in read_in:
        if isinstance(one, Solved) or one.form == "methods":
            known = methods.setdefault(one.key, [])
            known += [row for row in method_rows(one) if not any(map(row.tells_the_same, known))]
            posed = one.solution.posed if isinstance(one, Solved) else None
            named = (
                (f"{posed.workload} on {posed.arch or 'no machine'}", posed.objective.name)
                if posed
                else (one.title, one.objective)  # type: ignore[union-attr]
            )
            titles.setdefault(one.key, named)
    for number, (key, rows) in enumerate(methods.items()):
        if len(rows) > 1:
            sections.append(comparison_section(*titles[key], rows, f"m{number}"))
    for number, one in enumerate(compared):
        if one.form != "methods" or len(methods[one.key]) == 1:
            sections.append(rows_section(one, f"r{number}"))
    # In references of ASCII the page reads the same whatever encoding it is written or served in.
    text = _rendered(sections).encode("ascii", "xmlcharrefreplace").decode()
    if len(text) >= MOST_BYTES:
        size = len(text) / 1e6
        raise InputError(
            "report", "", f"the page would have {size:.1f} MB, 3 is the limit; give fewer documents"
        )
    return text


def _plain_document(given: Path | str | Mapping[str, Any] | Solution) -> Path | Mapping[str, Any]:
    if isinstance(given, Solution):
        return given.to_json()
    return Path(given) if isinstance(given, str) else given


def _rendered(sections: Sequence[Any]) -> str:
    script = _asset("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return _environment().get_template("page.html").render(
        sections=sections,
        title=", ".join(dict.fromkeys(plain(section.title) for section in sections))[:200],
        style=Markup(_asset("page.css")),
        script=Markup(script),
        digest=digest,
        version=metadata.version(DISTRIBUTION),
    )  # fmt: skip


@cache
def _environment() -> Environment:
    # Whatever a template writes is escaped, and shows no control or invisible characters.
    return Environment(
        loader=PackageLoader("mapper.reporting", "template"),
        autoescape=True,
        finalize=lambda value: value if isinstance(value, Markup) else plain(str(value), 4000),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _asset(name: str) -> str:
    return (files("mapper.reporting") / "template" / name).read_text(encoding="utf-8")
