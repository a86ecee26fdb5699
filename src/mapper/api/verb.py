"""The verbs of the Python API: they take and return values, and print nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, overload

from mapper.api.part.verification import verified
from mapper.api.problem import SOLUTION_SCHEMA, PosedProblem, pose, pose_again
from mapper.api.search import Search
from mapper.api.solution import Solution, as_document, assemble
from mapper.api.solving import run
from mapper.kind.kind import LARGEST_SOLUTION_BYTES, AnyPart
from mapper.kind.part import Options
from mapper.models.plain import in_time, limited
from mapper.solver.certificate import Certificate
from mapper.workloads.document import InputError, parse_document, read_bytes
from mapper.workloads.graph.kernel_source import is_ir
from mapper.workloads.process.whole_file import write_whole
from mapper.workloads.text.file_name import file_name, file_names


def solve(
    workload: str | None = None,
    arch: str | None = None,
    objective: str | None = None,
    options: Options | None = None,
    search: Search | None = None,
    finished: Callable[[Solution], None] | None = None,
    fix: Mapping[str, Any] | None = None,
) -> Solution:
    """Map ``workload`` to ``arch`` for the least ``objective``; ``repr`` of the solution tells it in three lines.

    ``workload``: a name of ``mapper list workloads``, ``name/part``, or a file. ``arch``: a name of ``mapper list
    archs``, or a file; by default the usual machine for the workload. ``objective``: one of ``mapper list
    objectives``, ``edp`` or ``energy``; by default the first of the machine's kind. ``options``: what else changes the
    problem, ``mapper.Options(batch=4)``. ``search``: how to search, ``mapper.Search(method="cp-sat", time_limit=60)``.
    ``finished`` is given the solution so far whenever a part is done. ``fix`` pins decisions, as ``--fix`` does:
    ``{"M.rf": 8, "spatial": ["Oy", "Ox"]}``.

    Raises: InputError if the problem cannot be posed; UnfinishedError if time is over before it is.
    """
    search = search or Search()
    posed = in_time(lambda: pose(workload, arch, objective, options, fix), search.stopped)
    return run(posed, search, finished)


Given = Path | str | Mapping[str, Any] | Solution
"""A mapping from anywhere: a file, text as such a file holds it, the fields of a document, or a solution's own."""
ENDINGS = (".json", ".yaml", ".yml", ".txt")
"""Text that ends so and is one line names a file."""


@overload
def evaluate(
    workload: str | None,
    arch: str | None,
    mapping: Given,
    objective: str | None = None,
    options: Options | None = None,
    fix: Mapping[str, Any] | None = None,
) -> Solution: ...


@overload
def evaluate(
    workload: str | None,
    arch: str | None,
    mapping: list[Given] | tuple[Given, ...],
    objective: str | None = None,
    options: Options | None = None,
    fix: Mapping[str, Any] | None = None,
) -> tuple[Solution, ...]: ...


def evaluate(
    workload: str | None,
    arch: str | None,
    mapping: Given | list[Given] | tuple[Given, ...],
    objective: str | None = None,
    options: Options | None = None,
    fix: Mapping[str, Any] | None = None,
) -> Solution | tuple[Solution, ...]:
    """Cost a mapping from any source, a bare mapping or a solution document, and have the referee check it; of a list
    of mappings each, in order, the problem posed once. Text that ends as names of files do is one, other text is the
    mapping itself.

    Raises: InputError if one does not hold a mapping for every part.
    """
    problem = pose(workload, arch, objective, options, fix)
    if not isinstance(mapping, list | tuple):
        return evaluated(problem, mapping)
    return tuple(evaluated(problem, one) for one in mapping)


def evaluated(problem: PosedProblem, mapping: Given) -> Solution:
    """What ``evaluate`` gives for one mapping of a problem that is posed already.

    Raises: InputError as there.
    """
    if isinstance(mapping, str) and mapping.endswith(ENDINGS) and "\n" not in mapping:
        mapping = Path(mapping)
    source = str(mapping) if isinstance(mapping, Path) else "mapping"
    if isinstance(mapping, Solution):
        fields: Mapping[str, Any] = mapping.to_json()
    elif isinstance(mapping, Mapping):
        fields = mapping
    else:
        data = read_bytes(mapping, LARGEST_SOLUTION_BYTES) if isinstance(mapping, Path) else mapping.encode()
        fields = problem.kind.mapping_document(data, source)
    parts = []
    for part, own in zip(problem.parts, _mappings(fields, problem, source), strict=True):
        read = problem.kind.read_mapping(own, part.problem, source)
        certificate = Certificate("given", True, None, None, False, "evaluate")
        with limited(lambda: None):
            parts.append(verified(problem.kind, part, read, certificate))
    return assemble(problem, parts)


Solved = Path | str | Mapping[str, Any] | Solution
"""A solution: as ``solve`` gave it, its document, or the file that holds that."""


