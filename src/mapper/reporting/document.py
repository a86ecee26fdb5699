"""What a page is made from: documents read, their mappings verified anew."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mapper.api.part.verification import verified
from mapper.api.problem import SOLUTION_SCHEMA, PosedProblem, pose_again
from mapper.api.solution import Solution, as_document, assemble, repeated
from mapper.api.verb import read_document
from mapper.kind.kind import AnyPart
from mapper.kind.part import FrontAxes, Part
from mapper.solver.certificate import Certificate, certificate_from_json
from mapper.solver.history import history_from_json
from mapper.workloads.document import InputError

COMPARISON_SCHEMA, SWEEP_SCHEMA, FRONT_SCHEMA = "mapper.comparison/1", "mapper.sweep/1", "mapper.front/1"
MOST_ROWS = 20_000
LARGEST = 1e300
"""Figures are finite, and their sums."""


@dataclass(frozen=True)
class Solved:
    """A solution: every part verified anew, with the mappings as values (None where there is none), the versions that
    the document names, and what tells its problem from others."""

    source: str
    solution: Solution
    mappings: tuple[Any | None, ...]
    versions: dict[str, str]
    key: str


@dataclass(frozen=True)
class Row:
    """A line of a comparison or sweep: its names (method, machine or varied fields), cost and certificate; of machines
    side by side also ``utilisation``, what each figure ``leaves_out`` and milliseconds by layer."""

    names: dict[str, Any]
    cost: dict[str, Any] | None
    certificate: Certificate
    utilisation: float | None = None
    leaves_out: tuple[str, ...] = ()
    layers: dict[str, float] | None = None


@dataclass(frozen=True)
class Rows:
    """A comparison of ``methods`` or ``machines``, a ``sweep``, or a ``front`` of trade-offs, drawn over
    ``axes``."""

    source: str
    form: str
    title: str
    objective: str
    rows: tuple[Row, ...]
    key: str
    axes: FrontAxes | None = None


def read(given: Path | Mapping[str, Any]) -> Solved | Rows:
    """A solution, a comparison, a sweep or trade-offs.

    Raises: InputError if it is none of these, or does not hold what such documents hold.
    """
    source = str(given) if isinstance(given, Path) else "the document"
    fields = read_document(given) if isinstance(given, Path) else given
    schema = fields.get("schema")
    if schema == SOLUTION_SCHEMA:
        return _solved(fields, source)
    if schema in (COMPARISON_SCHEMA, SWEEP_SCHEMA, FRONT_SCHEMA):
        return _rows(fields, source)
    known = ", ".join((SOLUTION_SCHEMA, COMPARISON_SCHEMA, SWEEP_SCHEMA))
    raise InputError(source, "schema", f"must be {known} or {FRONT_SCHEMA}")


def problem_key(problem: Mapping[str, Any]) -> str:
    """Equal for documents of one problem, wherever its files lay."""
    told = {key: value for key, value in problem.items() if key != "inputs"}
    return json.dumps(as_document(told), sort_keys=True)


def _solved(fields: Mapping[str, Any], source: str) -> Solved:
    problem = pose_again(fields, source)
    listed = fields.get("parts")
    if not isinstance(listed, list) or not all(isinstance(part, dict) for part in listed):
        raise InputError(source, "parts", "must list the parts of a solution")
    by_name = {str(part.get("name")): part for part in listed}
    mappings = {name: part.get("mapping") for name, part in by_name.items()}
    # One search that decides things listed apart is certified by the document.
    whole = {"certificate": fields.get("certificate"), "history": _first_history(listed)}
    first: dict[Any, tuple[Part, Any]] = {}
    parts, values = [], []
    for posed in problem.parts:
        own = whole if len(problem.parts) == 1 else by_name.get(posed.name)
        if own is None:
            raise InputError(source, f"parts.{posed.name[:40]}", "is missing; solve it again")
        if posed.key not in first:
            first[posed.key] = _judged(problem, posed, own, mappings, source)
        part, value = first[posed.key]
        if part.name != posed.name:
            part = repeated(part, posed.name, posed.source, posed.merged)
        parts.append(part)
        values.append(value)
    versions = fields.get("versions")
    named = versions.items() if isinstance(versions, dict) else ()
    return Solved(
        source,
        assemble(problem, parts),
        tuple(values),
        {str(name): str(version) for name, version in named},
        problem_key(problem.to_json()),
    )


def _judged(
    problem: PosedProblem,
    posed: AnyPart,
    own: Mapping[str, Any],
    mappings: Mapping[str, Any],
    source: str,
) -> tuple[Part, Any]:
    place = f"parts.{posed.name[:40]}"
    certificate = _certificate(own.get("certificate"), source, place)
    try:
        history = history_from_json(own.get("history", []))
    except (KeyError, TypeError, ValueError):
        raise InputError(source, f"{place}.history", "must list seconds, values and bounds") from None
    value, bound = certificate.value, certificate.bound
    if certificate.proven and None not in (value, bound) and not math.isclose(value or 0, bound or 0):
        remedy = f"is {bound:g} where {value:g} is called proven; solve it again"
        raise InputError(source, f"{place}.certificate.bound", remedy)
    found = problem.kind.gather(posed.problem, posed.name, mappings)
    if found is None:
        return verified(problem.kind, posed, None, replace(certificate, found=False)), None
    if not isinstance(found, Mapping):
        raise InputError(source, f"{place}.mapping", "must be an object; solve it again")
    mapping = problem.kind.read_mapping(found, posed.problem, source)
    part = verified(problem.kind, posed, mapping, certificate)
    now = part.certificate.value
    if value is not None and now is not None and not math.isclose(value, now):
        remedy = f"is {value:g}, but the mapping costs {now:g}; solve it again"
        raise InputError(source, f"{place}.certificate.value", remedy)
    return replace(part, history=history), mapping


def _first_history(parts: list[Any]) -> Any:
    return next((part["history"] for part in parts if "history" in part), [])


def _certificate(fields: Any, source: str, place: str) -> Certificate:
    try:
        found = certificate_from_json(fields)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        found = None
    figures = () if found is None else (found.value, found.bound, found.seconds, found.cpu_seconds)
    counts = () if found is None else (found.evaluations, found.seed, found.workers)
    whole = all(one is None or type(one) is int for one in counts)
    if found is None or not whole or not all(map(_is_figure, (*figures, *counts))):
        raise InputError(source, f"{place}.certificate", "is none; give a document written by mapper")
    return found


def _rows(fields: Mapping[str, Any], source: str) -> Rows:
    front = fields["schema"] == FRONT_SCHEMA
    entries = fields.get("points" if front else "rows")
    if not isinstance(entries, list) or not entries or not all(isinstance(one, dict) for one in entries):
        raise InputError(source, "rows", "must list what was compared")
    if len(entries) > MOST_ROWS:
        raise InputError(source, "rows", f"are more than the {MOST_ROWS:,} that a page can show")
    rows = tuple(_row(entry, source, f"rows.{place}") for place, entry in enumerate(entries))
    problem = fields.get("problem")
    if fields["schema"] == SWEEP_SCHEMA and not isinstance(problem, dict):
        # Sweeps of before did not say what was swept.
        return Rows(source, "sweep", f"Sweep of {_archs(entries)}", "value", rows, source)
    if not isinstance(problem, dict):
        raise InputError(source, "problem", "is missing; give a document written by mapper")
    workload, objective = str(problem.get("workload")), str(problem.get("objective"))
    if all("leaves_out" in entry for entry in entries):
        return Rows(source, "machines", f"{workload} on several machines", objective, rows, source)
    title = f"{workload} on {problem.get('arch')}"
    if fields["schema"] == SWEEP_SCHEMA:
        return Rows(source, "sweep", f"Sweep: {title}", objective, rows, source)
    if front:
        said = "all" if fields.get("complete") is True else "not all"
        axes = pose_again({**fields, "schema": SOLUTION_SCHEMA}, source).kind.front_axes()
        return Rows(source, "front", f"Trade-offs ({said}): {title}", "several", rows, source, axes)
    return Rows(source, "methods", title, objective, rows, problem_key(problem))


def _archs(entries: list[dict[str, Any]]) -> str:
    return ", ".join(dict.fromkeys(str(entry.get("arch")) for entry in entries))


def _row(entry: Mapping[str, Any], source: str, place: str) -> Row:
    vary, cost, layers = entry.get("vary"), entry.get("cost"), entry.get("layers")
    if "vary" in entry:
        if not isinstance(vary, dict) or not vary:
            raise InputError(source, f"{place}.vary", "must name what was varied")
        names = {str(key): value for key, value in vary.items()}
    elif "leaves_out" in entry:
        names = {"arch": entry.get("arch"), "kind": entry.get("kind"), "method": entry.get("method")}
    else:
        names = {"method": entry["method"]} if "method" in entry else {"point": int(place.split(".")[1]) + 1}
    if cost is not None and not (isinstance(cost, dict) and all(map(_is_figure, cost.values()))):
        raise InputError(source, f"{place}.cost", "must hold figures")
    if layers is not None and not (isinstance(layers, dict) and all(map(_is_figure, layers.values()))):
        raise InputError(source, f"{place}.layers", "must hold milliseconds")
    left, used = entry.get("leaves_out", []), entry.get("utilisation")
    if not isinstance(left, list) or not _is_figure(used):
        raise InputError(source, place, "must list what it leaves out, and how far the machine is used")
    certificate = _certificate(entry.get("certificate"), source, place)
    return Row(names, cost, certificate, used, tuple(map(str, left)), layers)


def _is_figure(value: Any) -> bool:
    return value is None or (type(value) in (int, float) and abs(value) <= LARGEST)
