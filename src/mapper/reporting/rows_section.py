"""The sections of comparisons, sweeps and trade-offs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from mapper.kind import objective_named
from mapper.kind.cell import number, percent, proof
from mapper.reporting import chart, sweep_chart
from mapper.reporting.certificate_words import Words
from mapper.reporting.cost_section import MOST_PARTS, certified
from mapper.reporting.document import Rows, Solved
from mapper.reporting.drawing import figure, markup, table
from mapper.reporting.section import Section, provenance
from mapper.solver.certificate import Certificate


@dataclass(frozen=True)
class MethodRow:
    """What one method answered."""

    method: str
    certificate: Certificate

    def tells_the_same(self, other: MethodRow) -> bool:
        """Whether the other adds nothing: the same method with the same answer."""
        mine, theirs = self.certificate, other.certificate
        return (self.method, mine.value, mine.bound, mine.proven) == (
            other.method,
            theirs.value,
            theirs.bound,
            theirs.proven,
        )


def method_rows(given: Solved | Rows) -> list[MethodRow]:
    """What a document says of methods on one problem."""
    if isinstance(given, Solved):
        certificate = given.solution.certificate
        return [MethodRow(certificate.method, certificate)]
    return [MethodRow(str(row.names["method"]), row.certificate) for row in given.rows]


def comparison_section(title: str, objective: str, rows: Sequence[MethodRow], anchor: str) -> Section:
    """Optimal against heuristic methods: value, distance to the best known, proof, seconds."""
    values = [row.certificate.value for row in rows if row.certificate.value is not None]
    best = objective_named(objective).best(values)
    lines = []
    for row in rows:
        certificate = row.certificate
        off = None if certificate.value is None or not best else abs(certificate.value / best - 1)
        lines.append(
            [
                row.method,
                number(certificate.value),
                number(certificate.bound),
                percent(off),
                proof(certificate),
                number(certificate.evaluations),
                f"{certificate.seconds:.2f}",
            ]
        )
    heading = ["method", "value", "bound", "from the best known", "proof", "evaluations", "seconds"]
    elements = [table(heading, lines, f"Methods side by side, objective {objective}", class_="methods")]
    drawn = [(row.method, row.certificate.value, row.certificate.proven) for row in rows[: chart.MOST_BARS]]
    if best and best > 0 and any(value is not None and value > 0 for _, value, _ in drawn):
        shown = [one for one in drawn if one[1] is None or one[1] > 0]
        elements.append(
            figure(chart.methods(shown, float(best), anchor), "Optimal against heuristic methods.")
        )
    proven = [row for row in rows if row.certificate.proven and row.certificate.found]
    if proven:
        said = Words(
            "good",
            f"The optimum is known: {number(proven[0].certificate.value)}, proven by {proven[0].method}.",
            ("Distances in the table are from a proven optimum.",),
        )
    else:
        said = Words("open", "No method proved an optimum; distances are from the best value known.", ())
    return Section(anchor, f"Methods: {title}", (), said, markup(*elements))


def rows_section(given: Rows, anchor: str) -> Section:
    """A sweep, machines side by side, or a comparison of one method."""
    names = list(dict.fromkeys(name for row in given.rows for name in row.names))
    keys = [
        key
        for key in dict.fromkeys(key for row in given.rows for key in row.cost or {})
        if any((row.cost or {}).get(key) is not None for row in given.rows)
    ]
    machines = given.form == "machines"
    if machines:
        # What machines of several kinds have in common comes first.
        keys = [key for key in ("latency_ms", "energy_pj") if key in keys]
    rows = [
        [
            *(str(row.names.get(name, "–")) for name in names),
            *(number((row.cost or {}).get(key)) for key in keys),
            *([percent(row.utilisation)] if machines else []),
            *certified(row.certificate)[:2],
            f"{row.certificate.seconds:.2f}",
        ]
        for row in given.rows
    ]
    heading = [*names, *keys, *(["utilisation"] if machines else []), "gap", "proof", "seconds"]
    elements = [table(heading, rows, f"{len(rows):,} rows", class_=given.form)]
    if given.form == "sweep":
        values = [(row.names, row.certificate.value) for row in given.rows]
        points = [(names, None if y is None else float(y)) for names, y in values]
        drawn = sweep_chart.swept(points, given.title, _with_unit(given.objective), anchor)
        elements.insert(
            0,
            figure(
                drawn,
                "The objective over the grid; the best cell is framed, one without a figure has no answer.",
            ),
        )
    if given.form == "front":
        elements = [*_front(given, anchor), *elements]
    if machines:
        times = {
            str(row.names["arch"]): {"latency": float(row.cost["latency_ms"])}
            for row in given.rows
            if row.cost and row.cost.get("latency_ms") is not None
        }
        if times:
            drawn = chart.stacked("latency by machine", "latency, ms", times, anchor, "machine")
            elements.append(figure(drawn, "Latency by machine, without what the table below lists."))
        elements += _warned(given)
    proven = sum(row.certificate.proven for row in given.rows)
    facts = (*_best(given), ("proven", f"{proven:,} of {len(rows):,} rows"))
    return Section(
        anchor, given.title, facts, None, markup(*elements, provenance([("document", given.source)]))
    )


def _best(given: Rows) -> list[tuple[str, str]]:
    """What comes first: the best of a sweep and where it is, how far a front reaches, or what is compared."""
    if given.form == "front" and given.axes is not None:
        costs = [row.cost for row in given.rows if row.cost]
        reach = [("trade-offs", f"{len(costs):,}")] if costs else []
        for key, said in (given.axes.along, given.axes.up) if costs else ():
            what, _, unit = said.partition(", ")
            ends = [cost[key] for cost in costs]
            said = " to ".join(dict.fromkeys((number(min(ends)), number(max(ends)))))
            reach.append((what, f"{said} {unit}".rstrip()))
        return reach
    if given.form != "sweep" or given.objective == "value":
        return [("objective", given.objective)]
    objective = objective_named(given.objective)
    best = objective.best(row.certificate.value for row in given.rows if row.certificate.value is not None)
    if best is None:
        return [("objective", given.objective)]
    names = next(row.names for row in given.rows if row.certificate.value == best)
    place = ", ".join(f"{key}={value}" for key, value in names.items())
    return [(f"best {given.objective}", f"{number(best)} {objective.unit}"), ("found at", place)]


def _with_unit(objective: str) -> str:
    """An objective as an axis names it; sweeps of before do not say theirs."""
    return objective if objective == "value" else f"{objective}, {objective_named(objective).unit}"


def _front(given: Rows, anchor: str) -> list[Element]:
    """The points over the axes of their kind."""
    costs = [row.cost for row in given.rows if row.cost]
    if given.axes is None or not costs:
        return []
    drawn = sweep_chart.front(costs, given.axes, given.title, anchor)
    return [
        figure(drawn, "The trade-offs; figures at the points are their numbers in the table.", class_="front")
    ]


def _warned(given: Rows) -> list[Element]:
    """What each machine's figures leave out, and milliseconds layer by layer."""
    left = [[str(row.names["arch"]), "; ".join(row.leaves_out)] for row in given.rows]
    layers = list(dict.fromkeys(name for row in given.rows for name in row.layers or {}))
    times = [[name, *(number((row.layers or {}).get(name)) for row in given.rows)] for name in layers]
    archs = [str(row.names["arch"]) for row in given.rows]
    return [
        table(["machine", "what its figures leave out"], left, "Read this before comparing", class_="warned"),
        table(["layer", *archs], times[:MOST_PARTS], "Milliseconds by layer", class_="layers"),
    ]
