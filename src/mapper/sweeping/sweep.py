"""One problem over a grid of machines, solved here or on a cluster."""

from __future__ import annotations

import itertools
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from mapper.api.comparison import Row
from mapper.api.contradicting import refuse_contradicting_solutions
from mapper.api.problem import PosedProblem, pose, posed
from mapper.api.search import Search
from mapper.api.solution import Solution, assemble, unanswered
from mapper.api.solving import run
from mapper.arch.source import machine_from_document, machine_to_document
from mapper.kind.cell import JUDGED, judged_cells
from mapper.kind.part import Options
from mapper.kind.shown import Shown
from mapper.models.compiling import CHILD
from mapper.models.plain import in_time
from mapper.solver.certificate import Stop
from mapper.workloads.document import InputError
from mapper.workloads.text.structured_text import load_yaml

if TYPE_CHECKING:
    from mapper.sweeping.engine import DaskEngine
from mapper.workloads.text.nearest import meant

MOST_SWEPT = 100_000
SECONDS_BEYOND = 0.5
"""How long after the time limit machines are still looked up in the store."""


@dataclass(frozen=True, repr=False)
class Sweep(Shown):
    """One problem over a grid of machines; ``posed`` is it on the first of them, and each row says what it varies."""

    rows: tuple[Row, ...]
    posed: PosedProblem

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": "mapper.sweep/1",
            "problem": self.posed.to_json(),
            "rows": [row.to_json() for row in self.rows],
        }

    def in_rows(self) -> tuple[str, list[str], list[list[str]]]:
        varied = list(self.rows[0].vary or {}) if self.rows else []
        rows = [
            [*(str((row.vary or {})[key]) for key in varied), *judged_cells(row.certificate)]
            for row in self.rows
        ]
        return str(self.posed), [*varied, *JUDGED], rows


@CHILD.wanted()
def sweep(
    workload: str | None,
    arch: str | None,
    vary: Mapping[str, Sequence[Any]],
    objective: str | None = None,
    options: Options | None = None,
    search: Search | None = None,
    engine: DaskEngine | None = None,
    finished: Callable[[int, int], None] | None = None,
) -> Sweep:
    """Solve over the grid of machines that ``vary`` spans: dotted machine field to its values; here, or on ``engine``.
    ``finished`` hears how many machines are done, and of how many, whenever one is. There is a row for every machine:
    one that had no turn before an interrupt or the time limit has no answer, and its certificate says why.

    Raises: InputError if a field or value does not make a machine; ContradictionError if answers to one problem cannot
    both hold; UnfinishedError if the time limit passes while the problems are read.
    """
    search = search or Search()
    points, problems = in_time(lambda: grid(workload, arch, vary, objective, options), search.stopped)
    return swept(points, problems, search, engine, finished)


def swept(
    points: Sequence[dict[str, Any]],
    problems: Sequence[PosedProblem],
    search: Search,
    engine: DaskEngine | None = None,
    finished: Callable[[int, int], None] | None = None,
) -> Sweep:
    """The sweep over ``points``, with the problem of each, as ``sweep`` says."""
    rows: dict[int, Row] = {}
    first: dict[str, Solution] = {}
    repeated = _repeated(points)
    done = _here(problems, search) if engine is None else engine.solve(problems, search)
    for place, solution in done:
        search.begun.set()
        rows[place] = _row(solution, points[place])
        if (name := str(points[place])) in repeated:
            refuse_contradicting_solutions(first.setdefault(name, solution), solution)
        if finished is not None:
            finished(len(rows), len(problems))
    for place in set(range(len(points))) - set(rows):
        rows[place] = _without_turn(problems[place], points[place], search)
    return Sweep(tuple(rows[place] for place in range(len(points))), problems[0])


def _row(solution: Solution, point: dict[str, Any]) -> Row:
    posed, parts, mapping = solution.posed, solution.parts, None
    if len(parts) == 1 and parts[0].mapping is not None:
        mapping = parts[0].mapping.to_json()
    return Row(
        posed.arch,
        solution.cost,
        solution.certificate,
        point,
        solution.macs,
        solution.utilisation,
        mapping,
        _in_a_line(solution),
    )


