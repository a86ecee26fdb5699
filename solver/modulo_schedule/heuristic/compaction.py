"""Fewer stages without another search: what no value ties together slides by multiples of II."""

from __future__ import annotations

from dataclasses import replace

from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.models.modulo_schedule.latency import edge_latency
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.workloads.graph.dataflow_graph import DataflowGraph


def compacted(problem: ModuloProblem, schedule: ModuloSchedule) -> ModuloSchedule:
    """``schedule`` with every set of operations that values tie together as early as edges that only order allow.

    All slots, and all that is held in a cycle modulo II, stay the same.
    """
    graph, ii = problem.kernel.graph, schedule.ii
    part = _parts(graph)
    first: dict[int, int] = {}
    for operation, placed in enumerate(schedule.placements):
        first[part[operation]] = min(first.get(part[operation], placed.time), placed.time)
    for route in schedule.routes:
        own = part[graph.edges[route.edge].source]
        first[own] = min([first[own], *(hop.time - 1 for hop in route.hops if hop.via == "move")])
    rounds = {own: -(time // ii) for own, time in first.items()}
    for _ in rounds:
        for edge in graph.edges:
            u, w = part[edge.source], part[edge.destination]
            if u != w:
                ready = schedule.placements[edge.source].time + edge_latency(graph, problem.machine, edge)
                late = ready - schedule.placements[edge.destination].time - edge.distance * ii
                rounds[w] = max(rounds[w], rounds[u] - (-late // ii))
    shift = [ii * rounds[own] for own in part]
    return ModuloSchedule(
        ii,
        tuple(
            replace(placed, time=placed.time + by)
            for placed, by in zip(schedule.placements, shift, strict=True)
        ),
        tuple(
            replace(
                route,
                hops=tuple(
                    replace(hop, time=hop.time + shift[graph.edges[route.edge].source]) for hop in route.hops
                ),
            )
            for route in schedule.routes
        ),
    )


def _parts(graph: DataflowGraph) -> list[int]:
    """Per operation the number of its set: operations are in one if values tie them together."""
    import networkx

    tied: networkx.Graph[int] = networkx.Graph()
    tied.add_nodes_from(range(len(graph.operations)))
    tied.add_edges_from((edge.source, edge.destination) for edge in graph.edges if edge.operand is not None)
    part = [0] * len(graph.operations)
    for number, together in enumerate(networkx.connected_components(tied)):
        for operation in together:
            part[operation] = number
    return part
