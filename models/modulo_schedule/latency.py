"""When results can be read: latencies of edges and of operations' results."""

from __future__ import annotations

from mapper.arch.cgra import CgraMachine
from mapper.workloads.graph.dataflow_graph import DataflowGraph, Edge


def edge_latency(graph: DataflowGraph, machine: CgraMachine, edge: Edge) -> int:
    """Cycles from the issue of the source until the destination may issue (a distance apart)."""
    if edge.latency is not None:
        return edge.latency
    return machine.latency(graph.operations[edge.source].opcode)


def result_latency(graph: DataflowGraph, machine: CgraMachine, operation: int) -> int:
    """Cycles from the issue of ``operation`` until its result stands in the output register: the least
    latency of an edge that carries it. An operation that nothing reads overwrites the register all the same,
    after the machine's latency of its opcode."""
    carrying = [graph.edges[position] for position in graph.outgoing[operation]]
    return min(
        (edge_latency(graph, machine, edge) for edge in carrying if edge.operand is not None),
        default=machine.latency(graph.operations[operation].opcode),
    )
