"""Mappings of the neura compiler: where and when its operations issue, from ``*.exact-mapping.json`` or mapped MLIR.

Their routes go through routers that machines here lack; so only placements are taken. A tile (x, y) is the PE in row y
and column x, and operations are numbered in the order of the program.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mapper.models.modulo_schedule.mapping import Placement
from mapper.workloads.document import InputError, decoded, validation_error
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.graph.mlir_file import read_function

COMPILED_II = "compiled_ii"
"""The key by which such a document is known."""
_MEMORY_CLASSES = ("mem", "mem_indexed")

Tile = Annotated[int, Field(ge=0, le=1 << 12, strict=True)]


class _Placement(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

    id: Annotated[int, Field(ge=0, le=1 << 20, strict=True)]
    x: Tile
    y: Tile
    time_step: Annotated[int, Field(ge=0, le=1 << 31, strict=True)]
    unit: Annotated[str | None, Field(alias="class", max_length=40)] = None


class _Document(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

    compiled_ii: Annotated[int, Field(ge=1, le=1 << 20, strict=True)]
    placements: Annotated[list[_Placement], Field(max_length=20000)]


def neura_document(data: bytes, source: str) -> dict[str, Any] | None:
    """The mapping that mapped MLIR holds, as ``*.exact-mapping.json`` would have it; None if ``data`` is no such text.

    Raises: InputError if it is, and holds no mapping.
    """
    if data.lstrip()[:1] == b"{" or b"neura." not in data:
        return None
    function = read_function(decoded(data, source), source)
    placed = [(at, one.placed) for at, one in enumerate(function.operations) if one.placed is not None]
    if function.ii is None or not placed:
        raise InputError(source, function.name, "is not mapped; run neura's map-to-accelerator first")
    return {
        COMPILED_II: function.ii,
        "placements": [{"id": at, "x": x, "y": y, "time_step": time} for at, (x, y, time) in placed],
    }


def placements_from_neura(
    fields: Mapping[str, Any], kernel: Kernel, source: str
) -> tuple[int, tuple[Placement, ...]]:
    """II and placements, in the order of the operations.

    Raises: InputError if a key is missing or ill-typed, or if the operations are not those of the kernel.
    """
    try:
        document = _Document.model_validate(dict(fields))
    except ValidationError as error:
        raise validation_error(error, source, _Document) from None
    operations = kernel.graph.operations
    found: dict[int, _Placement] = {}
    for one in document.placements:
        field = f"placements.{one.id}"
        if one.id >= len(operations) or one.id in found:
            remedy = f"{kernel.name} has operations 0 to {len(operations) - 1}, each placed once"
            raise InputError(source, field, f"{remedy}; give the mapping of this graph")
        opcode = operations[one.id].opcode
        if one.unit is not None and (one.unit in _MEMORY_CLASSES) != (opcode in ("load", "store")):
            remedy = f"is of class {one.unit!r}, operation {one.id} of {kernel.name} is {opcode}"
            raise InputError(source, field, f"{remedy}; give the mapping of this graph")
        found[one.id] = one
    for at, operation in enumerate(operations):
        if at not in found:
            raise InputError(source, f"placements.{at}", f"is missing; place {operation.name}")
    return document.compiled_ii, tuple(
        Placement((found[at].y, found[at].x), found[at].time_step) for at in range(len(operations))
    )
