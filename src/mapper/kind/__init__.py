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
from mapper.kind.kind import AnyKind
from mapper.workloads.document import InputError


@dataclass(frozen=True)
class Entry:
    """A kind before its module is imported: the folder of its column, what documents call it, its objectives (the
    default first), the schema of its machines (None: it has none), and where the value is. Listing names must not wait
    for formulations and searches."""

    column: str
    name: str
    schema: str | None
    objectives: tuple[Objective, ...]
    value: str


ENTRIES = (
    Entry("tiling", "tiling", "mapper.dataflow/1", (EDP, ENERGY, LATENCY), "TILING"),
    Entry("modulo_schedule", "modulo_schedule", "mapper.cgra/1", (II, LATENCY), "MODULO_SCHEDULING"),
    Entry("pe_allocation", "pe_allocation", "mapper.tcpa/1", (THROUGHPUT, LATENCY, PES), "PE_ALLOCATION"),
    Entry(
        "algorithm_selection",
        "algorithm_selection",
        "mapper.dynamap/1",
        (LATENCY, EDP, DSPS),
        "ALGORITHM_SELECTION",
    ),
    Entry("pbqp", "algorithm_selection", None, (VALUE,), "PBQP"),
    Entry(
        "trace_partition",
        "trace_partition",
        "mapper.snowflake/1",
        (LATENCY, TRAFFIC, ENERGY),
        "TRACE_PARTITION",
    ),
)


def kinds() -> tuple[AnyKind, ...]:
    """All kinds."""
    return tuple(_imported(entry) for entry in ENTRIES)


def kind_of(machine: Machine | None) -> AnyKind:
    """The kind of problem that a machine of this class poses; without one, that of PBQP instances."""
    schema = None if machine is None else machine.schema_name
    return _imported(next(entry for entry in ENTRIES if entry.schema == schema))


def kind_named(name: str, machine: Machine | None, source: str) -> AnyKind:
    """The kind of a document that names it, and holds this machine.

    Raises: InputError if there is none of that name.
    """
    named = [entry for entry in ENTRIES if entry.name == name]
    if not named:
        known = ", ".join(dict.fromkeys(entry.name for entry in ENTRIES))
        raise InputError(source, "problem.kind", f"{name!r} is unknown; this version knows {known}")
    alone = [entry for entry in named if (entry.schema is None) == (machine is None)]
    return _imported((alone or named)[0])


def objective_named(name: str) -> Objective:
    """The objective that a document names; one that no kind of this version has is taken for one to be least."""
    known = {one.name: one for entry in ENTRIES for one in entry.objectives}
    return known.get(name, Objective(name, ""))


@cache
def _imported(entry: Entry) -> AnyKind:
    return cast(AnyKind, getattr(import_module(f"mapper.kind.{entry.column}.kind"), entry.value))