def _in_a_line(solution: Solution) -> str | None:
    """The mapping of the part that adds most to the value, named if there are others."""
    pairs = zip(solution.posed.parts, solution.parts, strict=True)
    mapped = [(posed, part) for posed, part in pairs if part.mapping is not None]
    if not mapped:
        return None
    posed, part = max(mapped, key=lambda one: one[1].certificate.value or 0)
    line = solution.posed.kind.in_a_line(posed.problem, part)
    return f"{part.name}: {line}" if line is not None and len(solution.parts) > 1 else line


def _repeated(points: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """Machines that stand in the grid more than once."""
    counts = Counter(map(str, points))
    return frozenset(name for name, count in counts.items() if count > 1)


def _without_turn(problem: PosedProblem, point: dict[str, Any], search: Search) -> Row:
    over = search.deadline is not None and time.monotonic() >= search.deadline
    stop: Stop = "time_limit" if over and not search.interrupt.is_set() else "interrupted"
    blank = [
        unanswered(part, search.method, stop, search.seed, search.used_workers) for part in problem.parts
    ]
    return Row(problem.arch, None, assemble(problem, blank).certificate, point)


def grid(
    workload: str | None,
    arch: str | None,
    vary: Mapping[str, Sequence[Any]],
    objective: str | None,
    options: Options | None,
) -> tuple[list[dict[str, Any]], list[PosedProblem]]:
    """The points of the grid, and the problem on each of its machines.

    Raises: InputError as ``sweep``.
    """
    base = pose(workload, arch, objective, options)
    if base.machine is None:
        raise InputError("--vary", "", f"{base.workload} has no machine to vary")
    if math.prod(len(values) for values in vary.values()) > MOST_SWEPT:
        raise InputError("--vary", "", f"more than {MOST_SWEPT} machines; vary less")
    points = [dict(zip(vary, values, strict=True)) for values in itertools.product(*vary.values())]
    machines = [_varied(base, point) for point in points]
    return points, [
        posed(base.kind, base.workload, base.arch, base.objective.name, base.options, base.read, machine)
        for machine in machines
    ]


def _here(problems: Sequence[PosedProblem], search: Search) -> Iterator[tuple[int, Solution]]:
    """What is known already is looked up for a moment after the limit too."""
    deadline = search.deadline
    for place, problem in enumerate(problems):
        if search.interrupt.is_set() or (
            deadline is not None and time.monotonic() > deadline + SECONDS_BEYOND
        ):
            return
        yield place, run(problem, search)


def _varied(base: PosedProblem, point: Mapping[str, Any]) -> Any:
    assert base.machine is not None
    document = machine_to_document(base.machine)
    for key, value in point.items():
        *path, last = key.split(".")
        place: Any = document
        for step in path:
            place = _inside(place, step)
        if not isinstance(place, dict) or last not in place:
            close = meant(key, _paths(document))
            remedy = f"{base.arch} has no such field; {close}mapper show {base.arch} shows them"
            raise InputError("--vary", key, remedy)
        place[last] = value
    source = ", ".join(f"{key}={value}" for key, value in point.items())
    return machine_from_document(document, f"--vary {source}")


def _inside(place: Any, step: str) -> Any:
    """What a document has under a key, or a list of named parts under a name; None if it has nothing there."""
    if isinstance(place, list):
        return next((one for one in place if isinstance(one, dict) and one.get("name") == step), None)
    return place.get(step) if isinstance(place, dict) else None


def _paths(document: Mapping[str, Any]) -> Iterator[str]:
    """Every field of a machine that can be varied, with dots."""
    for key, value in document.items():
        if isinstance(value, Mapping):
            yield from (f"{key}.{path}" for path in _paths(value))
        elif (
            isinstance(value, list)
            and value
            and all(isinstance(one, Mapping) and "name" in one for one in value)
        ):
            yield from (f"{key}.{one['name']}.{path}" for one in value for path in _paths(one))
        else:
            yield key


def varied_values(text: str) -> tuple[str, list[Any]]:
    """Read ``KEY=V1,V2``: values are numbers, words or true and false, as YAML has them.

    Raises: InputError if the text has no such form.
    """
    key, equals, values = text.partition("=")
    if not equals or not key or not values:
        raise InputError("--vary", text[:60], "write KEY=V1,V2,... with a dotted field of the machine")
    try:
        read = [load_yaml(value) for value in values.split(",")]
    except (yaml.YAMLError, ValueError):
        raise InputError("--vary", text[:60], "values must be numbers or words") from None
    if any(not isinstance(value, int | float | str) for value in read):
        raise InputError("--vary", text[:60], "values must be numbers or words")
    return key, read
