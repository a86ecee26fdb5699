"""Partitions read from documents, and written to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mapper.models.trace_partition.lowering.layer import TraceNetwork
from mapper.models.trace_partition.mapping import LayerMapping, Mode, Order, Partition, Split, StepEntry, Tile
from mapper.workloads.document import InputError, validation_error

Size = Annotated[int, Field(ge=-(1 << 31), le=1 << 31, strict=True)]
"""Sizes that make no tile are read too: the referee says which rule they break."""
Flag = Annotated[bool, Field(strict=True)]
MOST_ENTRIES = 1 << 17


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class _Tile(_Part):
    rows: Size
    columns: Size
    in_channels: Size
    out_channels: Size


class _Resident(_Part):
    input: Flag
    output: Flag


class _Step(_Part):
    step: Literal["load", "compute", "store"]
    operand: Annotated[str, Field(max_length=20)]
    tile: Annotated[tuple[Size, ...], Field(max_length=8)]
    buffer: Annotated[int, Field(ge=0, le=1, strict=True)]


class _Layer(_Part):
    mode: Mode
    tile: _Tile
    order: Order
    resident: _Resident
    cluster_split: Split | None
    unit_split: Split | None = None
    steps: Annotated[tuple[_Step, ...], Field(max_length=MOST_ENTRIES)] | None = None


class _Document(_Part):
    layers: dict[str, _Layer]


def partition_from_json(fields: Mapping[str, Any], network: TraceNetwork, source: str) -> Partition:
    """The partition of ``network`` that a document says: ``{"layers": {name: mapping}}`` with a mapping for every layer
    on the accelerator, or the mapping alone where there is one such layer. Where ``unit_split`` is missing it is rows.

    Steps in the document go to the referee with the partition, since they follow from the decisions.

    Raises: InputError if a key is unknown, missing or ill-typed, or names are not those of the network. Whether the
    partition keeps the rules is the referee's to say.
    """
    layers = _layers(fields, network, source)
    given = [layers[layer.name] for layer in network.traced]
    return Partition(tuple(_mapping(layer) for layer in given), tuple(_steps(layer) for layer in given))


def partition_json(partition: Partition, network: TraceNetwork) -> dict[str, Any]:
    """The document that ``partition_from_json`` reads."""
    named = zip(network.traced, partition.layers, strict=True)
    return {"layers": {layer.name: mapping.to_json() for layer, mapping in named}}


def _layers(fields: Mapping[str, Any], network: TraceNetwork, source: str) -> dict[str, _Layer]:
    names = [layer.name for layer in network.traced]
    is_one = "layers" not in fields and len(names) == 1
    try:
        if is_one:
            return {names[0]: _Layer.model_validate(dict(fields))}
        found = _Document.model_validate(dict(fields)).layers
    except ValidationError as error:
        raise validation_error(error, source, _Layer if is_one else _Document) from None
    wrong = sorted(set(found) ^ set(names))
    if wrong:
        remedy = "must have a mapping for every layer on the accelerator, and for no other"
        raise InputError(source, f"layers.{wrong[0][:60]}", remedy)
    return found


def _mapping(given: _Layer) -> LayerMapping:
    tile = Tile(given.tile.rows, given.tile.columns, given.tile.in_channels, given.tile.out_channels)
    split = given.unit_split or "rows"
    resident = given.resident
    return LayerMapping(
        given.mode, tile, given.order, split, given.cluster_split, resident.input, resident.output
    )


def _steps(given: _Layer) -> tuple[StepEntry, ...] | None:
    if given.steps is None:
        return None
    return tuple(StepEntry(one.step, one.operand, one.tile, one.buffer) for one in given.steps)
