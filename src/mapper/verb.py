"""What one can ask of mapper from Python: values in, values out, nothing printed."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from mapper.arch.source import machine_from_document, machine_to_document
from mapper.kind.kind import Kind, Options, PosedPart
from mapper.posing import SOLUTION_SCHEMA, Posed, pose, pose_again, posed
from mapper.solution import Solution, as_document, assemble
from mapper.solver.certificate import Certificate
from mapper.solving import Search, judged, method_named, run
from mapper.workloads.document import InputError, parse_document, read_bytes

LARGEST_SOLUTION_BYTES = 256 << 20
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


def solve(
    workload: str | None = None,
    arch: str | None = None,
    objective: str | None = None,
    options: Options | None = None,
    search: Search | None = None,
    finished: Callable[[Solution], None] | None = None,
) -> Solution:
    """Map ``workload`` to ``arch`` for the least ``objective``.

    Raises: InputError if the problem cannot be posed.
    """
    return run(pose(workload, arch, objective, options), search or Search(), finished)


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


def evaluate(
    workload: str | None,
    arch: str | None,
    mapping: Path,
    objective: str | None = None,
    options: Options | None = None,
) -> Solution:
    """Cost and referee's verdict of a mapping from anywhere: a bare mapping or a solution document.

    Raises: InputError if the file does not hold a mapping for every part.
    """
    problem = pose(workload, arch, objective, options)
    fields = read_document(mapping)
    parts = []
    for part, own in zip(problem.parts, _mappings(fields, problem, str(mapping)), strict=True):
        read = problem.kind.read_mapping(own, part.problem, str(mapping))
        certificate = Certificate("given", True, None, None, False, "evaluate")
        parts.append(judged(problem.kind, part, read, certificate))
    return assemble(problem, parts)


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


def simulate(solution: Path | Mapping[str, Any], seed: int = 0, rtl: bool = False) -> dict[str, Any]:
    """Run every part of a solution: outputs against a reference, simulated cost against the model's; with ``rtl`` the
    generated hardware too.

    Raises: InputError if the document is no solution.
    """
    problem, mappings = _solved(solution)
    results, models = [], []
    for part, mapping in _distinct(problem, mappings):
        verdict = problem.kind.judge(part.problem, mapping)
        if verdict.cost is None:
            raise InputError(
                str(solution)[:120], f"parts.{part.name}", "its mapping has no cost; solve it anew"
            )
        hardware = problem.kind.simulate_rtl(part, mapping, seed) if rtl else None
        result = {"name": part.name, **problem.kind.simulate(part, mapping, seed), "cost_model": verdict.cost}
        if hardware is not None:
            result |= {
                "rtl": hardware,
                "outputs_equal": result["outputs_equal"] and hardware["outputs_equal"],
                "agrees": result["agrees"] and hardware["agrees"],
                "notes": [*result.get("notes", []), *hardware.get("notes", [])],
            }
        results.append(result)
    by_key = {
        part.key: result for (part, _), result in zip(_distinct(problem, mappings), results, strict=True)
    }
    parts = [{**by_key[part.key], "name": part.name} for part in problem.parts]
    models = [part["cost_model"] for part in parts]
    return as_document(
        {
            "schema": "mapper.simulation/1",
            "outputs_equal": all(part["outputs_equal"] for part in parts),
            "max_error": max(part["max_error"] for part in parts),
            "cost_model": problem.kind.total(models),
            "cost_simulated": problem.kind.total([part["cost_simulated"] for part in parts]),
            "agrees": all(part["agrees"] for part in parts),
            "parts": parts,
            "data": {"seed": seed},
        }
    )


def generate(solution: Path | Mapping[str, Any], directory: Path, seed: int = 0) -> tuple[Path, ...]:
    """Write the code that a solution becomes; one folder per distinct part if there are several.

    Raises: InputError if the document is no solution or the folder cannot be written.
    """
    problem, mappings = _solved(solution)
    distinct = _distinct(problem, mappings)
    written = []
    for part, mapping in distinct:
        folder = directory / part.name if len(distinct) > 1 else directory
        for name, text in problem.kind.generate(part, mapping, seed).items():
            path = folder / name
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            except OSError as error:
                raise InputError(str(path), "", f"cannot be written ({error.strerror})") from None
            written.append(path)
    return tuple(written)


def read_document(path: Path) -> dict[str, Any]:
    """A solution or mapping file.

    Raises: InputError if it cannot be read.
    """
    return parse_document(read_bytes(path, LARGEST_SOLUTION_BYTES), str(path), LARGEST_SOLUTION_BYTES)


def _mappings(fields: Mapping[str, Any], problem: Posed, source: str) -> list[Any]:
    """The mapping of every part: by name from a solution, the file itself if the problem has one part."""
    if fields.get("schema") != SOLUTION_SCHEMA:
        if len(problem.parts) > 1:
            names = ", ".join(part.name for part in problem.parts[:4])
            raise InputError(
                source, "", f"is one mapping, the workload has {len(problem.parts)} parts ({names} …)"
            )
        return [fields]
    listed = fields.get("parts")
    if not isinstance(listed, list) or not all(isinstance(part, dict) for part in listed):
        raise InputError(source, "parts", "must list the parts of a solution")
    by_name = {part.get("name"): part.get("mapping") for part in listed}
    for part in problem.parts:
        if by_name.get(part.name) is None:
            raise InputError(source, f"parts.{part.name}", "has no mapping; solve it first")
    return [by_name[part.name] for part in problem.parts]


def _solved(solution: Path | Mapping[str, Any]) -> tuple[Posed, list[Any]]:
    source = str(solution) if isinstance(solution, Path) else "the solution"
    fields = read_document(solution) if isinstance(solution, Path) else solution
    problem = pose_again(fields, source)
    own = _mappings(fields, problem, source)
    return problem, [
        problem.kind.read_mapping(mapping, part.problem, source)
        for part, mapping in zip(problem.parts, own, strict=True)
    ]


def _distinct(problem: Posed, mappings: list[Any]) -> list[tuple[PosedPart, Any]]:
    """Parts that are not repeats of an earlier one, with their mappings."""
    first: dict[Any, tuple[PosedPart, Any]] = {}
    for part, mapping in zip(problem.parts, mappings, strict=True):
        first.setdefault(part.key, (part, mapping))
    return list(first.values())


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


def explained(problem: Posed, part: str | None = None) -> tuple[Kind, Any]:
    """The formulation of one part (the first, unless said), built."""
    chosen = next((p for p in problem.parts if part in (None, p.name)), None)
    if chosen is None:
        raise InputError("--part", str(part), f"is no part; the first are {problem.parts[0].name} …")
    return problem.kind, problem.kind.formulation(chosen.problem)
