"""Small kernels with schedules written by hand."""

from __future__ import annotations

from typing import Any

from mapper.arch.cgra import CgraMachine, cgra_from_document
from mapper.models.modulo_schedule.mapping import Hop, ModuloSchedule, Placement, Route
from mapper.workloads.graph.dataflow_graph import DataflowGraph, Edge, Operation
from mapper.workloads.graph.kernel import Array, Kernel
from mapper.workloads.graph.order import iteration_order

Example = tuple[Kernel, CgraMachine, ModuloSchedule]
LEFT, RIGHT = (0, 0), (0, 1)
COUNTED = Edge(0, 0, 0, 1, initial=(-1,))
COUNTER = Operation("i", "add", ((1, 1),))


def array_of(rows: int, columns: int, registers: int = 4, **other: Any) -> CgraMachine:
    """A mesh whose PEs run everything."""
    fields: dict[str, Any] = {
        "schema": "mapper.cgra/1",
        "name": f"test-{rows}x{columns}",
        "rows": rows,
        "columns": columns,
        "links": ["mesh"],
        "pes": [{"at": "all", "classes": ["any"]}],
        "register_file": {"registers": registers},
    }
    return cgra_from_document(fields | other, "test")


def kernel_of(operations: tuple[Operation, ...], edges: tuple[Edge, ...], trips: int | None = 5) -> Kernel:
    arrays = (Array("x", 64), Array("y", 64, written=True))
    return Kernel("test", DataflowGraph("test", operations, edges), arrays, trips)


def result(pe: tuple[int, int], time: int, register: int | None = None) -> Hop:
    return Hop(pe, time, "output" if register is None else "register", register)


def move(pe: tuple[int, int], time: int, register: int | None = None) -> Hop:
    return Hop(pe, time, "move", register)


def accumulate(**machine: Any) -> Example:
    """y[i] = sum += x[i] on two PEs, the index kept by a move and registers."""
    kernel = kernel_of(
        (
            COUNTER,
            Operation("x_i", "load", (), "x"),
            Operation("sum", "add"),
            Operation("y_i", "store", (), "y"),
        ),
        (
            COUNTED,
            Edge(0, 1, 0),
            Edge(1, 2, 0),
            Edge(2, 2, 1, 1, initial=(7,)),
            Edge(0, 3, 0),
            Edge(2, 3, 1),
        ),
    )
    schedule = ModuloSchedule(
        3,
        (Placement(LEFT, 0), Placement(RIGHT, 1), Placement(RIGHT, 2), Placement(LEFT, 4)),
        (
            Route(0, (result(LEFT, 1, 0),)),
            Route(1, (result(LEFT, 1, 0),)),
            Route(2, (result(RIGHT, 2),)),
            Route(3, (result(RIGHT, 3, 1),)),
            Route(4, (result(LEFT, 1, 0), move(LEFT, 3, 2))),
            Route(5, (result(RIGHT, 3, 1),)),
        ),
    )
    return kernel, array_of(1, 2, **machine), schedule


def recurrence_of_two() -> Example:
    """f = f[-1] (op) f[-2] on one PE: what is read two iterations later outlives its register twice."""
    kernel = kernel_of(
        (Operation("f", "combine"),),
        (Edge(0, 0, 0, 1, initial=(1,)), Edge(0, 0, 1, 2, initial=(0, 1))),
        trips=None,
    )
    held = result(LEFT, 1, 0)
    routes = (Route(0, (held,)), Route(1, (held, move(LEFT, 3, 1), move(LEFT, 5, 2))))
    return kernel, array_of(1, 1), ModuloSchedule(3, (Placement(LEFT, 0),), routes)


def late_load(trips: int = 5) -> Example:
    """y[0] = x[i] with a load of 16 cycles at II 2: nine stages."""
    kernel = kernel_of(
        (COUNTER, Operation("x_i", "load", (), "x"), Operation("y_0", "store", ((0, 0),), "y")),
        (COUNTED, Edge(0, 1, 0), Edge(1, 2, 1)),
        trips,
    )
    schedule = ModuloSchedule(
        2,
        (Placement(LEFT, 0), Placement(RIGHT, 1), Placement(LEFT, 17)),
        (
            Route(0, (result(LEFT, 1, 0),)),
            Route(1, (result(LEFT, 1, 0),)),
            Route(2, (result(RIGHT, 17),)),
        ),
    )
    return kernel, array_of(1, 2, latency_cycles={"load": 16}), schedule


