"""The order in which the operations of one iteration can run."""

from __future__ import annotations

from mapper.workloads.document import InputError
from mapper.workloads.graph.dataflow_graph import DataflowGraph

LONGEST_CYCLE_SHOWN = 8


def iteration_order(graph: DataflowGraph, source: str) -> tuple[int, ...]:
    """Positions of the operations so that each comes after all that it needs of the same iteration; ties by
    position.

    Raises: InputError naming a cycle of edges of distance 0, which no schedule can honour.
    """
    import heapq

    waiting = [0] * len(graph.operations)
    after: list[list[int]] = [[] for _ in graph.operations]
    for edge in graph.edges:
        if edge.distance == 0:
            waiting[edge.destination] += 1
            after[edge.source].append(edge.destination)
    ready = [position for position, count in enumerate(waiting) if count == 0]
    order: list[int] = []
    while ready:
        order.append(heapq.heappop(ready))
        for position in after[order[-1]]:
            waiting[position] -= 1
            if waiting[position] == 0:
                heapq.heappush(ready, position)
    if len(order) == len(graph.operations):
        return tuple(order)
    cycle = _cycle(graph, {position for position, count in enumerate(waiting) if count})
    names = [graph.operations[position].name[:40] for position in cycle]
    if len(names) > LONGEST_CYCLE_SHOWN:
        names[LONGEST_CYCLE_SHOWN:] = [f"({len(names) - LONGEST_CYCLE_SHOWN} more)"]
    line = " -> ".join([*names, names[0]])
    raise InputError(
        source, "edges", f"the cycle {line} has distance 0 all around; give one of its edges a distance"
    )


def _cycle(graph: DataflowGraph, left: set[int]) -> list[int]:
    """A cycle among the operations ``left``, each of which waits for another of them."""
    cause: dict[int, int] = {}
    for edge in graph.edges:
        if edge.distance == 0 and edge.source in left:
            cause.setdefault(edge.destination, edge.source)
    position = min(left)
    seen: dict[int, int] = {}
    path: list[int] = []
    while position not in seen:
        seen[position] = len(path)
        path.append(position)
        position = cause[position]
    return path[seen[position] :][::-1]
