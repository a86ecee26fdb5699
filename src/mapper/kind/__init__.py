"""Kinds of problems: what a workload and a machine pose, one module per kind."""

from __future__ import annotations

from mapper.arch.source import Machine
from mapper.kind.kind import Kind
from mapper.workloads.document import InputError


def kind_of(machine: Machine) -> Kind:
    """The kind of problem that a machine of this class poses.

    Raises: InputError if this version has no kind for the class.
    """
    from mapper.kind.tiling import TILING

    known: dict[str, Kind] = {"mapper.dataflow/1": TILING}
    if machine.schema_name not in known:
        remedy = f"this version has no kind of problem for {machine.schema_name}; take a machine of {', '.join(known)}"
        raise InputError("--arch", machine.name, remedy)
    return known[machine.schema_name]


def kind_named(name: str, source: str) -> Kind:
    """The kind of a document.

    Raises: InputError if there is none of that name.
    """
    from mapper.kind.tiling import TILING

    if name != TILING.name:
        raise InputError(source, "problem.kind", f"{name!r} is unknown; this version knows {TILING.name}")
    return TILING


def kinds() -> tuple[Kind, ...]:
    """All kinds."""
    from mapper.kind.tiling import TILING

    return (TILING,)
