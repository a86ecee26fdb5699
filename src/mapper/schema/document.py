"""JSON Schema of every document that is read or written, for editors and for those who call the commands."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mapper.workloads.document import InputError
from mapper.workloads.text.nearest import meant

if TYPE_CHECKING:
    from pydantic import BaseModel

DIALECT = "https://json-schema.org/draft/2020-12/schema"
READ = {
    "dataflow": "mapper.arch.dataflow:DataflowMachine",
    "cgra": "mapper.arch.cgra:CgraMachine",
    "tcpa": "mapper.arch.tcpa:TcpaMachine",
    "dynamap": "mapper.arch.overlay:OverlayMachine",
    "snowflake": "mapper.arch.snowflake:SnowflakeMachine",
    "hierarchy": "mapper.arch.hierarchy:HierarchyMachine",
    "nest": "mapper.workloads.nest.nest_file:NestDocument",
    "convolutions": "mapper.workloads.nest.convolution_file:ConvolutionsDocument",
    "recurrence": "mapper.workloads.recurrence.recurrence_file:RecurrenceDocument",
    "operators": "mapper.workloads.network.operator_document:OperatorsDocument",
    "dfg": "mapper.workloads.graph.document:GraphDocument",
}
"""Documents that are read, by the pydantic model that reads them."""


def schema_names() -> tuple[str, ...]:
    """The documents that have a schema: ``NAME`` is that of ``mapper.NAME/1``."""
    from mapper.schema.answer import ANSWERS

    return (*READ, *ANSWERS)


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of the document ``mapper.NAME/1``, by ``name`` or as the document itself says it.

    Raises: InputError if there is none of that name.
    """
    from mapper.schema.answer import ANSWERS

    own = name.removeprefix("mapper.").removesuffix("/1")
    head = {"$schema": DIALECT, "$id": f"mapper.{own}/1"}
    if own in READ:
        module, _, model = READ[own].partition(":")
        read: type[BaseModel] = getattr(import_module(module), model)
        return head | _with_words(read.model_json_schema(by_alias=True), read)
    if own in ANSWERS:
        title, body = ANSWERS[own]
        fields = {"schema": {"const": f"mapper.{own}/1"}, **body["properties"]}
        return head | {
            "title": title,
            **body,
            "properties": fields,
            "required": ["schema", *body["required"]],
        }
    names = schema_names()
    raise InputError("schema", name[:60], f"is no document; {meant(own, names)}there are {', '.join(names)}")


def _with_words(found: dict[str, Any], read: type[BaseModel]) -> dict[str, Any]:
    """The schema of a machine with what each field is, in which unit and whose, as editors show it."""
    from mapper.arch.field import machine_fields

    for field in machine_fields(read):
        if field.told is not None:
            place = found if field.owner is read else found["$defs"][field.owner.__name__]
            unit = f", in {field.told.unit}" if field.told.unit else ""
            entry = place["properties"][field.info.alias or field.name]
            entry["description"] = f"{field.told.meaning}{unit} ({field.told.source})"
    return found
