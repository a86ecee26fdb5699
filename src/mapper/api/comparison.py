"""Several answers to one question: methods side by side."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mapper.api.contradicting import refuse_contradicting_solutions
from mapper.api.problem import PosedProblem, pose
from mapper.api.search import Search
from mapper.api.solution import Solution, as_document
from mapper.api.solving import method_named, run
from mapper.api.verb import Given, evaluated
from mapper.kind.cell import JUDGED, judged_cells
from mapper.kind.part import Options
from mapper.kind.shown import Shown
from mapper.models.compiling import CHILD
from mapper.models.limit import UndecidedError
from mapper.models.plain import in_time, on_disk
from mapper.solver.certificate import Certificate
from mapper.solver.method import Effort
from mapper.workloads.document import InputError

SECONDS_PER_METHOD = 60.0
GIVEN = "given"
"""What stands in place of a method before a mapping from elsewhere."""


@dataclass(frozen=True)
class Row:
    """One line of a comparison or sweep: what was varied (or the method), total cost and certificate. Of a sweep also
    multiply-accumulates, the share of those that the machine could do in the time, the mapping of a problem of one
    part, as documents show it, and in a line that of the part that adds most; None where they are not known."""

    arch: str | None
    cost: dict[str, Any] | None
    certificate: Certificate
    vary: dict[str, Any] | None = None
    macs: int | None = None
    utilisation: float | None = None
    mapping: dict[str, Any] | None = None
    in_a_line: str | None = None

    def to_json(self) -> dict[str, Any]:
        head = {"method": self.certificate.method} if self.vary is None else {"vary": self.vary}
        row: dict[str, Any] = {
            **head,
            "arch": self.arch,
            "cost": self.cost,
            "certificate": self.certificate.to_json(),
        }
        if self.vary is not None and self.macs is not None:
            row |= {"macs": self.macs, "utilisation": self.utilisation, "mapping": self.mapping}
        return as_document(row)


@dataclass(frozen=True, repr=False)
class Comparison(Shown):
    """Methods side by side on one problem. ``refused`` says why a method does not fit it; ``remarks`` are the kind's
    comments on the results."""

    posed: PosedProblem
    rows: tuple[Row, ...]
    refused: dict[str, str]
    remarks: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": "mapper.comparison/1",
            "problem": self.posed.to_json(),
            "rows": [row.to_json() for row in self.rows],
        }

    def in_rows(self) -> tuple[str, list[str], list[list[str]]]:
        rows = [[row.certificate.method, *judged_cells(row.certificate)] for row in self.rows]
        return str(self.posed), ["method", *JUDGED], rows


@CHILD.wanted()
def compare(
    workload: str | None = None,
    arch: str | None = None,
    objective: str | None = None,
    options: Options | None = None,
    search: Search | None = None,
    methods: Sequence[str] | None = None,
    fix: Mapping[str, Any] | None = None,
    mapping: Given | None = None,
) -> Comparison:
    """Every method that fits the problem, one after another, each with its own time limit. A ``mapping`` from anywhere,
    judged by the referee, comes first.

    Raises: ContradictionError if two of them cannot both be right.
    """
    search = search or Search()
    interrupted = Effort(interrupt=search.interrupt).stopped
    problem = in_time(lambda: pose(workload, arch, objective, options, fix), interrupted)
    known = problem.kind.methods_of(problem.read.value)
    names = list(methods or (name for name in known if name != problem.kind.default_method))
    rows, refused, found = [], {}, {}
    solutions: list[Solution] = []
    if mapping is not None:
        try:
            given = evaluated(problem, mapping)
            solutions.append(given)
            rows.append(Row(problem.arch, given.cost, replace(given.certificate, method=GIVEN)))
        except UndecidedError:
            undecided = Certificate("time_limit", False, None, None, False, GIVEN)
            rows.append(Row(problem.arch, None, undecided))
    for name in names:
        limit = SECONDS_PER_METHOD if search.time_limit is None else search.time_limit
        on_disk(method_named(problem, name).prepare)
        try:
            solution = run(problem, replace(search, method=name, time_limit=limit, started=time.monotonic()))
        except InputError as error:
            refused[name] = error.remedy
            continue
        solutions.append(solution)
        for before in solutions[:-1]:
            refuse_contradicting_solutions(before, solution)
        rows.append(Row(problem.arch, solution.cost, replace(solution.certificate, method=name)))
        if (
            len(solution.parts) == 1
            and solution.certificate.verified
            and solution.parts[0].mapping is not None
        ):
            found[name] = solution.parts[0].mapping
        if search.interrupt.is_set():
            break
    remarks = problem.kind.compared(problem.parts[0].problem, found)
    return Comparison(problem, tuple(rows), refused, tuple(remarks))
