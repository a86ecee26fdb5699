"""Allocations read from documents; the inverse of ``Allocation.to_json``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mapper.models.pe_allocation.mapping import Allocation, Mode, Placement, StreamKind, Way
from mapper.workloads.document import InputError, validation_error

LARGEST = 1 << 50
"""No problem is posed that could come to more PEs or cycles."""

Whole = Annotated[int, Field(ge=-LARGEST, le=LARGEST, strict=True)]
Coordinates = Annotated[list[Whole], Field(min_length=2, max_length=2)]
T = TypeVar("T")


class _Way(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    kind: StreamKind
    source: str | None = Field(alias="from")
    target: str | None = Field(alias="to")
    way: Annotated[list[Coordinates], Field(min_length=1)]


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    mode: Mode
    pes: dict[str, Whole]
    throttle: dict[str, Whole]
    delta: dict[str, Whole]
    placement: dict[str, list[Coordinates]] | None
    shared: list[list[str]] = []
    segments: list[str] | None = None
    on_chip: list[str] = []
    ways: list[_Way] = []


def allocation_from_json(fields: Mapping[str, Any], names: tuple[str, ...], source: str) -> Allocation:
    """The allocation to the layers ``names`` that a document says.

    Raises: InputError if a key is unknown, missing or ill-typed, or layers are not those of the network. Whether the
    allocation keeps the rules is the referee's to say.
    """
    try:
        document = _Document.model_validate(dict(fields))
    except ValidationError as error:
        raise validation_error(error, source, _Document) from None
    places = {name: position for position, name in enumerate(names)}

    def ordered(field: str, values: Mapping[str, T]) -> tuple[T, ...]:
        wrong = sorted(set(values) ^ set(names))
        if wrong:
            raise InputError(
                source, f"{field}.{wrong[0]}", "must name every layer of the array, and no other"
            )
        return tuple(values[name] for name in names)

    def position(field: str, name: str) -> int:
        if name not in places:
            raise InputError(source, field, f"{name[:40]!r} is not a layer of the array")
        return places[name]

    placement = None
    if document.placement is not None:
        regions = ordered("placement", document.placement)
        ways = tuple(
            Way(
                way.kind,
                None if way.source is None else position("ways", way.source),
                None if way.target is None else position("ways", way.target),
                tuple((row, column) for row, column in way.way),
            )
            for way in document.ways
        )
        placement = Placement(
            tuple(tuple((row, column) for row, column in region) for region in regions), ways=ways
        )
    elif document.ways:
        raise InputError(source, "ways", "need a placement: give both, or neither")
    segments: tuple[int, ...] = (0,)
    if document.segments is not None:
        segments = tuple(position("segments", name) for name in document.segments)
    stays = {position("on_chip", name) for name in document.on_chip}
    strange = sorted(stays - set(segments[:-1]))
    if strange:
        raise InputError(source, "on_chip", f"{names[strange[0]]!r} starts no run but the last")
    return Allocation(
        document.mode,
        ordered("pes", document.pes),
        ordered("throttle", document.throttle),
        ordered("delta", document.delta),
        placement,
        tuple(tuple(position("shared", name) for name in group) for group in document.shared),
        segments,
        tuple(start in stays for start in segments[:-1]),
    )
