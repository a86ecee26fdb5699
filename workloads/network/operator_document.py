"""Graphs of operators as JSON documents (schema ``mapper.operators/1``), written and read back."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mapper.workloads.document import InputError, validation_error
from mapper.workloads.network.network import InputFile
from mapper.workloads.network.operator_geometry import geometry_fault
from mapper.workloads.network.operator_network import NetworkOperator, OperatorNetwork, Window
from mapper.workloads.text.nearest import meant

OPERATORS_SCHEMA = "mapper.operators/1"
MOST_OPERATORS = 100000
MOST_MACS = 10**18
LONGEST_NAME = 4096
MOST_ENTRIES = 4096
HIGHEST_RANK = 32

Text = Annotated[str, Field(max_length=LONGEST_NAME, strict=True)]
Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME, strict=True)]
Size = Annotated[int, Field(ge=1, le=1 << 62, strict=True)]
Count = Annotated[int, Field(ge=0, le=1 << 31, strict=True)]
Integer = Annotated[int, Field(ge=-(1 << 63), lt=1 << 64, strict=True)]
Real = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Sizes = Annotated[tuple[Size, ...], Field(max_length=HIGHEST_RANK)]
Counts = Annotated[tuple[Count, ...], Field(max_length=HIGHEST_RANK)]
Names = Annotated[tuple[Text, ...], Field(max_length=MOST_ENTRIES)]
Value = Integer | Real | Text | tuple[Integer, ...] | tuple[Real, ...] | tuple[Text, ...]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class _Window(_Part):
    kernel: Sizes
    strides: Sizes
    pads: Annotated[tuple[tuple[Count, Count], ...], Field(max_length=HIGHEST_RANK)]
    dilations: Sizes
    groups: Size = 1
    ceil: bool = False
    count_pads: bool = False
    output_pads: Counts = ()


class _Operator(_Part):
    name: Name
    source: Text
    op: Text
    operands: Names
    outputs: Annotated[tuple[Text, ...], Field(min_length=1, max_length=MOST_ENTRIES)]
    weights: dict[Name, Sizes] = {}
    window: _Window | None = None
    attributes: dict[Name, Value] = {}
    macs: Annotated[int, Field(ge=0, le=MOST_MACS, strict=True)] = 0


class OperatorsDocument(_Part):
    schema_name: Literal["mapper.operators/1"] = Field(alias="schema")
    name: Name
    batch: Size | None = None
    dims: dict[Name, Size] = {}
    inputs: tuple[Name, ...]
    outputs: tuple[Name, ...]
    tensors: dict[Name, Sizes]
    operators: Annotated[list[_Operator], Field(min_length=1, max_length=MOST_OPERATORS)]


def operators_document(network: OperatorNetwork) -> dict[str, Any]:
    """``network`` as a document that ``operators_from_document`` reads back to an equal one, its files apart."""
    sized = {"dims": dict(network.dims)} if network.dims else {}
    return {
        "schema": OPERATORS_SCHEMA,
        "name": network.name,
        "batch": network.batch,
        **sized,
        "inputs": list(network.inputs),
        "outputs": list(network.outputs),
        "tensors": {tensor: list(shape) for tensor, shape in network.tensors.items()},
        "operators": [_operator_document(operator) for operator in network.operators],
    }


def operators_from_document(
    fields: dict[str, Any], source: str, files: tuple[InputFile, ...] = ()
) -> OperatorNetwork:
    """The network that a document describes; ``files`` are those it was once read from.

    Raises: InputError naming the field that is wrong, an operator that reads what nothing before it makes, or
    a tensor without a shape.
    """
    try:
        document = OperatorsDocument.model_validate(fields)
    except ValidationError as error:
        raise validation_error(error, source, OperatorsDocument) from None
    network = OperatorNetwork(
        document.name,
        tuple(_operator(item) for item in document.operators),
        document.tensors,
        document.inputs,
        document.outputs,
        files,
        document.batch,
        document.dims,
    )
    _check(network, source)
    return network


def _operator_document(operator: NetworkOperator) -> dict[str, Any]:
    window = operator.window
    return {
        "name": operator.name,
        "source": operator.source,
        "op": operator.op,
        "operands": list(operator.operands),
        "outputs": list(operator.outputs),
        "weights": {weight: list(shape) for weight, shape in operator.weights},
        "window": window
        and {
            "kernel": list(window.kernel),
            "strides": list(window.strides),
            "pads": [list(pad) for pad in window.pads],
            "dilations": list(window.dilations),
            "groups": window.groups,
            "ceil": window.ceil,
            "count_pads": window.count_pads,
            "output_pads": list(window.output_pads),
        },
        "attributes": {
            name: list(value) if isinstance(value, tuple) else value for name, value in operator.attributes
        },
        "macs": operator.macs,
    }


def _window(item: _Window) -> Window:
    return Window(
        item.kernel,
        item.strides,
        item.pads,
        item.dilations,
        item.groups,
        item.ceil,
        item.count_pads,
        item.output_pads,
    )


def _operator(item: _Operator) -> NetworkOperator:
    return NetworkOperator(
        item.name,
        item.source,
        item.op,
        item.operands,
        item.outputs,
        tuple(item.weights.items()),
        _window(item.window) if item.window else None,
        tuple(item.attributes.items()),
        item.macs,
    )


def _check(network: OperatorNetwork, source: str) -> None:
    made, names = set(network.inputs), set[str]()
    for place, operator in enumerate(network.operators):
        field = f"operators.{place}"
        if operator.name in names:
            raise InputError(source, f"{field}.name", "names a second operator; rename one")
        names.add(operator.name)
        for tensor in operator.inputs:
            if tensor not in made:
                near = meant(tensor, sorted(made))
                remedy = (
                    f"{near}{tensor[:60]!r} is no input, no weight and no output of an operator before it"
                )
                raise InputError(source, f"{field}.operands", f"{remedy}; order the operators")
        fresh = list(filter(None, operator.outputs))
        if not fresh or len(set(fresh)) < len(fresh) or not made.isdisjoint(fresh):
            raise InputError(source, f"{field}.outputs", "must be at least one tensor, each made once")
        made.update(fresh)
        _check_window(operator, source, field)
    needed = {tensor for operator in network.operators for tensor in operator.inputs}
    for field, tensors in (("inputs", network.inputs), ("outputs", network.outputs)):
        if not made.issuperset(tensors):
            raise InputError(source, field, "names a tensor that nothing makes; remove it")
        needed.update(tensors)
    for tensor in sorted(needed - network.tensors.keys()):
        raise InputError(source, "tensors", f"lacks the shape of {tensor[:60]!r}; add it")
    for place, operator in enumerate(network.operators):
        fault = geometry_fault(operator, network.tensors)
        if fault is not None:
            told = f"{operator.op} {operator.source[:60]!r} {fault}; correct the shapes"
            raise InputError(source, f"operators.{place}", told)


def _check_window(operator: NetworkOperator, source: str, field: str) -> None:
    window = operator.window
    if window is None:
        return
    ranks = {len(window.kernel), len(window.strides), len(window.pads), len(window.dilations)}
    if len(ranks) > 1 or len(window.output_pads) not in (0, len(window.kernel)):
        raise InputError(source, f"{field}.window", "must have one entry per axis in each list")
