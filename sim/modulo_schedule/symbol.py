"""Symbols for values: graphs whose opcodes have no numeric meaning are run on hashes.

The symbol of a result is a hash of the operation, the iteration and the operands' symbols: a value of another
operation or iteration, wherever it slips in, changes every symbol that depends on it.
"""

from __future__ import annotations

import hashlib

from mapper.workloads.graph.dataflow_graph import DataflowGraph, Number
from mapper.workloads.graph.order import iteration_order


def symbol(operation: str, opcode: str, iteration: int, operands: tuple[Number, ...]) -> int:
    """64 bits that stand for the result of ``operation`` in ``iteration``."""
    text = repr((operation, opcode, iteration, operands)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")


def reference_trace(graph: DataflowGraph, iterations: int) -> dict[str, list[Number]]:
    """Per operation the symbols of its results, iteration by iteration in program order.

    Raises: InputError if a cycle of the graph has distance 0.
    """
    order = iteration_order(graph, graph.name)
    results: list[list[Number]] = [[] for _ in graph.operations]
    for iteration in range(iterations):
        for position in order:
            operation = graph.operations[position]
            given = dict(operation.immediates)
            for edge in (graph.edges[at] for at in graph.incoming[position]):
                if edge.operand is None:
                    continue
                if iteration >= edge.distance:
                    given[edge.operand] = results[edge.source][iteration - edge.distance]
                else:
                    given[edge.operand] = edge.initial[iteration] if edge.initial else 0
            operands = tuple(value for _, value in sorted(given.items()))
            results[position].append(symbol(operation.name, operation.opcode, iteration, operands))
    return {operation.name: results[at] for at, operation in enumerate(graph.operations)}