def simulate(
    solution: Solved,
    seed: int = 0,
    rtl: bool = False,
    program: Path | None = None,
    words: bool = False,
) -> dict[str, Any]:
    """Run every part of a solution, and compare its outputs with a reference and its cost with the model's. With
    ``rtl``, also run the generated hardware; with ``program``, run that file instead of the solution's own program;
    with ``words``, execute the programs of PEs word by word. Instead of a solution, ``file.ll:function:N`` compares
    the graph of a loop in LLVM IR with what llvmlite's own JIT makes of it.

    Raises: InputError if the document is not a solution.
    """
    if isinstance(solution, Path | str) and is_ir(str(solution)):
        from mapper.kind.modulo_schedule.source_run import simulated_source

        if rtl or words or program is not None:
            raise InputError(
                str(solution)[:120], "", "is a loop without a schedule; simulate its solution instead"
            )
        return simulated_source(str(solution), seed)
    problem, mappings, source = _solved(solution)
    results, models = [], []
    for part, mapping in _distinct(problem, mappings):
        verdict = problem.kind.verify(part.problem, mapping)
        if verdict.cost is None:
            raise InputError(source[:120], f"parts.{part.name}", "its mapping has no cost; solve it again")
        hardware = problem.kind.simulate_rtl(part, mapping, seed) if rtl else None
        if program is not None:
            own = problem.kind.simulate_program(part, mapping, seed, program)
        elif words:
            own = problem.kind.simulate_words(part, mapping, seed)
        else:
            own = problem.kind.simulate(part, mapping, seed)
        result = {"name": part.name, **own, "cost_model": verdict.cost}
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
    data = {"seed": seed} | {key: value for part in parts for key, value in part.pop("data", {}).items()}
    models = [part["cost_model"] for part in parts]
    # A kind may report a difference that is no failure.
    failed = [part.get("failed", not (part["outputs_equal"] and part["agrees"])) for part in parts]
    return as_document(
        {
            "schema": "mapper.simulation/1",
            "outputs_equal": all(part["outputs_equal"] for part in parts),
            "max_error": max(part["max_error"] for part in parts),
            "cost_model": problem.kind.total(models),
            "cost_simulated": problem.kind.total([part["cost_simulated"] for part in parts]),
            "agrees": all(part["agrees"] for part in parts),
            "failed": any(failed),
            "parts": [one for part in parts for one in part.pop("parts", None) or [part]],
            "data": data,
        }
    )


def generate(solution: Solved, directory: Path | str, seed: int = 0) -> tuple[Path, ...]:
    """Write the code that a solution becomes; one folder per distinct part if there are several, and
    beside them what the workload becomes as a whole.

    Raises: InputError if the document is no solution or the folder cannot be written.
    """
    directory = Path(directory)
    problem, mappings, _ = _solved(solution)
    distinct = _distinct(problem, mappings)
    written = []
    # Names of parts may come from a file: none leads out of the folder, or into that of another part.
    folders = file_names(part.name for part, _ in distinct)
    for (part, mapping), own in zip(distinct, folders, strict=True):
        folder = directory / own if len(distinct) > 1 else directory
        written += _written(folder, problem.kind.generate(part, mapping, seed))
    answered = [(part.problem, mapping) for part, mapping in zip(problem.parts, mappings, strict=True)]
    written += _written(directory, problem.kind.generate_whole(problem.read.value, answered, seed))
    return tuple(written)


def _written(folder: Path, files: Mapping[str, str | bytes]) -> list[Path]:
    written = []
    for name, content in files.items():
        path = folder.joinpath(*map(file_name, name.split("/")))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(str(path), "", f"cannot be written ({error.strerror})") from None
        write_whole(path, content)
        written.append(path)
    return written


def read_document(path: Path) -> dict[str, Any]:
    """A solution or mapping file.

    Raises: InputError if it cannot be read.
    """
    return parse_document(read_bytes(path, LARGEST_SOLUTION_BYTES), str(path), LARGEST_SOLUTION_BYTES)


def _mappings(fields: Mapping[str, Any], problem: PosedProblem, source: str) -> list[Any]:
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
    found = []
    for part in problem.parts:
        own = problem.kind.gather(part.problem, part.name, by_name)
        if own is None:
            raise InputError(source, f"parts.{part.name}", "has no mapping; solve it first")
        if not isinstance(own, Mapping):
            raise InputError(source, f"parts.{part.name}.mapping", "must be an object; solve it again")
        found.append(own)
    return found


def _solved(solution: Solved) -> tuple[PosedProblem, list[Any], str]:
    """The problem, the mappings of its parts, and what errors call the solution."""
    source = str(solution) if isinstance(solution, Path | str) else "the solution"
    if isinstance(solution, Solution):
        fields: Mapping[str, Any] = solution.to_json()
    else:
        fields = solution if isinstance(solution, Mapping) else read_document(Path(solution))
    problem = pose_again(fields, source)
    own = _mappings(fields, problem, source)
    mappings = [
        problem.kind.read_mapping(mapping, part.problem, source)
        for part, mapping in zip(problem.parts, own, strict=True)
    ]
    return problem, mappings, source


def _distinct(problem: PosedProblem, mappings: list[Any]) -> list[tuple[AnyPart, Any]]:
    """Parts that are not repeats of an earlier one, with their mappings."""
    first: dict[Any, tuple[AnyPart, Any]] = {}
    for part, mapping in zip(problem.parts, mappings, strict=True):
        first.setdefault(part.key, (part, mapping))
    return list(first.values())
