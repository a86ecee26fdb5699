"""Modulo schedules read from documents; the inverse of ``ModuloSchedule.to_json``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mapper.models.modulo_schedule.mapping import Hop, ModuloSchedule, Placement, Route, Via
from mapper.workloads.document import InputError, validation_error
from mapper.workloads.graph.kernel import Kernel

LARGEST = 1 << 31
"""Beyond any cycle, row or register that can be meant."""

Whole = Annotated[int, Field(ge=-LARGEST, le=LARGEST, strict=True)]
Coordinates = Annotated[list[Whole], Field(min_length=2, max_length=2)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class _Placement(_Part):
    pe: Coordinates
    time: Whole


class _Hop(_Part):
    pe: Coordinates
    time: Whole
    via: Via
    register_: Annotated[Whole | None, Field(alias="register")]


class _Route(_Part):
    edge: Whole
    source: Annotated[str, Field(alias="from")]
    destination: Annotated[str, Field(alias="to")]
    distance: Whole
    hops: list[_Hop]


class _Document(_Part):
    ii: Annotated[int, Field(ge=1, le=LARGEST, strict=True)]
    stages: Whole
    schedule: dict[str, _Placement]
    routes: list[_Route]


def schedule_from_json(fields: Mapping[str, Any], kernel: Kernel, source: str) -> ModuloSchedule:
    """The schedule of ``kernel`` that a document says.

    Raises: InputError if a key is unknown, missing or ill-typed, if operations or edges are not those of the
    kernel, or if the stages are not those of the times. Whether the schedule is valid is the referee's to say.
    """
    try:
        document = _Document.model_validate(dict(fields))
    except ValidationError as error:
        raise validation_error(error, source, _Document) from None
    names = [operation.name for operation in kernel.graph.operations]
    for name in document.schedule:
        if name not in names:
            raise InputError(source, f"schedule.{name}", f"is not an operation of {kernel.name}; remove it")
    for name in names:
        if name not in document.schedule:
            raise InputError(source, f"schedule.{name}", "is missing; give its pe and time")
    schedule = ModuloSchedule(
        document.ii,
        tuple(_placement(document.schedule[name]) for name in names),
        tuple(_route(route, kernel, f"{source}: routes.{at}") for at, route in enumerate(document.routes)),
    )
    if document.stages != schedule.stages:
        remedy = f"must be {schedule.stages}, which is what the times span at an II of {schedule.ii}"
        raise InputError(source, "stages", remedy)
    return schedule


def _placement(fields: _Placement) -> Placement:
    return Placement((fields.pe[0], fields.pe[1]), fields.time)


def _route(fields: _Route, kernel: Kernel, source: str) -> Route:
    graph = kernel.graph
    if not 0 <= fields.edge < len(graph.edges):
        raise InputError(source, "edge", f"{kernel.name} has edges 0 to {len(graph.edges) - 1}")
    edge = graph.edges[fields.edge]
    expected = {
        "from": (fields.source, graph.operations[edge.source].name),
        "to": (fields.destination, graph.operations[edge.destination].name),
        "distance": (fields.distance, edge.distance),
    }
    for key, (said, true) in expected.items():
        if said != true:
            raise InputError(source, key, f"must be {true}, as edge {fields.edge} of {kernel.name} has it")
    hops = tuple(Hop((hop.pe[0], hop.pe[1]), hop.time, hop.via, hop.register_) for hop in fields.hops)
    return Route(fields.edge, hops)
