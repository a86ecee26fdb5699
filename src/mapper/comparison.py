"""Several answers to one question: methods side by side, and one problem over a grid of machines."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import yaml

from mapper.arch.source import machine_from_document, machine_to_document
from mapper.kind.kind import Options
from mapper.posing import Posed, pose, posed
from mapper.solution import as_document
from mapper.solver.certificate import Certificate
from mapper.solving import Search, method_named, run
from mapper.workloads.document import InputError

SECONDS_PER_METHOD = 60.0
MOST_SWEPT = 100_000


@dataclass(frozen=True)
class Row:
    """One line of a comparison or sweep: what was varied (or the method), total cost and certificate."""

    arch: str | None
    cost: dict[str, Any] | None
    certificate: Certificate
    vary: dict[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        head = {"method": self.certificate.method} if self.vary is None else {"vary": self.vary}
        row = {**head, "arch": self.arch, "cost": self.cost, "certificate": self.certificate.to_json()}
        return as_document(row)


@dataclass(frozen=True)
class Comparison:
    """Methods side by side on one problem; ``refused`` says why a method does not fit it, ``remarks`` what the kind
    has to say of what they found."""

    posed: Posed
    rows: tuple[Row, ...]
    refused: dict[str, str]
    remarks: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": "mapper.comparison/1",
            "problem": self.posed.to_json(),
            "rows": [row.to_json() for row in self.rows],
        }


@dataclass(frozen=True)
class Sweep:
    """One problem over a grid of machines."""

    rows: tuple[Row, ...]

    def to_json(self) -> dict[str, Any]:
        return {"schema": "mapper.sweep/1", "rows": [row.to_json() for row in self.rows]}


def compare(
    workload: str | None = None,
    arch: str | None = None,
    objective: str | None = None,
    options: Options | None = None,
    search: Search | None = None,
    methods: Sequence[str] | None = None,
) -> Comparison:
    """Every method that fits the problem, one after another, each with its own time limit."""
    problem = pose(workload, arch, objective, options)
    search = search or Search()
    known = problem.kind.methods_of(problem.read.value)
    names = list(methods or (name for name in known if name != problem.kind.default_method))
    rows, refused, found = [], {}, {}
    for name in names:
        limit = SECONDS_PER_METHOD if search.time_limit is None else search.time_limit
        method_named(problem, name).prepare()
        try:
            solution = run(problem, replace(search, method=name, time_limit=limit, started=time.monotonic()))
        except InputError as error:
            refused[name] = error.remedy
            continue
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


def sweep(
    workload: str | None,
    arch: str | None,
    vary: Mapping[str, Sequence[Any]],
    objective: str | None = None,
    options: Options | None = None,
    search: Search | None = None,
) -> Sweep:
    """Solve over the grid of machines that ``vary`` spans: dotted machine field to its values.

    Raises: InputError if a field or value does not make a machine.
    """
    base = pose(workload, arch, objective, options)
    if base.machine is None:
        raise InputError("--vary", "", f"{base.workload} has no machine to vary")
    if len(list(itertools.product(*vary.values()))) > MOST_SWEPT:
        raise InputError("--vary", "", f"more than {MOST_SWEPT} machines; vary less")
    points = [dict(zip(vary, values, strict=True)) for values in itertools.product(*vary.values())]
    machines = [_varied(base, point) for point in points]
    rows = []
    for point, machine in zip(points, machines, strict=True):
        problem = posed(base.workload, base.arch, base.objective, base.options, base.read, machine)
        solution = run(problem, search or Search())
        rows.append(Row(base.arch, solution.cost, solution.certificate, point))
        if search is not None and search.interrupt.is_set():
            break
    return Sweep(tuple(rows))


def _varied(base: Posed, point: Mapping[str, Any]) -> Any:
    assert base.machine is not None
    document = machine_to_document(base.machine)
    for key, value in point.items():
        *path, last = key.split(".")
        place = document
        for step in path:
            place = place.get(step) if isinstance(place, dict) else None  # type: ignore[assignment]
        if not isinstance(place, dict) or last not in place:
            raise InputError("--vary", key, f"{base.arch} has no such field; see mapper show {base.arch}")
        place[last] = value
    source = ", ".join(f"{key}={value}" for key, value in point.items())
    return machine_from_document(document, f"--vary {source}")


def varied_values(text: str) -> tuple[str, list[Any]]:
    """Read ``KEY=V1,V2``: values are numbers, words or true and false, as YAML has them.

    Raises: InputError if the text has no such form.
    """
    key, equals, values = text.partition("=")
    if not equals or not key or not values:
        raise InputError("--vary", text[:60], "write KEY=V1,V2,... with a dotted field of the machine")
    try:
        read = [yaml.safe_load(value) for value in values.split(",")]
    except yaml.YAMLError:
        raise InputError("--vary", text[:60], "values must be numbers or words") from None
    if any(not isinstance(value, int | float | str) for value in read):
        raise InputError("--vary", text[:60], "values must be numbers or words")
    return key, read
