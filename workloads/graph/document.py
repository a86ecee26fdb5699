"""The schema of dataflow graphs in JSON or YAML (``mapper.dfg/1``), read and written."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mapper.workloads.document import InputError, validation_error
from mapper.workloads.graph.dataflow_graph import DataflowGraph, Edge, Number, Operation
from mapper.workloads.graph.kernel import Array, EntryOperation, Kernel, LiveIn, WordKind
from mapper.workloads.graph.opcode import ARITY, FLOAT_OPERATIONS, INTEGER_OPERATIONS, rounded, wrapped
from mapper.workloads.graph.order import iteration_order
from mapper.workloads.text.nearest import meant

DFG_SCHEMA = "mapper.dfg/1"
MOST_OPERATIONS = 20000
MOST_EDGES = 100000
LARGEST_DISTANCE = 4096
LARGEST_LATENCY = 1024
MOST_OPERANDS = 64

Name = Annotated[str, Field(min_length=1, max_length=200)]
Integer = Annotated[int, Field(ge=-(1 << 63), lt=1 << 63, strict=True)]
Offset = Annotated[int, Field(ge=-(1 << 31), lt=1 << 32, strict=True)]
Place = Annotated[int, Field(ge=0, lt=1 << 31, strict=True)]
Real = Annotated[float, Field(strict=True, allow_inf_nan=False)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class _Array(_Part):
    name: Name
    words: Annotated[int, Field(ge=1, le=1 << 26, strict=True)]
    kind: WordKind = "int32"
    written: bool = False


class _Operation(_Part):
    name: Name
    opcode: Name
    immediates: dict[Annotated[int, Field(ge=0, lt=MOST_OPERANDS)], Integer | Real] = {}
    array: Name | None = None
    offset: Offset = 0


class _Edge(_Part):
    source: Name = Field(alias="from")
    destination: Name = Field(alias="to")
    operand: Annotated[int, Field(ge=0, lt=MOST_OPERANDS, strict=True)] | None
    distance: Annotated[int, Field(ge=0, le=LARGEST_DISTANCE, strict=True)] = 0
    latency: Annotated[int, Field(ge=0, le=LARGEST_LATENCY, strict=True)] | None = None
    initial: list[Integer | Real] = []


class _EntryOperation(_Part):
    name: Name
    opcode: Name
    operands: Annotated[list[Name | Integer | Real], Field(max_length=4)] = []
    array: Name | None = None


class _LiveIn(_Part):
    value: Name
    operands: list[tuple[Place, Place]] = []
    initial: list[tuple[Place, Place]] = []
    offsets: list[Place] = []


class GraphDocument(_Part):
    schema_name: Literal["mapper.dfg/1"] = Field(alias="schema")
    name: Annotated[str, Field(min_length=1, max_length=200)]
    trip_count: Annotated[int, Field(ge=1, lt=1 << 31, strict=True)] | None = None
    arrays: Annotated[list[_Array], Field(max_length=1000)] = []
    operations: Annotated[list[_Operation], Field(min_length=1, max_length=MOST_OPERATIONS)]
    edges: Annotated[list[_Edge], Field(max_length=MOST_EDGES)] = []
    text: str = ""
    notes: list[str] = []
    entry: Annotated[list[_EntryOperation], Field(max_length=MOST_OPERATIONS)] = []
    live_ins: Annotated[list[_LiveIn], Field(max_length=MOST_OPERATIONS)] = []
    assumed_trips: Annotated[int, Field(ge=1, lt=1 << 31, strict=True)] | None = None


def kernel_document(kernel: Kernel) -> dict[str, Any]:
    """``kernel`` as a document that ``kernel_from_document`` reads back to an equal one."""
    names = [operation.name for operation in kernel.graph.operations]
    return _entry_fields(kernel) | {
        "schema": DFG_SCHEMA,
        "name": kernel.name,
        "trip_count": kernel.trip_count,
        "arrays": [
            {"name": array.name, "words": array.words, "kind": array.kind, "written": array.written}
            for array in kernel.arrays
        ],
        "operations": [
            {
                "name": operation.name,
                "opcode": operation.opcode,
                "immediates": {str(operand): number for operand, number in operation.immediates},
                "array": operation.array,
                "offset": operation.offset,
            }
            for operation in kernel.graph.operations
        ],
        "edges": [
            {
                "from": names[edge.source],
                "to": names[edge.destination],
                "operand": edge.operand,
                "distance": edge.distance,
                "latency": edge.latency,
                "initial": list(edge.initial),
            }
            for edge in kernel.graph.edges
        ],
        "text": kernel.text,
        "notes": list(kernel.notes),
    }


def _entry_fields(kernel: Kernel) -> dict[str, Any]:
    """What only kernels with an entry, or a trip count that is assumed, say."""
    fields: dict[str, Any] = {}
    if kernel.entry:
        fields["entry"] = [{**asdict(one), "operands": list(one.operands)} for one in kernel.entry]
        fields["live_ins"] = [
            {
                "value": one.value,
                "operands": [list(place) for place in one.operands],
                "initial": [list(place) for place in one.initial],
            }
            | ({"offsets": list(one.offsets)} if one.offsets else {})
            for one in kernel.live_ins
        ]
    if kernel.assumed_trips is not None:
        fields["assumed_trips"] = kernel.assumed_trips
    return fields


def kernel_from_document(fields: dict[str, Any], source: str) -> Kernel:
    """The kernel that a document describes. Numbers that operations of
    32 bits take wrap to 32 bits, or round to single precision.

    Raises: InputError naming the field that is wrong, the operation whose operands do not fit its opcode, or
    a cycle of distance 0.
    """
    immediates = [item.get("immediates") for item in _mappings(fields.get("operations"))]
    if any(
        isinstance(key, str) and not (key.isascii() and key.isdecimal())
        for one in _mappings(immediates)
        for key in one
    ):
        raise InputError(source, "immediates", "keys are operand positions; count them from 0")
    try:
        document = GraphDocument.model_validate(fields)
    except ValidationError as error:
        raise validation_error(error, source, GraphDocument) from None
    positions = {operation.name: position for position, operation in enumerate(document.operations)}
    if len(positions) != len(document.operations):
        raise InputError(source, "operations", "two have the same name; rename one")
    operations = tuple(
        Operation(
            item.name, item.opcode,
            tuple((operand, _word(number, item.opcode)) for operand, number in sorted(item.immediates.items())),
            item.array, item.offset,
        )
        for item in document.operations
    )  # fmt: skip
    edges = []
    for count, item in enumerate(document.edges):
        for end in (item.source, item.destination):
            if end not in positions:
                raise InputError(
                    source,
                    f"edges.{count}",
                    f"{meant(end, positions)}there is no operation {end[:40]!r}; name one",
                )
        if item.initial and len(item.initial) != item.distance:
            fault = f"has {len(item.initial)} values for distance {item.distance}; give one per iteration"
            raise InputError(source, f"edges.{count}.initial", fault)
        edges.append(
            Edge(
                positions[item.source],
                positions[item.destination],
                item.operand,
                item.distance,
                item.latency,
                tuple(
                    _word(number, operations[positions[item.destination]].opcode) for number in item.initial
                ),
            )
        )
    arrays = tuple(Array(item.name, item.words, item.kind, item.written) for item in document.arrays)
    graph = DataflowGraph(document.name, operations, tuple(edges))
    kernel = Kernel(
        document.name, graph, arrays, document.trip_count, document.text, tuple(document.notes),
        tuple(EntryOperation(one.name, one.opcode, tuple(one.operands), one.array) for one in document.entry),
        tuple(
            LiveIn(one.value, tuple(one.operands), tuple(one.initial), tuple(one.offsets))
            for one in document.live_ins
        ),
        document.assumed_trips,
    )  # fmt: skip
    check_graph(graph, source)
    _check_arrays(kernel, source)
    _check_entry(kernel, source)
    return kernel


def check_graph(graph: DataflowGraph, source: str) -> None:
    """Raises InputError where an operand comes twice, an opcode with a meaning lacks one, or a cycle has
    distance 0."""
    given: list[list[int]] = [[operand for operand, _ in item.immediates] for item in graph.operations]
    for edge in graph.edges:
        if edge.operand is not None:
            given[edge.destination].append(edge.operand)
    for operation, operands in zip(graph.operations, given, strict=True):
        place = operation.name[:60]
        if len(set(operands)) < len(operands):
            twice = min(operand for operand in operands if operands.count(operand) > 1)
            raise InputError(source, place, f"operand {twice} is given twice; number the operands from 0")
        least, most = ARITY.get(operation.opcode, (0, MOST_OPERANDS))
        if operation.opcode in ARITY and (
            not least <= len(operands) <= most or sorted(operands) != list(range(len(operands)))
        ):
            wanted = str(least) if least == most else f"{least} to {most}"
            fault = f"{operation.opcode} takes {wanted} operands, numbered from 0, and is given {sorted(operands)}"
            raise InputError(source, place, f"{fault}; give each as an immediate or by an edge")
    iteration_order(graph, source)


def _check_entry(kernel: Kernel, source: str) -> None:
    """Raises InputError where the entry, or a live-in, names what there is not."""
    arrays, known = {array.name for array in kernel.arrays}, set[str]()
    for one in kernel.entry:
        place = one.name[:60]
        least, most = ARITY.get(one.opcode, (-1, -1))
        if one.opcode == "store" or not least <= len(one.operands) <= most:
            raise InputError(
                source, f"entry.{place}", f"{one.opcode[:20]} does not take these operands; correct it"
            )
        if (one.opcode == "load") != (one.array is not None) or one.array not in (None, *arrays):
            raise InputError(source, f"entry.{place}", "touches no declared array; name one in arrays")
        if one.name in known or not {name for name in one.operands if isinstance(name, str)} <= known:
            raise InputError(source, f"entry.{place}", "takes what no earlier operation gives; correct it")
        known.add(one.name)
    operations, edges = kernel.graph.operations, kernel.graph.edges
    for live_in in kernel.live_ins:
        operands = ((at, place) for at, place in live_in.operands if at < len(operations))
        initial = ((at, place) for at, place in live_in.initial if at < len(edges))
        found = sum(place in dict(operations[at].immediates) for at, place in operands)
        found += sum(place < len(edges[at].initial) for at, place in initial)
        found += sum(at < len(operations) and operations[at].array is not None for at in live_in.offsets)
        places = len(live_in.operands) + len(live_in.initial) + len(live_in.offsets)
        if live_in.value not in known or found < places:
            raise InputError(
                source, f"live_ins.{live_in.value[:60]}", "is no value or has no place; correct it"
            )


def _check_arrays(kernel: Kernel, source: str) -> None:
    declared = {array.name: array for array in kernel.arrays}
    if len(declared) != len(kernel.arrays):
        raise InputError(source, "arrays", "two have the same name; rename one")
    for operation in kernel.graph.operations:
        memory = operation.opcode in ("load", "store")
        if operation.array is None and kernel.trip_count is None:
            continue  # a graph drawn by somebody else: scheduled as it is, and simulated on symbols
        if memory and operation.array not in declared:
            near = meant(operation.array or "", declared)
            raise InputError(
                source, operation.name[:60], f"{near}touches no declared array; name one in arrays"
            )
        if memory and operation.opcode == "store" and not declared[operation.array or ""].written:
            raise InputError(source, f"arrays.{operation.array}", "is stored to; set written: true")


def _mappings(items: Any) -> list[dict[Any, Any]]:
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _word(number: Number, opcode: str) -> Number:
    """``number`` as an operation of 32 bits takes it; the others take it as it is."""
    if opcode in FLOAT_OPERATIONS and isinstance(number, float):
        return rounded(number)
    return wrapped(number) if opcode in INTEGER_OPERATIONS and isinstance(number, int) else number