def predicated_store() -> Example:
    """if (i & 1) y[i] = 99 on a 2x2 array."""
    kernel = kernel_of(
        (
            COUNTER,
            Operation("odd", "and", ((1, 1),)),
            Operation("y_i", "store", ((1, 99),), "y"),
        ),
        (COUNTED, Edge(0, 1, 0), Edge(0, 2, 0), Edge(1, 2, 2)),
    )
    schedule = ModuloSchedule(
        3,
        (Placement((0, 0), 0), Placement((1, 0), 1), Placement((0, 0), 2)),
        (
            Route(0, (result((0, 0), 1, 0),)),
            Route(1, (result((0, 0), 1, 0),)),
            Route(2, (result((0, 0), 1, 0),)),
            Route(3, (result((1, 0), 2),)),
        ),
    )
    return kernel, array_of(2, 2), schedule


def routed_over_a_neighbour() -> Example:
    """A value of other people's opcodes carried from the first to the third PE of a row by a move."""
    kernel = kernel_of((Operation("a", "alpha"), Operation("b", "beta")), (Edge(0, 1, 0),), trips=None)
    routes = (Route(0, (result((0, 0), 1), move((0, 1), 2))),)
    return kernel, array_of(1, 3), ModuloSchedule(1, (Placement((0, 0), 0), Placement((0, 2), 2)), routes)


def through_a_shared_file(**shared: Any) -> Example:
    """y[i] = i + x[i] on three PEs of which none is linked to another, by two registers that all share."""
    kernel = kernel_of(
        (
            COUNTER,
            Operation("x_i", "load", (), "x"),
            Operation("sum", "add"),
            Operation("y_i", "store", (), "y"),
        ),
        (COUNTED, Edge(0, 1, 0), Edge(0, 2, 0), Edge(1, 2, 1), Edge(2, 3, 1), Edge(0, 3, 0)),
    )
    counted, loaded = result((0, 0), 1, 4), result((0, 1), 2, 5)
    schedule = ModuloSchedule(
        4,
        (Placement((0, 0), 0), Placement((0, 1), 1), Placement((0, 2), 2), Placement((0, 2), 4)),
        (
            Route(0, (result((0, 0), 1),)),
            *(Route(at, (counted,)) for at in (1, 2)),
            Route(3, (loaded,)),
            Route(4, (result((0, 2), 3),)),
            Route(5, (counted,)),
        ),
    )
    return kernel, array_of(1, 3, links=[], shared_register_file={"registers": 2, **shared}), schedule


def one_after_another(kernel: Kernel) -> Example:
    """``kernel`` on one PE, an operation a cycle, every result in a register of its own; a value that lives
    longer than the II is handed on by moves, in cycles after the last operation."""
    graph = kernel.graph
    order = iteration_order(graph, kernel.name)
    time = {operation: cycle for cycle, operation in enumerate(order)}
    ii = len(order) + sum(2 + edge.distance for edge in graph.edges if edge.distance)
    # Slots from the last backwards: each further move then comes nearly II after the one before.
    free, slots = len(order), iter(range(ii - 1, len(order) - 1, -1))
    routes = []
    for at, edge in enumerate(graph.edges):
        if edge.operand is None:
            continue
        hops = [result(LEFT, time[edge.source] + 1, edge.source)]
        read = time[edge.destination] + edge.distance * ii
        while read >= hops[-1].time + ii:
            slot = next(slots)
            hops.append(move(LEFT, hops[-1].time + (slot - hops[-1].time) % ii + 1, free))
            free += 1
        routes.append(Route(at, tuple(hops)))
    routes += [Route(at, ()) for at, edge in enumerate(graph.edges) if edge.operand is None]
    placements = tuple(Placement(LEFT, time[operation]) for operation in range(len(order)))
    return kernel, array_of(1, 1, max(free, 1)), ModuloSchedule(ii, placements, tuple(routes))
