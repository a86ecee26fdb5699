"""The sections of a page: what a solution, a comparison or a sweep has to show, as values for the template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from xml.etree.ElementTree import Element

from markupsafe import Markup

from mapper.kind.cell import number, percent
from mapper.kind.kind import AnyPart
from mapper.kind.part import Part
from mapper.reporting import chart
from mapper.reporting.certificate_words import PROVEN, Words, words
from mapper.reporting.cost_section import MOST_PARTS, breakdowns, cost_table
from mapper.reporting.document import Solved
from mapper.reporting.drawing import figure, markup, node, plain, routes_drawn, table
from mapper.reporting.proof_section import Judged, proof_elements

MOST_ROUTES, MOST_ROUTES_OF_LAYER = 2400, 300
"""Routes that are drawn of a network on a CGRA, and of each of its layers."""
MOST_RESULTS = 4
LEADING = {
    "edp": ("edp_pj_cycles", "energy_pj", "cycles", "latency_ms"),
    "energy": ("energy_pj", "latency_ms", "cycles"),
    "latency": ("latency_ms", "cycles", "energy_pj"),
    "ii": ("ii", "mii", "cycles", "latency_ms"),
    "throughput": ("throughput_fps", "pes", "latency_ms"),
    "pes": ("pes", "throughput_fps", "latency_ms"),
    "dsps": ("dsps", "latency_ms"),
    "traffic": ("dram_bytes", "latency_ms"),
}
"""Costs that come first, by objective."""
ENDINGS = {
    "_of_totals": "pJ·cycles of the sums",
    "_pj_cycles": "pJ·cycles",
    "_pj": "pJ",
    "_ms": "ms",
    "_fps": "frames/s",
    "_gb_s": "GB/s",
    "_bytes": "bytes",
}
"""Units, by how the key of a cost ends."""


NOWHERE = Markup("")


@dataclass(frozen=True)
class PartView:
    """One part: its heading, its certificate in words, and its pictures."""

    title: str
    said: Words
    content: Markup


@dataclass(frozen=True)
class Section:
    """A heading, what comes first (name and value), a certificate in words, content, parts that open, and where all
    that comes from."""

    anchor: str
    title: str
    facts: tuple[tuple[str, str], ...]
    said: Words | None
    content: Markup
    parts: tuple[PartView, ...] = ()
    origin: Markup = NOWHERE


def solution_section(
    solved: Solved, anchor: str, proofs: Mapping[str, Judged] = MappingProxyType({})
) -> Section:
    """Problem, certificate, costs, their breakdown, the search over time, and a picture of every distinct part."""
    solution, posed = solved.solution, solved.solution.posed
    origin = [
        ("kind", posed.kind.name),
        ("workload", posed.workload),
        ("machine", posed.arch or "none"),
        ("objective", posed.objective.name),
        *((name, _option(value)) for name, value in posed.options.to_json().items() if value is not None),
        *((f"input {file.path}", f"sha256 {file.sha256[:16]}…") for file in posed.read.inputs),
        *(("version of " + name, version) for name, version in solved.versions.items()),
    ]
    elements = [cost_table(solution.shown, solution.cost, solution.certificate)]
    elements += breakdowns(solution.shown, anchor, posed.kind.at_once)
    for skipped in [_skipped(solution.skipped)] if solution.skipped else []:
        elements.append(skipped)
    single = len(posed.parts) == 1
    views: list[PartView] = []
    seen, left = set(), MOST_ROUTES
    for place, (part, own, mapping) in enumerate(
        zip(posed.parts, solution.parts, solved.mappings, strict=True)
    ):
        if own.same_as is not None or part.key in seen or len(views) == MOST_PARTS:
            continue
        seen.add(part.key)
        drawn = _pictures(solved, part, own, mapping, f"{anchor}p{place}", min(left, MOST_ROUTES_OF_LAYER))
        left -= routes_drawn(drawn)
        drawn += proof_elements(proofs.get(own.name))
        views.append(_part(solved, part, own, drawn, f"{anchor}p{place}"))
    said = views[0].said if single else _whole(solved)
    return Section(
        anchor,
        f"{posed.workload} on {posed.arch}" if posed.arch else posed.workload,
        results(solution.cost or {}, posed.objective.name),
        said,
        markup(*elements),
        tuple(views),
        markup(provenance(origin)),
    )


def results(cost: Mapping[str, Any], objective: str) -> tuple[tuple[str, str], ...]:
    """What comes first: the figures of the whole, that of the objective before the others, each with its unit."""
    first = {key: place for place, key in enumerate(LEADING.get(objective, ()))}
    known = [key for key, value in cost.items() if type(value) in (int, float)]
    return tuple(
        (words, f"{number(cost[key])}{unit}")
        for key in sorted(known, key=lambda key: first.get(key, len(first)))[:MOST_RESULTS]
        for words, unit in [_named(key)]
    )


def _named(key: str) -> tuple[str, str]:
    """A cost in words, and its unit with a space before it."""
    for ending, unit in ENDINGS.items():
        if key.endswith(ending):
            return key.removesuffix(ending).replace("_", " ").strip() or key, f" {unit}"
    return key.replace("_", " "), ""


def provenance(facts: Sequence[tuple[str, str]]) -> Element:
    """Where a result comes from, to open: what it is a result of, files and versions."""
    listed = node("dl", class_="facts")
    for name, value in facts:
        listed.append(node("div", node("dt", plain(name)), node("dd", plain(value, 200))))
    return node("details", node("summary", "Where this comes from"), listed, class_="provenance")


def _option(value: Any) -> str:
    return ", ".join(f"{key}={one}" for key, one in value.items()) if isinstance(value, dict) else str(value)


def _pictures(
    solved: Solved, part: AnyPart, own: Part, mapping: Any | None, anchor: str, routes: int
) -> list[Element]:
    if mapping is None or own.cost is None:
        return []
    return solved.solution.posed.kind.picture(part.problem, mapping, own, anchor, routes)


def _part(solved: Solved, part: AnyPart, own: Part, drawn: list[Element], anchor: str) -> PartView:
    posed = solved.solution.posed
    certificate = own.certificate
    why = None
    if not certificate.found and certificate.proven:
        why = posed.kind.why_infeasible(part.problem)
    elements = list(drawn)
    elements += _search(own, f"{posed.objective.name}, {posed.objective.unit}", anchor)
    if own.merged:
        elements.append(
            node("p", "Folded into it: " + ", ".join(f"{name} ({op})" for name, op in own.merged[:20]))
        )
    same = [other.name for other in solved.solution.parts if other.same_as == own.name]
    title = own.name if own.source in ("", own.name) else f"{own.name} ({own.source})"
    if same:
        title += f", the same as {', '.join(same[:8])}{' …' if len(same) > 8 else ''}"
    return PartView(
        title,
        words(posed.kind.words(part.problem, own), certificate, posed.objective.name, why),
        markup(*elements),
    )


def _whole(solved: Solved) -> Words:
    """Parts that are independent are proven one by one, and their sum with them."""
    solution = solved.solution
    certificates = [part.certificate for part in solution.parts]
    proven = sum(one.proven and one.found for one in certificates)
    sentences = [
        f"{proven:,} of {len(certificates):,} parts are proven optimal, each separately; the value is their sum.",
    ]
    certificate = solution.certificate
    if certificate.value is not None:
        bound = "unknown" if certificate.bound is None else number(certificate.bound)
        gap = "" if certificate.gap is None else f", gap {percent(certificate.gap)}"
        sentences.append(
            f"Objective {solution.posed.objective}: value {number(certificate.value)}, bound {bound}{gap}; "
            f"{certificate.seconds:.2f} s of search."
        )
    if certificate.restrictions:
        sentences.append("Methods left out: " + "; ".join(certificate.restrictions) + ".")
    if certificate.broken:
        return Words("bad", "Rejected: a mapping breaks rules of the problem.", tuple(sentences))
    if not certificate.found:
        lacking = [part.name for part in solution.parts if not part.certificate.found]
        away = [
            part.name for part in solution.parts if not part.certificate.found and part.certificate.proven
        ]
        if away:
            sentences.append(f"Proven to have no mapping: {', '.join(away[:8])}.")
        return Words("bad", f"{len(lacking):,} parts have no mapping.", tuple(sentences))
    if certificate.proven:
        return Words(
            "good",
            f"{PROVEN[certificate.evidence]}: no mapping of this space is better, because no part has a "
            "better one and the parts are independent.",
            tuple(sentences),
        )
    return Words(
        "open", f"{PROVEN[certificate.evidence]}: a better mapping of some part may exist.", tuple(sentences)
    )


def _skipped(skipped: Sequence[dict[str, Any]]) -> Element:
    rows = [
        [one["name"], one["op"], one["reason"], number(one["macs"]), f"{one['share_of_macs']:.2%}"]
        for one in skipped[:MOST_PARTS]
    ]
    heading = ["operator", "type", "why", "MACs", "share of MACs"]
    return node(
        "details", node("summary", f"{len(skipped):,} operators are not mapped"), table(heading, rows)
    )


def _search(part: Part, objective: str, anchor: str) -> list[Element]:
    """Value and bound over time, as a chart and as text."""
    if not part.history:
        said = (
            "The search reported no progress before it ended"
            if part.certificate.found
            else "Nothing was reported"
        )
        return [node("p", f"{said} ({part.certificate.seconds:.2f} s).", class_="history")]
    rows = [[f"{one.seconds:.3f}", number(one.value), number(one.bound)] for one in part.history]
    if len(rows) == 1:
        after, value, bound = rows[0]
        return [
            node(
                "p",
                f"The search reported once: after {after} s value {value}, bound {bound}.",
                class_="history",
            )
        ]
    listed = table(["seconds", "value", "bound"], rows, "Value and bound over time")
    drawn = figure(
        chart.over_time(part.history, objective, f"{anchor}h"),
        f"Value and bound over time, {len(rows)} points.",
        class_="history",
    )
    return [drawn, node("details", node("summary", "value and bound as a table"), listed)]
