"""Kinds of problems: what a workload and a machine pose, one folder per kind, one line each in ``ENTRIES``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from mapper.arch.source import Machine, add_machine_class
from mapper.formulations.objective import (
    DSPS,
    EDP,
    ENERGY,
    II,
    LATENCY,
    PES,
    THROUGHPUT,
    TRAFFIC,
    VALUE,
    Objective,
)
from mapper.kind.kind import AnyKind
from mapper.workloads.document import InputError


@dataclass(frozen=True)
class Alone:
    """Workloads that need no machine: what they are ``called``, with an article; ``named``, the ``module:function``
    that says whether a text names one; and ``structure``, the field of their structure in a document."""

    called: str
    named: str
    structure: str


@dataclass(frozen=True)
class Entry:
    """A kind before its module is imported: its folder as a package, in which ``kind.py`` has the ``value``; what
    documents call it, the schema of its machines (None: it has none), and its objectives, the default first. Listing
    names must not wait for formulations and searches. ``machine``: ``module:function`` that reads a machine of the
    schema from a document, where `arch.source` does not know the class. ``alone``: how its workloads are known, where
    it has no machines."""

    package: str
    name: str
    schema: str | None
    objectives: tuple[Objective, ...]
    value: str
    machine: str | None = None
    alone: Alone | None = None

    @property
    def folder(self) -> Path:
        """Where the kind's files are."""
        found = find_spec(self.package)
        assert found is not None and found.submodule_search_locations, f"{self.package} is no package"
        return Path(next(iter(found.submodule_search_locations)))


_HERE = "mapper.kind."
ENTRIES: tuple[Entry, ...] = (
    Entry(_HERE + "tiling", "tiling", "mapper.dataflow/1", (EDP, ENERGY, LATENCY), "TILING"),
    Entry(_HERE + "modulo_schedule", "modulo_schedule", "mapper.cgra/1", (II, LATENCY), "MODULO_SCHEDULING"),
    Entry(
        _HERE + "pe_allocation",
        "pe_allocation",
        "mapper.tcpa/1",
        (THROUGHPUT, LATENCY, PES),
        "PE_ALLOCATION",
    ),
    Entry(
        _HERE + "algorithm_selection",
        "algorithm_selection",
        "mapper.dynamap/1",
        (LATENCY, EDP, DSPS),
        "ALGORITHM_SELECTION",
    ),
    Entry(
        _HERE + "pbqp",
        "algorithm_selection",
        None,
        (VALUE,),
        "PBQP",
        alone=Alone("a PBQP instance", "mapper.workloads.pbqp.file:is_pbqp", "pbqp"),
    ),
    Entry(
        _HERE + "trace_partition",
        "trace_partition",
        "mapper.snowflake/1",
        (LATENCY, TRAFFIC, ENERGY),
        "TRACE_PARTITION",
    ),
    Entry(
        _HERE + "hierarchy",
        "hierarchy",
        "mapper.hierarchy/1",
        (EDP, ENERGY, LATENCY),
        "HIERARCHY",
    ),
)


def register(entry: Entry) -> None:
    """Add a kind that stands in a package of its own, as one line of ``ENTRIES`` would."""
    global ENTRIES
    ENTRIES = (*ENTRIES, entry)
    _know_machines(entry)


def _know_machines(entry: Entry) -> None:
    if entry.schema is not None and entry.machine is not None:
        add_machine_class(entry.schema, entry.machine)


def kinds() -> tuple[AnyKind, ...]:
    """All kinds."""
    return tuple(imported(entry) for entry in ENTRIES)


def kind_of(machine: Machine) -> AnyKind:
    """The kind of problem that a machine of this class poses."""
    return imported(next(entry for entry in ENTRIES if entry.schema == machine.schema_name))


def alone(text: str) -> Entry | None:
    """The kind whose workload ``text`` names, if that needs no machine."""
    for entry in ENTRIES:
        if entry.alone is not None:
            module, _, function = entry.alone.named.partition(":")
            if getattr(import_module(module), function)(text):
                return entry
    return None


def needs_machine(name: str, structure: Mapping[str, Any]) -> bool:
    """Whether a problem of the kind that a document calls so, with this structure, has a machine."""
    named = (entry.alone for entry in ENTRIES if entry.name == name)
    return not any(one is not None and one.structure in structure for one in named)


def kind_named(name: str, machine: Machine | None, source: str) -> AnyKind:
    """The kind of a document that names it, and holds this machine.

    Raises: InputError if there is none of that name, or it has other machines.
    """
    named = [entry for entry in ENTRIES if entry.name == name]
    if not named:
        known = ", ".join(dict.fromkeys(entry.name for entry in ENTRIES))
        raise InputError(source, "problem.kind", f"{name!r} is unknown; this version knows {known}")
    schema = None if machine is None else machine.schema_name
    fitting = next((entry for entry in named if entry.schema == schema), None)
    if fitting is None:
        raise InputError(
            source, "problem.machine", f"is none of a {name} problem; give a solution as mapper wrote it"
        )
    return imported(fitting)


def kind_of_proofs(name: str) -> AnyKind | None:
    """The kind whose proofs are called so, None if there is none."""
    return next((kind for entry in ENTRIES if (kind := imported(entry)).proof_kind == name), None)


def objective_named(name: str) -> Objective:
    """The objective that a document names; one that no kind of this version has is taken for one to be least."""
    known = {one.name: one for entry in ENTRIES for one in entry.objectives}
    return known.get(name, Objective(name, ""))


@cache
def imported(entry: Entry) -> AnyKind:
    """The kind itself."""
    return cast(AnyKind, getattr(import_module(f"{entry.package}.kind"), entry.value))


for _entry in ENTRIES:
    _know_machines(_entry)
