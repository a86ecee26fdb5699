"""Mappings onto a hierarchy from documents: this project's own, Timeloop's mapping files, and the one-line form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mapper.arch.hierarchy import HierarchyMachine
from mapper.models.hierarchy.mapping import (
    Axis,
    HierarchyMapping,
    LevelMapping,
    SpatialLoop,
    TemporalLoop,
)
from mapper.models.hierarchy.one_line import mapping_from_line
from mapper.models.hierarchy.timeloop_mapping import mapping_from_timeloop
from mapper.workloads.document import InputError
from mapper.workloads.nest.loop_nest import LoopNest

LARGEST_TRIPS = 10**15


def hierarchy_mapping(
    fields: Mapping[str, Any], nest: LoopNest, machine: HierarchyMachine, source: str
) -> HierarchyMapping:
    """The mapping that the fields of a document say.

    Raises: InputError if they are no mapping of this nest onto this machine.
    """
    if set(fields) == {"line"}:
        return mapping_from_line(str(fields["line"]), nest, machine, source)
    if "mapping" in fields and "levels" not in fields:
        return mapping_from_timeloop(fields["mapping"], nest, machine, source)
    unknown = sorted(set(map(str, fields)) - {"levels", "padded"})
    if unknown:
        raise InputError(source, unknown[0][:60], "unknown key; remove it")
    levels = fields.get("levels")
    if not isinstance(levels, list) or len(levels) != len(machine.levels):
        names = ", ".join(level.name for level in machine.levels)
        raise InputError(source, "levels", f"must list {len(machine.levels)} levels, outer to inner: {names}")
    read = [
        _level(entry, memory.name, nest, f"levels.{place}", source)
        for place, (entry, memory) in enumerate(zip(levels, machine.levels, strict=True))
    ]
    return HierarchyMapping(tuple(read), _padded(fields.get("padded"), nest, source))


def _padded(value: Any, nest: LoopNest, source: str) -> tuple[tuple[str, int], ...]:
    if value is None:
        return ()
    if not isinstance(value, Mapping):
        raise InputError(source, "padded", "must give loops their bounds")
    for loop, bound in value.items():
        if loop not in nest.loops or type(bound) is not int or not bound >= nest.trip_counts[loop]:
            raise InputError(
                source, f"padded.{str(loop)[:40]}", "must be a loop with a bound not below its own"
            )
    return tuple((loop, value[loop]) for loop in nest.loops if loop in value)


def _level(entry: Any, name: str, nest: LoopNest, field: str, source: str) -> LevelMapping:
    if not isinstance(entry, Mapping):
        raise InputError(source, field, "must be an object")
    keys = ("level", "keep", "temporal", "spatial")
    for key in keys:
        if key not in entry:
            raise InputError(source, f"{field}.{key}", "is missing; add it")
    unknown = sorted(set(map(str, entry)) - set(keys))
    if unknown:
        raise InputError(source, f"{field}.{unknown[0][:40]}", "unknown key; remove it")
    if entry["level"] != name:
        raise InputError(source, f"{field}.level", f"must be {name}, as the machine lists its levels")
    kept = entry["keep"]
    tensors = [operand.name for operand in nest.operands]
    if (
        not isinstance(kept, list)
        or not set(map(str, kept)) <= set(tensors)
        or len(set(map(str, kept))) < len(kept)
    ):
        raise InputError(source, f"{field}.keep", f"must list tensors of {', '.join(tensors)}, each once")
    temporal = [
        _trips(one, nest, f"{field}.temporal", source) for one in _list(entry["temporal"], field, source)
    ]
    return LevelMapping(
        name,
        tuple(tensor for tensor in tensors if tensor in kept),
        tuple(TemporalLoop(loop, trips, last) for loop, trips, last in temporal),
        tuple(
            _spatial(one, nest, f"{field}.spatial", source) for one in _list(entry["spatial"], field, source)
        ),
    )


def _list(value: Any, field: str, source: str) -> list[list[Any]]:
    if not isinstance(value, list) or not all(isinstance(one, list) for one in value):
        raise InputError(source, field, "must list its loops as [loop, trips]")
    return value


def _trips(entry: list[Any], nest: LoopNest, field: str, source: str) -> tuple[str, int, int | None]:
    if len(entry) not in (2, 3) or entry[0] not in nest.loops:
        raise InputError(source, field, f"must be [loop, trips] with a loop of {', '.join(nest.loops)}")
    for trips in entry[1:]:
        if type(trips) is not int or not 1 <= trips <= LARGEST_TRIPS:
            raise InputError(source, field, f"{entry[0]}: trips must be positive integers")
    return entry[0], entry[1], entry[2] if len(entry) == 3 else None


def _spatial(entry: list[Any], nest: LoopNest, field: str, source: str) -> SpatialLoop:
    if len(entry) not in (3, 4) or entry[2] not in ("x", "y"):
        raise InputError(source, field, "must be [loop, trips, axis] with the axis x or y")
    loop, trips, last = _trips([*entry[:2], *entry[3:]], nest, field, source)
    axis: Axis = entry[2]
    return SpatialLoop(loop, trips, axis, last)
