"""Kinds of problems: what a workload and a machine pose, one module per kind."""

from __future__ import annotations

from mapper.arch.source import Machine
from mapper.kind.kind import Kind
from mapper.workloads.document import InputError


def kinds() -> tuple[Kind, ...]:
    """All kinds."""
    from mapper.kind.algorithm_selection import ALGORITHM_SELECTION
    from mapper.kind.modulo_schedule import MODULO_SCHEDULING
    from mapper.kind.pe_allocation import PE_ALLOCATION
    from mapper.kind.tiling import TILING

    return (TILING, MODULO_SCHEDULING, PE_ALLOCATION, ALGORITHM_SELECTION)


def kind_of(machine: Machine | None) -> Kind:
    """The kind of problem that a machine of this class poses; without one, that of PBQP instances."""
    tiling, modulo_scheduling, pe_allocation, algorithm_selection = kinds()
    if machine is None:
        return algorithm_selection
    by_schema = {
        "mapper.dataflow/1": tiling,
        "mapper.cgra/1": modulo_scheduling,
        "mapper.tcpa/1": pe_allocation,
        "mapper.dynamap/1": algorithm_selection,
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
