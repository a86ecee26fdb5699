"""Mappings of layers in documents, and read back."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mapper.models.modulo_schedule.mapping_file import schedule_from_json
from mapper.models.modulo_schedule.network.algorithm import Algorithm
from mapper.models.modulo_schedule.network.mapping import LayerMapping, LoopMapping, kernel_of
from mapper.models.modulo_schedule.network.nest import Box, Nest, moved
from mapper.workloads.document import InputError, validation_error

MOST = 1 << 40
LARGEST_UNROLL = 64
MOST_COPIES = 1 << 12
"""Copies of a body that are read: of four loops unrolled eight times each."""
SCHEDULE_KEYS = ("ii", "stages", "schedule", "routes")

Count = Annotated[int, Field(ge=0, le=MOST, strict=True)]
Factor = Annotated[int, Field(ge=1, le=LARGEST_UNROLL, strict=True)]


class _Loop(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    nest: str
    innermost: str
    start: dict[str, Count]
    count: dict[str, Count]
    unroll: dict[str, Factor]
    pointer_uses: Factor | None


class _Layer(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    algorithm: str
    order: list[str]
    unroll: list[int]
    loops: list[dict[str, Any]]


def layer_to_json(mapping: LayerMapping, algorithm: Algorithm) -> dict[str, Any]:
    """The document of ``mapping``: ``order`` and ``unroll`` are those of the main nest's first box; every loop
    has its nest, its box and its schedule."""
    order: list[str] = []
    unroll: list[int] = []
    main = next((loop for loop in mapping.loops if loop.nest == algorithm.main), None)
    if main is not None:
        nest = algorithm.nests[main.nest]
        order = list(moved(nest, main.box.innermost))
        factors = dict(zip(nest.names, main.box.unroll, strict=True))
        unroll = [factors[name] for name in order]
    loops = [_loop_json(loop, algorithm.nests[loop.nest]) for loop in mapping.loops]
    return {"algorithm": mapping.algorithm, "order": order, "unroll": unroll, "loops": loops}


def _loop_json(loop: LoopMapping, nest: Nest) -> dict[str, Any]:
    graph = kernel_of(nest, loop.box, loop.pointer_uses).graph
    names = tuple(operation.name for operation in graph.operations)
    edges = tuple((edge.source, edge.destination, edge.distance) for edge in graph.edges)
    return {
        "nest": nest.name,
        "innermost": loop.box.innermost,
        "start": dict(zip(nest.names, loop.box.start, strict=True)),
        "count": dict(zip(nest.names, loop.box.count, strict=True)),
        "unroll": dict(zip(nest.names, loop.box.unroll, strict=True)),
        "pointer_uses": loop.pointer_uses,
        "trip_count": loop.box.trip_count(nest),
        "runs": loop.box.runs(nest),
        **loop.schedule.to_json(names, edges),
    }


def layer_from_json(
    fields: Mapping[str, Any], choice: Callable[[str], Algorithm], source: str
) -> LayerMapping:
    """The mapping that a document describes; ``choice`` gives the algorithm of a name.

    Raises: InputError naming the field that is wrong, or a loop whose kernel cannot be made.
    """
    try:
        layer = _Layer.model_validate(dict(fields))
    except ValidationError as error:
        raise validation_error(error, source, _Layer) from None
    algorithm = choice(layer.algorithm)
    places = {nest.name: place for place, nest in enumerate(algorithm.nests)}
    loops = []
    for number, entry in enumerate(layer.loops):
        where = f"{source}: loops.{number}"
        try:
            loop = _Loop.model_validate(entry)
        except ValidationError as error:
            raise validation_error(error, where, _Loop) from None
        if loop.nest not in places:
            raise InputError(where, "nest", f"{loop.nest[:40]!r} is not one of {', '.join(places)}")
        nest = algorithm.nests[places[loop.nest]]
        box = Box(
            _by_loop(loop.start, nest, where, "start"),
            _by_loop(loop.count, nest, where, "count"),
            _by_loop(loop.unroll, nest, where, "unroll"),
            loop.innermost,
        )
        if loop.innermost not in nest.names:
            raise InputError(
                where, "innermost", f"{loop.innermost[:40]!r} is not one of {', '.join(nest.names)}"
            )
        if any(count < 1 or count % unroll for count, unroll in zip(box.count, box.unroll, strict=True)):
            raise InputError(where, "count", "must be a positive multiple of the unroll factor in every loop")
        # Every copy of the body is an operation at least: what is made here is no larger than the document.
        copies, given = math.prod(box.unroll), entry.get("schedule")
        if copies > MOST_COPIES or not isinstance(given, dict) or copies > len(given):
            raise InputError(where, "schedule", f"must say where the operations of {copies} copies run")
        kernel = kernel_of(nest, box, loop.pointer_uses)
        schedule = {key: value for key, value in entry.items() if key in SCHEDULE_KEYS}
        loops.append(
            LoopMapping(
                places[loop.nest], box, loop.pointer_uses, schedule_from_json(schedule, kernel, where)
            )
        )
    return LayerMapping(layer.algorithm, tuple(loops))


def _by_loop(values: Mapping[str, int], nest: Nest, source: str, field: str) -> tuple[int, ...]:
    if set(values) != set(nest.names):
        raise InputError(source, field, f"must name the loops {', '.join(nest.names)}")
    return tuple(values[name] for name in nest.names)
