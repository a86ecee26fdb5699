"""How results look on a terminal."""

from __future__ import annotations

import csv
import io
import math
import re
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from mapper.kind.cell import Figure, number, percent, proof, seconds
from mapper.kind.text_table import ROOM
from mapper.workloads.text.plain_text import markdown, plain

if TYPE_CHECKING:
    from mapper.api.comparison import Comparison
    from mapper.api.problem import PosedProblem
    from mapper.api.search import Search
    from mapper.api.solution import Solution
    from mapper.api.trade_off import TradeOff
    from mapper.kind.part import Part
    from mapper.solver.certificate import Certificate

TableRows = tuple[list[str], list[list[str]]]
"""The heading and the lines of a table."""
SHOWN_SKIPPED = 12
HANGING = 2
"""Characters by which what goes on below stands to the right."""
COMPARED = ("ii", "energy_pj", "throughput_fps", "cycles", "buffer_bytes")
"""Costs that a simulation shows beside the model's."""


def with_model(posed: PosedProblem, rows: TableRows) -> TableRows:
    """A table whose lines name the model by which they are counted, if it is not the kind's default."""
    model = posed.options.model
    if model is None or model == posed.kind.default_model:
        return rows
    heading, lines = rows
    return [*heading[:1], "model", *heading[1:]], [[*line[:1], model, *line[1:]] for line in lines]


def solution_rows(solution: Solution) -> TableRows:
    """Heading and lines of a solution's table, first what the host takes of it, with a line of totals."""
    keys = [key for key in _cost_keys(solution) if key != "edp_of_totals"]
    whole, shown = solution.macs, solution.shown
    used = [] if whole is None else ["macs", "utilisation"]
    heading = ["part", *keys, *used, "gap", "proof", "method", "seconds"]
    lines = [_host_row(solution, keys)] if solution.host_share else []
    counts = {one.name: solution.posed.kind.work(one.problem) for one in solution.posed.parts}
    for part in shown:
        macs = counts.get(part.name)
        name = part.name if part.same_as is None else f"{part.name} = {part.same_as}"
        costs = [number((part.cost or {}).get(key)) for key in keys]
        work = work_cells(macs, solution.used(macs, part.cost)) if used else []
        lines.append([name, *costs, *work, *_certified(part.certificate)])
    if len(shown) > 1:
        costs = [number((solution.cost or {}).get(key)) for key in keys]
        work = work_cells(whole, solution.utilisation) if used else []
        lines.append(["total", *costs, *work, *_certified(solution.certificate)])
    return with_model(solution.posed, _with_nodes(shown, (heading, lines)))


def work_cells(macs: int | None, utilisation: float | None) -> list[str]:
    """Multiply-accumulates, and the share of those that the machine could do in the time."""
    return [number(macs), percent(utilisation, 1)]


def _with_nodes(parts: Sequence[Part], rows: TableRows) -> TableRows:
    """A table whose lines name the nodes of the file, where it has names for them."""
    nodes = {part.name: part.source for part in parts if not re.fullmatch(r"n\d+", part.source)}
    if all(source in ("", name) for name, source in nodes.items()):
        return rows
    heading, lines = rows
    return [heading[0], "node", *heading[1:]], [
        [line[0], nodes.get(line[0].partition(" = ")[0], ""), *line[1:]] for line in lines
    ]


def _host_row(solution: Solution, keys: Sequence[str]) -> list[str]:
    """What operators take that are not mapped, in cycles and milliseconds of the whole."""
    cost, share = solution.cost or {}, solution.host_share
    taken = {key: share * cost[key] for key in ("cycles", "latency_ms") if cost.get(key) is not None}
    if "cycles" in taken:
        taken["cycles"] = round(taken["cycles"])
    return [f"host: {share:.1%} of the time", *(number(taken.get(key)) for key in keys), *["–"] * 4]


def _cost_keys(solution: Solution) -> list[str]:
    """Cost keys that some part has a value for."""
    costs = [cost for cost in (solution.cost, *(part.cost for part in solution.shown)) if cost is not None]
    return [key for key in (costs[0] if costs else {}) if any(cost.get(key) is not None for cost in costs)]


def _certified(certificate: Certificate) -> list[str]:
    return [percent(certificate.gap), proof(certificate), certificate.method, seconds(certificate.seconds)]


