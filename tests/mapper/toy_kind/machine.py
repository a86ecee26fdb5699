"""Machines: workers, each with the cycles that it has."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from mapper.arch.part import Part, read_part


class PackingMachine(Part):
    """``cycles`` of each worker."""

    schema_name: Literal["toy.packing/1"] = Field(alias="schema")
    name: Annotated[str, Field(min_length=1, max_length=64)]
    clock_mhz: Annotated[float, Field(gt=0, le=1e6)]
    cycles: Annotated[
        list[Annotated[int, Field(ge=1, le=1 << 30, strict=True)]], Field(min_length=1, max_length=64)
    ]


def machine_from_document(fields: dict[str, Any], source: str) -> PackingMachine:
    """The machine that a document describes.

    Raises: InputError naming the field that is wrong.
    """
    return read_part(PackingMachine, fields, source)
