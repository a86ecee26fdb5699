"""From names, files and options to a posed problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from mapper.arch.dataflow import as_solved
from mapper.arch.source import Machine, load_machine_files, machine_from_document, machine_to_document
from mapper.formulations.objective import Objective
from mapper.kind import alone, imported, kind_named, kind_of, needs_machine
from mapper.kind.kind import AnyKind, AnyPart
from mapper.kind.part import Options, Workload
from mapper.workloads.c.reading import AS_WRITTEN, reading_from_json
from mapper.workloads.document import InputError
from mapper.workloads.graph.kernel_source import is_kernel, is_source
from mapper.workloads.network.naming import names_of, own_fix
from mapper.workloads.network.network import InputFile
from mapper.workloads.text.nearest import meant
from mapper.workloads.text.plain_text import plain

DEFAULT_WORKLOAD = "resnet-dmazerunner"
DEFAULT_MACHINE = "dmazerunner-256"
DEFAULT_KERNEL_MACHINE = "srp-4x4"
DEFAULT_MACHINES = {"mnist-tcpa": "tcpa-4x4"}
"""Machines of the networks that were published with one of another kind."""
SOLUTION_SCHEMA = "mapper.solution/1"
LARGEST_OPTION = 1 << 62
"""Numbers of frames, PEs, bytes and images that a document may ask for."""


@dataclass(frozen=True, repr=False)
class PosedProblem:
    """A problem of one kind, in parts: a workload and a machine with an objective and options."""

    kind: AnyKind
    workload: str
    arch: str | None
    objective: Objective
    options: Options
    read: Workload[Any]
    machine: Machine | None
    parts: tuple[AnyPart, ...]

    @property
    def shares_limit(self) -> bool:
        """Whether several parts have a limit on latency together."""
        return self.options.max_latency is not None and len(self.parts) > 1

    def __repr__(self) -> str:
        """As a prompt shows it, of which machine and workload would fill screens."""
        return f"<PosedProblem {plain(str(self))}>"

    def __str__(self) -> str:
        """The problem in a line."""
        usual = self.kind.usual_fix(self.read.value, self.options.fix)
        chosen = {key: value for key, value in self.options.fix.items() if usual.get(key) != value}
        pinned = "".join(f", {key}={value}" for key, value in chosen.items())
        limit = self.options.max_latency
        pinned += "" if limit is None else f", at most {limit:g} ms"
        machine = "" if self.arch is None else f" on {self.arch}"
        sought = f"{self.objective.sense} {self.objective}{pinned} ({self.kind.name})"
        return f"{self.workload}{machine}: {sought}"

    def to_json(self) -> dict[str, Any]:
        """``problem`` of a solution document: all that simulating and generating need."""
        return {
            "kind": self.kind.name,
            "workload": self.workload,
            "arch": self.arch,
            "objective": self.objective.name,
            "options": self.options.to_json(),
            "inputs": [asdict(file) for file in self.read.inputs],
            "machine": None if self.machine is None else machine_to_document(self.machine),
            "structure": self.kind.structure(self.read.value),
        }


def pose(
    workload: str | None = None,
    arch: str | None = None,
    objective: str | None = None,
    options: Options | None = None,
    fix: Mapping[str, Any] | None = None,
) -> PosedProblem:
    """Read workload and machine and pose the problem; ``fix`` pins decisions beside those of ``options``.

    Raises: InputError if anything about them is wrong or does not fit together.
    """
    options = (options or Options()).pinned(fix)
    named = workload or DEFAULT_WORKLOAD
    entry = alone(named)
    if entry is not None and entry.alone is not None:
        if arch is not None:
            remedy = f"{named} is {entry.alone.called}, which takes no machine; leave it out"
            raise InputError("--arch", arch, remedy)
        kind = imported(entry)
        return posed(
            kind, named, None, objective, options, kind.read(named, options.batch, options.dim), None
        )
    usual = DEFAULT_KERNEL_MACHINE if is_kernel(named) else DEFAULT_MACHINE
    machine_name = arch or DEFAULT_MACHINES.get(named.partition("/")[0], usual)
    machine, machine_files = load_machine_files(machine_name)
    kind = kind_of(machine)
    if options.source != AS_WRITTEN and not is_source(named):
        raise InputError(
            "--define", "", f"{named[:60]} is no C and no LLVM IR; leave the options of sources out"
        )
    read = kind.read_source(named, options.batch, options.dim, options.source, options.fix)
    skipped = (*read.skipped, *kind.left_out(read.value, machine))
    read = replace(read, inputs=(*read.inputs, *machine_files), skipped=skipped)
    options = replace(
        options, batch=read.batch, fix={**kind.usual_fix(read.value, options.fix), **options.fix}
    )
    return posed(kind, named, machine_name, objective, options, read, machine)


def posed(
    kind: AnyKind,
    workload: str,
    arch: str | None,
    objective: str | None,
    options: Options,
    read: Workload[Any],
    machine: Machine | None,
) -> PosedProblem:
    """Pose the problem from values that have already been read.

    Raises: InputError if the kind has no such objective or option.
    """
    known = {one.name: one for one in kind.objectives_of(read.value)}
    chosen = objective or next(iter(known))
    if chosen not in known:
        raise InputError(
            "--objective", chosen, f"{meant(chosen, known)}the kind {kind.name} has {', '.join(known)} here"
        )
    names = names_of(read.value)
    for name in () if names else options.dim:
        raise InputError("--dim", name[:60], "is for open dimensions of ONNX networks; leave it out")
    unknown = sorted(options.given() - kind.options - {"batch", "dim", "source"})
    if unknown:
        flag = "--" + unknown[0].replace("_", "-")
        raise InputError(flag, "", f"does not apply to the kind {kind.name}; leave it out")
    options = replace(options, fix=own_fix(options.fix, names))
    options = replace(options, model=options.model or kind.model_of(read.value))
    parts = kind.pose(read.value, machine, known[chosen], options)
    return PosedProblem(kind, workload, arch, known[chosen], options, read, machine, parts)


def pose_again(document: Mapping[str, Any], source: str) -> PosedProblem:
    """The problem that a solution document carries.

    Raises: InputError if the document is no solution or lacks what posing needs.
    """
    if document.get("schema") != SOLUTION_SCHEMA:
        raise InputError(source, "schema", f"must be {SOLUTION_SCHEMA}")
    problem = document.get("problem")
    if not isinstance(problem, dict):
        raise InputError(source, "problem", "is missing; give a solution written by mapper solve")
    for key, kind in (("kind", str), ("workload", str), ("objective", str), ("structure", dict)):
        if not isinstance(problem.get(key), kind):
            raise InputError(source, f"problem.{key}", "is missing; give a solution written by mapper solve")
    options = _options(problem.get("options"), source)
    machine = _machine(problem, source)
    known = kind_named(problem["kind"], machine, source)
    value = known.read_structure(problem["structure"], problem["workload"], source)
    inputs = _inputs(problem.get("inputs"), source)
    read = Workload(known.located(value, inputs), inputs, options.batch)
    arch = None if machine is None else str(problem.get("arch"))
    return posed(known, problem["workload"], arch, problem["objective"], options, read, machine)


def _machine(problem: Mapping[str, Any], source: str) -> Machine | None:
    """The machine that a document carries, if its kind has machines."""
    fields = problem.get("machine")
    if fields is None and not needs_machine(problem["kind"], problem["structure"]):
        return None
    if not isinstance(fields, dict):
        raise InputError(source, "problem.machine", "is missing; give a solution written by mapper solve")
    return machine_from_document(as_solved(fields), f"{source}: problem.machine")


def _inputs(entries: Any, source: str) -> tuple[InputFile, ...]:
    if not isinstance(entries, list) or not all(
        isinstance(entry, dict) and set(entry) == {"path", "sha256"} for entry in entries
    ):
        raise InputError(source, "problem.inputs", "must list paths with their sha256")
    return tuple(InputFile(str(entry["path"]), str(entry["sha256"])) for entry in entries)


def _options(fields: Any, source: str) -> Options:
    known = {*Options().to_json(), "dim", "max_latency", "source"}
    if not isinstance(fields, dict) or set(fields) - known:
        raise InputError(source, "problem.options", "must hold the options of a problem")
    fix = fields.get("fix") or {}
    if not isinstance(fix, dict) or not all(isinstance(value, str) for value in fix.values()):
        raise InputError(source, "problem.options.fix", "must name decisions and their values")
    limits = (
        ("batch", (int,), 1),
        ("max_pes", (int,), 1),
        ("max_buffer", (int,), 0),
        ("min_throughput", (int, float), 0),
        ("max_latency", (int, float), 0),
    )
    for key, types, least in limits:
        value = fields.get(key)
        if value is not None and (type(value) not in types or not least <= value <= LARGEST_OPTION):
            remedy = f"must be {'a number' if float in types else 'an integer'} from {least} on"
            raise InputError(source, f"problem.options.{key}", remedy)
    if not isinstance(fields.get("model"), str | None):
        raise InputError(source, "problem.options.model", "must be the name of a model")
    dim = fields.get("dim") or {}
    if not isinstance(dim, dict) or not all(
        type(size) is int and 1 <= size <= LARGEST_OPTION for size in dim.values()
    ):
        raise InputError(source, "problem.options.dim", "must name open dimensions and their sizes")
    read = reading_from_json(fields.get("source") or {}, source)
    return Options(**{**fields, "fix": fix, "dim": dim, "source": read})
