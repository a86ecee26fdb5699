"""Loop nests as YAML or JSON documents (schema ``mapper.nest/1``)."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mapper.workloads.document import InputError, validation_error
from mapper.workloads.nest.loop_nest import Access, AffineIndex, LoopNest, Operand, uniform_dependences
from mapper.workloads.text.nearest import meant

NEST_SCHEMA = "mapper.nest/1"
MOST_ITERATIONS = 10**15

Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,31}$")]
Bound = Annotated[int, Field(ge=1, le=1 << 31, strict=True)]


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class OperandDocument(_Document):
    """One operand: its tensor, index expressions (last contiguous) and access."""

    tensor: Name
    name: Name | None = None
    index: Annotated[list[str | int], Field(min_length=1, max_length=8)]
    access: Access = "read"
    zero_initialised: bool = True
    extents: Annotated[list[Bound], Field(max_length=8)] | None = None


class NestDocument(_Document):
    """A perfect loop nest: loops outer to inner with their bounds, operands, dependences."""

    schema_name: Literal["mapper.nest/1"] = Field(alias="schema")
    name: Annotated[str, Field(min_length=1, max_length=64)]
    loops: Annotated[dict[Name, Bound], Field(min_length=1, max_length=12)]
    operands: Annotated[list[OperandDocument], Field(min_length=1, max_length=8)]
    operation: Literal["multiply_add", "add"] = "multiply_add"
    dependences: Annotated[list[dict[Name, int]], Field(max_length=16)] = []


def nest_from_document(fields: dict[str, Any], source: str) -> LoopNest:
    """A loop nest from the fields of a document.

    Raises: InputError naming the field that is wrong and what to write instead.
    """
    try:
        document = NestDocument.model_validate(fields)
    except ValidationError as error:
        raise validation_error(error, source, NestDocument) from None
    loops = tuple(document.loops)
    if math.prod(document.loops.values()) > MOST_ITERATIONS:
        raise InputError(source, "loops", f"more than {MOST_ITERATIONS:.0e} iterations; lower the bounds")
    operands = tuple(
        _operand(entry, position, document, source) for position, entry in enumerate(document.operands)
    )
    for place, operand in enumerate(operands):
        if math.prod(operand.extents) > MOST_ITERATIONS:
            raise InputError(
                source, f"operands.{place}", f"more than {MOST_ITERATIONS:.0e} words; make it smaller"
            )
    names = [operand.name for operand in operands]
    if len(set(names)) < len(names):
        raise InputError(
            source, "operands", "two operands have one name; give the second a 'name' of its own"
        )
    if sum(operand.writes for operand in operands) != 1:
        raise InputError(
            source, "operands", "exactly one operand must be written (access write or read_write)"
        )
    written = next(operand for operand in operands if operand.writes)
    if not written.touches_each_word_once(document.loops):
        remedy = "its tiles would overlap, so partial results would be lost; write each word from one index"
        raise InputError(source, f"operands.{names.index(written.name)}.index", remedy)
    if written.access == "write" and set(loops) - written.loops:
        loop = min(set(loops) - written.loops)
        remedy = f"every iteration of {loop} writes the same words; make it read_write if they are summed"
        raise InputError(source, f"operands.{names.index(written.name)}.access", remedy)
    unused = set(loops) - {loop for operand in operands for loop in operand.loops}
    if unused:
        raise InputError(source, f"loops.{min(unused)}", "no operand is indexed by it; remove the loop")
    return LoopNest(
        document.name,
        tuple(document.loops.items()),
        operands,
        document.operation,
        _dependences(document, operands, source),
    )


def nest_to_document(nest: LoopNest) -> dict[str, Any]:
    """The document that reads back as ``nest``."""
    return {
        "schema": NEST_SCHEMA,
        "name": nest.name,
        "loops": nest.trip_counts,
        "operands": [
            {
                "tensor": operand.tensor or operand.name,
                "name": operand.name,
                "index": [str(dimension) for dimension in operand.index],
                "access": operand.access,
                "zero_initialised": operand.zero_initialised,
                "extents": list(operand.extents),
            }
            for operand in nest.operands
        ],
        "operation": nest.operation,
        "dependences": [dict(zip(nest.loops, vector, strict=True)) for vector in nest.dependences],
    }


def _operand(entry: OperandDocument, position: int, document: NestDocument, source: str) -> Operand:
    field = f"operands.{position}"
    index = tuple(
        AffineIndex.parse(str(text), tuple(document.loops), source, f"{field}.index.{place}")
        for place, text in enumerate(entry.index)
    )
    touched = tuple(dimension.span(document.loops) for dimension in index)
    extents = tuple(entry.extents) if entry.extents is not None else touched
    if len(extents) != len(index):
        raise InputError(source, f"{field}.extents", f"needs {len(index)} numbers, one per index expression")
    if any(extent < least for extent, least in zip(extents, touched, strict=True)):
        raise InputError(source, f"{field}.extents", f"smaller than what the loops touch, {list(touched)}")
    name = entry.name or entry.tensor
    tensor = "" if entry.tensor == name else entry.tensor
    return Operand(name, index, entry.access, extents, entry.zero_initialised, tensor)


def _dependences(
    document: NestDocument, operands: tuple[Operand, ...], source: str
) -> tuple[tuple[int, ...], ...]:
    loops = tuple(document.loops)
    declared = []
    for position, vector in enumerate(document.dependences):
        field = f"dependences.{position}"
        if not set(vector) <= set(loops):
            strange = next(loop for loop in vector if loop not in loops)
            remedy = f"{meant(strange, loops)}names a loop that the nest does not have"
            raise InputError(source, field, remedy)
        distances = tuple(vector.get(loop, 0) for loop in loops)
        leading = next((distance for distance in distances if distance), 0)
        if leading <= 0:
            raise InputError(source, field, "must be lexicographically positive in loop order")
        declared.append(distances)
    if declared:
        return tuple(dict.fromkeys(declared))
    try:
        return uniform_dependences(loops, operands)
    except ValueError as error:
        raise InputError(source, "dependences", f"{error}; declare the distance vectors") from None
