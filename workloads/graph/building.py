"""Other people's graphs as kernels: names made unique, operand positions found where a file leaves them out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mapper.workloads.document import InputError
from mapper.workloads.graph.dataflow_graph import DataflowGraph, Edge, Operation
from mapper.workloads.graph.document import (
    LARGEST_DISTANCE,
    LARGEST_LATENCY,
    MOST_EDGES,
    MOST_OPERANDS,
    MOST_OPERATIONS,
)
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.graph.opcode import ARITY
from mapper.workloads.graph.order import iteration_order
from mapper.workloads.text.nearest import meant
from mapper.workloads.text.number_text import whole_number

UNKNOWN_OPCODE = "op"
NAMED_OPERANDS = {"LHS": 0, "RHS": 1}


@dataclass(frozen=True)
class DrawnEdge:
    """An edge as files give it: names of its ends, and attributes as text or numbers, None where left out. One that
    only ``orders`` brings no operand."""

    source: str
    destination: str
    operand: str | None = None
    distance: str | None = None
    latency: str | None = None
    orders: bool = False


def kernel_of(
    name: str,
    nodes: Sequence[tuple[str, str]],
    drawn: Sequence[DrawnEdge],
    source: str,
    notes: tuple[str, ...] = (),
) -> Kernel:
    """A kernel without trip count and arrays, of ``nodes`` (name, opcode) and edges in the order of the file.

    An edge without a position, or with one that is no number, brings the least operand left. Such files leave
    constants out: an operand that an opcode with a meaning needs and no edge brings is 0, and a note says so. An edge
    from an operation to itself that says no distance is of the iteration before, as it can be of no other.
    ``notes``: what else the reader assumed.
    Raises: InputError for an unknown end, a wrong number, too large a graph, or a cycle of distance 0.
    """
    if not nodes:
        raise InputError(source, "", "has no operations; give a graph with at least one")
    if len(nodes) > MOST_OPERATIONS or len(drawn) > MOST_EDGES:
        limit = f"more than {MOST_OPERATIONS} operations or {MOST_EDGES} edges"
        raise InputError(source, "", f"{limit}; part the graph")
    positions = {key: position for position, (key, _) in enumerate(nodes)}
    taken: list[set[int]] = [set() for _ in nodes]
    operands = [_operand(edge, source) for edge in drawn]
    for edge, operand in zip(drawn, operands, strict=True):
        for end in (edge.source, edge.destination):
            if end not in positions:
                raise InputError(
                    source, "edges", f"{meant(end, positions)}there is no operation {end[:40]!r}; name one"
                )
        if operand is not None:
            if operand in taken[positions[edge.destination]]:
                raise InputError(
                    source, edge.destination[:60], f"operand {operand} is given twice; number them from 0"
                )
            taken[positions[edge.destination]].add(operand)
    edges: list[Edge] = []
    free = [0] * len(nodes)  # below, no operand is left
    for edge, operand in zip(drawn, operands, strict=True):
        destination = positions[edge.destination]
        if operand is None and not edge.orders:
            while free[destination] in taken[destination]:
                free[destination] += 1
            operand = free[destination]
            taken[destination].add(operand)
        said = _count(edge.distance, 0, LARGEST_DISTANCE, "distance", source)
        distance = int(edge.source == edge.destination) if said is None else said
        latency = _count(edge.latency, 0, LARGEST_LATENCY, "latency", source)
        edges.append(Edge(positions[edge.source], destination, operand, distance, latency, (0,) * distance))
    operations = tuple(
        Operation(key, opcode, tuple((place, 0) for place in _left_out(opcode, given)))
        for (key, opcode), given in zip(nodes, taken, strict=True)
    )
    graph = DataflowGraph(name, operations, tuple(edges))
    iteration_order(graph, source)
    filled = sum(len(operation.immediates) for operation in operations)
    note = (f"{filled} operands that no edge brings are taken to be 0",) if filled else ()
    return Kernel(name, graph, notes=(*notes, *note))


def _left_out(opcode: str, given: set[int]) -> list[int]:
    """The positions that ``opcode`` needs and that are not given."""
    return [place for place in range(ARITY.get(opcode, (0, 0))[0]) if place not in given]


def _operand(edge: DrawnEdge, source: str) -> int | None:
    text = edge.operand
    if text is None:
        return None
    if text in NAMED_OPERANDS:
        return NAMED_OPERANDS[text]
    return _count(text, 0, MOST_OPERANDS - 1, "operand", source) if text.lstrip("-").isdecimal() else None


def _count(text: str | None, least: int, most: int, field: str, source: str) -> int | None:
    if text is None:
        return None
    number = whole_number(text, least, most)
    if number is None:
        raise InputError(source, field, f"{text[:20]!r} is not a number from {least} to {most}; correct it")
    return number
