"""Kinds of problems: what a workload and a machine pose, one module per kind."""

from __future__ import annotations

from mapper.arch.source import Machine
from mapper.kind.kind import Kind
from mapper.workloads.document import InputError


def kinds() -> tuple[Kind, ...]:
    """All kinds."""
    from mapper.kind.modulo_schedule import MODULO_SCHEDULING
    from mapper.kind.pe_allocation import PE_ALLOCATION
    from mapper.kind.tiling import TILING

    return (TILING, MODULO_SCHEDULING, PE_ALLOCATION)


def kind_of(machine: Machine) -> Kind:
    """The kind of problem that a machine of this class poses."""
    tiling, modulo_scheduling, pe_allocation = kinds()
    by_schema = {
        "mapper.dataflow/1": tiling,
        "mapper.cgra/1": modulo_scheduling,
        "mapper.tcpa/1": pe_allocation,
    }
    return by_schema[machine.schema_name]


def kind_named(name: str, source: str) -> Kind:
    """The kind of a document.

    Raises: InputError if there is none of that name.
    """
    known = {kind.name: kind for kind in kinds()}
    if name not in known:
        raise InputError(
            source, "problem.kind", f"{name!r} is unknown; this version knows {', '.join(known)}"
        )
    return known[name]
