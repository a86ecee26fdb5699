"""The operators of an ONNX graph in topological order, ties by their position in the file."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import onnx

from mapper.workloads.document import InputError


@dataclass(frozen=True)
class Operator:
    """One node of a graph and its position in the file, counted from 0."""

    position: int
    node: onnx.NodeProto

    @property
    def op(self) -> str:
        return self.node.op_type

    @property
    def domain(self) -> str:
        return "" if self.node.domain == "ai.onnx" else self.node.domain

    @property
    def label(self) -> str:
        """The node's name, or ``n<position>`` where it has none."""
        return self.node.name or f"n{self.position}"

    @property
    def source(self) -> str:
        """The node's name, or that of its first output where it has none."""
        return self.node.name or next(iter(self.node.output), "") or self.label

    @property
    def reads(self) -> tuple[str, ...]:
        """Tensors the operator reads, those its subgraphs capture included."""
        named = dict.fromkeys(name for name in self.node.input if name)
        return tuple(named | dict.fromkeys(_captured(self.node)))

    @property
    def has_subgraph(self) -> bool:
        return any(attribute.HasField("g") or attribute.graphs for attribute in self.node.attribute)

    def field(self) -> str:
        """How an error names the operator."""
        return f"{self.op} {self.label!r}"[:120]


def constant_tensors(graph: onnx.GraphProto) -> dict[str, onnx.TensorProto | onnx.SparseTensorProto]:
    """Initialisers by name."""
    dense: dict[str, onnx.TensorProto | onnx.SparseTensorProto] = {t.name: t for t in graph.initializer}
    return dense | {sparse.values.name: sparse for sparse in graph.sparse_initializer}


def sorted_operators(graph: onnx.GraphProto, source: str) -> tuple[Operator, ...]:
    """The operators, each after those whose outputs it reads.

    Raises: InputError on a cycle, a tensor that nothing makes or that two operators make, an operator without outputs,
    or broken names.
    """
    operators = [Operator(position, node) for position, node in enumerate(graph.node)]
    _check_names(graph, operators, source)
    given = {value.name for value in graph.input} | constant_tensors(graph).keys()
    maker: dict[str, int] = {}
    for operator in operators:
        if not operator.node.output:
            raise InputError(source, operator.field(), "has no outputs; remove it")
        for name in filter(None, operator.node.output):
            if name in given or name in maker:
                raise InputError(source, f"tensor {name[:80]!r}", "is made twice; export the model again")
            maker[name] = operator.position
    waits, readers = [0] * len(operators), [list[int]() for _ in operators]
    for operator in operators:
        for name in operator.reads:
            if name in maker:
                waits[operator.position] += 1
                readers[maker[name]].append(operator.position)
            elif name not in given:
                raise InputError(
                    source, operator.field(), f"reads {name[:80]!r}, which nothing makes; repair the graph"
                )
    ready = [operator.position for operator in operators if not waits[operator.position]]
    order: list[Operator] = []
    while ready:
        position = heapq.heappop(ready)
        order.append(operators[position])
        for reader in readers[position]:
            waits[reader] -= 1
            if not waits[reader]:
                heapq.heappush(ready, reader)
    if len(order) < len(operators):
        stuck = next(operator for operator in operators if waits[operator.position])
        raise InputError(source, stuck.field(), "waits for its own output, a cycle; repair the graph")
    return tuple(order)


def _check_names(graph: onnx.GraphProto, operators: Iterable[Operator], source: str) -> None:
    """Names that are not UTF-8 come out of the parser as bytes."""
    for operator in operators:
        node = operator.node
        names = (node.name, node.op_type, node.domain, *node.input, *node.output, *_captured(node))
        if not all(isinstance(name, str) for name in names):
            raise InputError(source, f"node {operator.position}", "has a name that is not UTF-8; rename it")
    tensors = (*graph.input, *graph.output, *graph.value_info, *graph.initializer)
    values = (sparse.values for sparse in graph.sparse_initializer)
    if not all(isinstance(named.name, str) for named in (*tensors, *values)):
        raise InputError(source, "graph", "has a tensor whose name is not UTF-8; rename it")


def _captured(node: onnx.NodeProto) -> Iterator[str]:
    """Names that the node's subgraphs read from outside themselves."""
    for attribute in node.attribute:
        for graph in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])):
            own = {value.name for value in graph.input} | constant_tensors(graph).keys()
            own |= {name for inner in graph.node for name in inner.output}
            for inner in graph.node:
                yield from (name for name in (*inner.input, *_captured(inner)) if name and name not in own)
            yield from (value.name for value in graph.output if value.name and value.name not in own)
