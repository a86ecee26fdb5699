"""Mappings of loop nests as documents hold them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.workloads.document import InputError
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.recurrence.recurrence import Recurrence

LARGEST = 1 << 50
"""Beyond any number of cycles that can be meant."""


def nest_mapping_from_json(
    fields: Mapping[str, Any], nest: LoopNest | Recurrence, source: str
) -> NestMapping:
    """The mapping of ``nest`` that a document holds.

    Raises: InputError naming the field that is wrong.
    """
    if fields.get("mode") != "nest":
        raise InputError(source, "mapping.mode", "must be nest for a loop nest")
    tile, schedule, placement = (_object(fields, key, source) for key in ("tile", "schedule", "placement"))
    if set(tile) != set(nest.loops):
        raise InputError(
            source, "mapping.tile", f"must give a number for each of the loops {', '.join(nest.loops)}"
        )
    sizes = tuple(_whole(tile[loop], 1, f"mapping.tile.{loop}", source) for loop in nest.loops)
    order = schedule.get("order")
    if not isinstance(order, list) or len(order) != len(nest.loops) or set(order) != set(nest.loops):
        remedy = f"must list the loops {', '.join(nest.loops)} once each, outer to inner"
        raise InputError(source, "mapping.schedule.order", remedy)
    interval = _whole(schedule.get("interval"), 1, "mapping.schedule.interval", source)
    lanes = _whole(schedule.get("lanes"), 1, "mapping.schedule.lanes", source)
    outer = _vector(schedule, "outer", nest, source)
    rows, columns = (_loop(placement, key, nest, source) for key in ("rows", "columns"))
    found = NestMapping(nest.loops, sizes, tuple(order), interval, lanes, outer, rows, columns)
    expected = tuple(found.inner_of[loop] for loop in nest.loops)
    if "inner" in schedule and _vector(schedule, "inner", nest, source) != expected:
        remedy = f"must be {list(expected)}, as order, tile, interval and lanes have it; or leave it out"
        raise InputError(source, "mapping.schedule.inner", remedy)
    return found


def _object(fields: Mapping[str, Any], key: str, source: str) -> Mapping[str, Any]:
    value = fields.get(key)
    if not isinstance(value, dict):
        raise InputError(source, f"mapping.{key}", "is missing; give a mapping as mapper solve writes it")
    return value


def _whole(value: Any, least: int, field: str, source: str) -> int:
    if type(value) is not int or not least <= value <= LARGEST:
        raise InputError(source, field, f"must be a whole number from {least} to {LARGEST}")
    return value


def _vector(
    schedule: Mapping[str, Any], key: str, nest: LoopNest | Recurrence, source: str
) -> tuple[int, ...]:
    value, field = schedule.get(key), f"mapping.schedule.{key}"
    if not isinstance(value, list) or len(value) != len(nest.loops):
        raise InputError(source, field, f"must list {len(nest.loops)} numbers of cycles, one for each loop")
    return tuple(_whole(one, 0, field, source) for one in value)


def _loop(placement: Mapping[str, Any], key: str, nest: LoopNest | Recurrence, source: str) -> str | None:
    value = placement.get(key)
    if value is not None and value not in nest.loops:
        raise InputError(
            source, f"mapping.placement.{key}", f"must be null or one of {', '.join(nest.loops)}"
        )
    return value
