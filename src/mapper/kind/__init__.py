"""Kinds of problems: what a workload and a machine pose, one module per kind."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import cast

from mapper.arch.source import Machine
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
from mapper.kind.kind import Kind
from mapper.workloads.document import InputError


@dataclass(frozen=True)
class Entry:
    """A kind before its module is imported: its name and objectives (the default first), the schema of its machines,
    and where the value is. Listing names must not wait for formulations and searches."""

    name: str
    schema: str
    objectives: tuple[Objective, ...]
    value: str


ENTRIES = (
    Entry("tiling", "mapper.dataflow/1", (EDP, ENERGY, LATENCY), "TILING"),
    Entry("modulo_schedule", "mapper.cgra/1", (II, LATENCY), "MODULO_SCHEDULING"),
    Entry("pe_allocation", "mapper.tcpa/1", (THROUGHPUT, LATENCY, PES), "PE_ALLOCATION"),
    Entry(
        "algorithm_selection",
        "mapper.dynamap/1",
        (LATENCY, EDP, DSPS, VALUE),
        "ALGORITHM_SELECTION",
    ),
    Entry("trace_partition", "mapper.snowflake/1", (LATENCY, TRAFFIC, ENERGY), "TRACE_PARTITION"),
)
OF_INSTANCES = "algorithm_selection"
"""The kind of PBQP instances, which have no machine."""


def kinds() -> tuple[Kind, ...]:
    """All kinds."""
    return tuple(_imported(entry) for entry in ENTRIES)


def kind_of(machine: Machine | None) -> Kind:
    """The kind of problem that a machine of this class poses; without one, that of PBQP instances."""
    if machine is None:
        return _imported(next(entry for entry in ENTRIES if entry.name == OF_INSTANCES))
    return _imported(next(entry for entry in ENTRIES if entry.schema == machine.schema_name))


def kind_named(name: str, source: str) -> Kind:
    """The kind of a document.

    Raises: InputError if there is none of that name.
    """
    for entry in ENTRIES:
        if entry.name == name:
            return _imported(entry)
    known = ", ".join(entry.name for entry in ENTRIES)
    raise InputError(source, "problem.kind", f"{name!r} is unknown; this version knows {known}")


def objective_named(name: str) -> Objective:
    """The objective that a document names; one that no kind of this version has is taken for one to be least."""
    known = {one.name: one for entry in ENTRIES for one in entry.objectives}
    return known.get(name, Objective(name, ""))


@cache
def _imported(entry: Entry) -> Kind:
    return cast(Kind, getattr(import_module(f"mapper.kind.{entry.name}.kind"), entry.value))