def comparison_rows(comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    """Heading and lines of a comparison; the gap is to the proven optimum where one of the methods proved it."""
    proven = [
        row.certificate.value for row in comparison.rows if row.certificate.proven and row.certificate.found
    ]
    optimum = proven[0] if proven else None
    heading = ["method", "value", "bound", "to optimum", "proof", "evaluations", "seconds", "CPU s"]
    lines = []
    for row in comparison.rows:
        certificate = row.certificate
        value = certificate.value
        off = None if value is None or not optimum else abs(value / optimum - 1)
        lines.append(
            [
                certificate.method,
                number(value),
                number(certificate.bound),
                percent(off),
                proof(certificate),
                number(certificate.evaluations),
                seconds(certificate.seconds),
                seconds(certificate.cpu_seconds),
            ]
        )
    return with_model(comparison.posed, (heading, lines))


def front_rows(found: TradeOff) -> tuple[list[str], list[list[str]]]:
    """Heading and lines of a front's points, in its order."""
    keys = list(found.points[0].cost or {}) if found.points else []
    lines = [
        [number((point.cost or {}).get(key)) for key in keys] + [proof(point.certificate)]
        for point in found.points
    ]
    return with_model(found.posed, ([*keys, "proof"], lines))


def why_no_front(found: TradeOff, search: Search) -> str:
    """Why a front has no points, in one line."""
    part = found.posed.parts[0]
    if not found.complete:
        return why_nothing(part.name, False, search, search.time_limit is not None)
    if len(found.posed.parts) > 1:
        return f"{found.posed.workload}: a part is proven to have no mapping; leave out --pareto to see which"
    reason = found.posed.kind.why_infeasible(part.problem) or "enlarge the machine or unpin decisions"
    return f"{part.name}: proven to have no mapping on {found.posed.arch}: {reason}"


def why_nothing(workload: str | None, proven: bool, search: Search, is_limited: bool) -> str:
    """Why none of several searches has an answer, in one line; ``is_limited``: they had to end at some time."""
    if proven:
        why = "proven to have no mapping; enlarge the machine or unpin decisions"
    elif search.interrupt.is_set():
        why = "interrupted before anything was found"
    elif is_limited:
        why = "no answer within the limit; raise --time-limit"
    else:
        why = "no answer, and nothing is proven; try another --method"
    return f"{plain(workload)}: {why}" if workload else why


def say(*lines: str) -> None:
    """Lines for people on stdout, whatever names they hold: one line each, nothing that a terminal obeys; where lines
    have less room than one needs, it is broken between words."""
    for line in lines:
        print(broken(plain(line), ROOM.get()))


def broken(line: str, room: int | None) -> str:
    """A line with breaks between its words so that none is longer than ``room``; charts stay as they are."""
    if room is None or len(line) <= room or line.endswith("|"):
        return line
    below = " " * (len(line) - len(line.lstrip()) + HANGING)
    return textwrap.fill(
        line, room, subsequent_indent=below, break_long_words=False, break_on_hyphens=False, tabsize=1
    )


def complain(line: str) -> None:
    """One line on stderr, likewise."""
    print(plain(line), file=sys.stderr)


def as_csv(heading: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """The table as comma-separated values, figures as programs write them: whole, without separators and units."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(plain, heading))
    for line in lines:
        writer.writerow(cell.value if isinstance(cell, Figure) else plain(cell) for cell in line)
    return text.getvalue()


def as_markdown(heading: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """The table in Markdown."""
    rows = [[markdown(cell) for cell in row] for row in (heading, *lines)]
    rows.insert(1, ["---"] + ["---:"] * (len(heading) - 1))
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def passed_over(solution: Solution) -> str | None:
    """What another tool's file says of the machine and is not represented, in a line."""
    fields: dict[str, list[str]] = {}
    for entry in getattr(solution.posed.machine, "passed_over", []):
        place, _, reason = entry.partition(": ")
        fields.setdefault(reason, []).append(place)
    said = [f"{', '.join(places)}: {reason}" for reason, places in fields.items()]
    return f"{solution.posed.arch}: not represented: {'; '.join(said)}" if said else None


def skipped_lines(solution: Solution) -> list[str]:
    """What was not mapped, in a few lines."""
    skipped = solution.skipped
    if not skipped:
        return []
    by_op: dict[str, list[float]] = {}
    for entry in skipped:
        by_op.setdefault(entry["op"], []).append(entry["share_of_macs"])
    listed = sorted(by_op.items(), key=lambda item: (-sum(item[1]), item[0]))
    text = ", ".join(
        f"{len(shares)} {op} ({sum(shares):.1%} of MACs)" for op, shares in listed[:SHOWN_SKIPPED]
    )
    more = f", {len(listed) - SHOWN_SKIPPED} more kinds" if len(listed) > SHOWN_SKIPPED else ""
    least = math.fsum(entry.get("least_ms") or 0.0 for entry in skipped)
    beside = f"; beside the machine at least {least:.2g} ms, not counted" if least else ""
    return [f"not mapped: {text}{more}{beside}"]


def started_lines(solution: Solution) -> list[str]:
    """Which searches did not begin from nothing, in a line."""
    begun = [part for part in solution.parts if part.started is not None and part.same_as is None]
    if not begun:
        return []
    if len(begun) > 1 or len(solution.parts) > 1:
        distinct = sum(part.same_as is None for part in solution.parts)
        return [f"started from stored values: {len(begun)} of {distinct} parts"]
    start = begun[0].started
    assert start is not None
    bound = "" if start.bound is None else f", bound {number(start.bound)}"
    return [f"started from a stored value of {number(start.value)}{bound}"]


def cause(solution: Solution) -> str:
    """Why there is no answer, or why the referee rejects it: one line with part, rule and remedy."""
    if solution.reason is not None:
        return f"{solution.posed.workload}: proven to have no mapping: {solution.reason}"
    if solution.certificate.broken and not any(part.certificate.broken for part in solution.parts):
        rule = solution.certificate.broken[0]
        return f"the referee rejects the mappings: {rule.rule} ({rule.place}, by {rule.size:g})"
    for part in solution.parts:
        certificate = part.certificate
        if certificate.broken:
            rule = certificate.broken[0]
            return (
                f"{part.name}: the referee rejects the mapping: {rule.rule} ({rule.place}, by {rule.size:g})"
            )
        if not certificate.found and certificate.proven:
            where = "" if solution.posed.arch is None else f" on {solution.posed.arch}"
            problem = next(one.problem for one in solution.posed.parts if one.name == part.name)
            reason = solution.posed.kind.why_infeasible(problem)
            if reason is not None:
                return f"{part.name}: proven to have no mapping{where}: {reason}"
            return f"{part.name}: proven to have no mapping{where}; enlarge the machine or unpin decisions"
    part = next(part for part in solution.parts if not part.certificate.found)
    if part.certificate.stop == "complete":
        reason = "".join(f": {one}" for one in part.certificate.restrictions[:1])
        remedy = "" if "; use " in reason else "; try another --method"
        return f"{part.name}: {part.certificate.method} found no mapping and proves nothing{reason}{remedy}"
    bound = number(part.certificate.bound)
    if part.certificate.stop == "interrupted":
        return f"{part.name}: interrupted before anything was found (bound {bound})"
    if part.certificate.stop == "heuristic" and part.certificate.restrictions:
        return f"{part.name}: no answer, and nothing is proven: {part.certificate.restrictions[0]} (bound {bound})"
    if part.certificate.stop == "heuristic":
        return (
            f"{part.name}: no answer, and nothing is proven (bound {bound}); try another --method or --seed"
        )
    return (
        f"{part.name}: no answer within the limit (bound {bound}); raise --time-limit or try another --method"
    )


def simulation_rows(result: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Heading and lines of a simulation: the model's cost beside the simulator's, and what else it reports."""
    first = result["parts"][0]
    keys = [key for key in COMPARED if key in first["cost_simulated"]]
    physical = "cost" in first.get("physical", {})
    heading = ["part", "outputs", "max error"]
    for key in keys:
        heading += [key, "simulated"]
    lines = []
    for part in result["parts"]:
        line = [part["name"], "equal" if part["outputs_equal"] else "DIFFER", number(part["max_error"])]
        for key in keys:
            line += [number(part["cost_model"][key]), number(part["cost_simulated"][key])]
        lines.append([*line, number(part["physical"]["cost"]["cycles"])] if physical else line)
    return [*heading, "physical cycles"] if physical else heading, lines
