"""Small random loop bodies and arrays for modulo schedules."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from mapper.arch.cgra import CgraMachine, cgra_from_document
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.models.modulo_schedule.interval import mii
from mapper.workloads.dataflow_graph import DataflowGraph, Edge, Operation
from mapper.workloads.kernel import Kernel

OPCODES = st.sampled_from(["add", "add", "load", "store"])


@st.composite
def graphs(draw: st.DrawFn, most: int) -> DataflowGraph:
    """Graphs that data edges connect, with recurrences, latencies, and order edges."""
    count = draw(st.integers(2, most))
    ends = [(draw(st.integers(0, w - 1)), w) for w in range(1, count)]
    ends += draw(st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=2))
    edges = []
    for operand, (u, w) in enumerate(ends):
        distance = draw(st.sampled_from([0, 0, 1, 2])) if u < w else draw(st.integers(1, 2))
        latency = draw(st.sampled_from([None, None, None, 2]))
        orders = operand >= count - 1 and draw(st.integers(0, 3)) == 0
        edges.append(Edge(u, w, None if orders else operand, distance, latency))
    operations = tuple(Operation(f"o{v}", draw(OPCODES)) for v in range(count))
    return DataflowGraph("graph", operations, tuple(edges))


@st.composite
def machines(draw: st.DrawFn, most: int) -> CgraMachine:
    shapes = [(rows, columns) for rows, columns in ((1, 1), (1, 2), (1, 3), (2, 2)) if rows * columns <= most]
    rows, columns = draw(st.sampled_from(shapes))
    links: list[Any] = [draw(st.sampled_from(["mesh", "mesh", "torus"]))]
    if columns > 1 and draw(st.integers(0, 3)) == 0:
        links = [[[0, at], [0, at + 1]] for at in range(columns - 1)]
    memory = draw(st.sampled_from([None, None, 1]))
    pes: list[dict[str, Any]] = [{"at": "all", "classes": ["any"]}]
    if draw(st.integers(0, 3)) == 0:
        pes = [{"at": "all", "classes": ["integer"]}, {"at": [(0, 0)], "classes": ["memory"]}]
    at = st.lists(
        st.sampled_from([(r, c) for r in range(rows) for c in range(columns)]), min_size=1, unique=True
    )
    shared = st.fixed_dictionaries({
        "registers": st.sampled_from([1, 1, 2]), "at": st.one_of(st.just("all"), at),
        "read_ports": st.sampled_from([None, 1]), "write_ports": st.sampled_from([None, 1]),
    })  # fmt: skip
    document = {
        "schema": "mapper.cgra/1", "name": "array", "rows": rows, "columns": columns, "links": links, "pes": pes,
        "register_file": {
            "registers": draw(st.sampled_from([0, 1, 2, 4])),
            "read_ports": draw(st.sampled_from([None, None, 1])),
        },
        "memory_ports": memory,
        "shared_register_file": draw(shared) if draw(st.integers(0, 2)) == 0 else None,
    }  # fmt: skip
    return cgra_from_document(document, "test")


@st.composite
def sharing(draw: st.DrawFn, most: int) -> CgraMachine:
    """Arrays with few links and a shared register file."""
    shapes = [(rows, columns) for rows, columns in ((1, 2), (1, 3), (2, 2)) if rows * columns <= most]
    rows, columns = draw(st.sampled_from(shapes))
    pes = [(row, column) for row in range(rows) for column in range(columns)]
    links = [[a, b] for a in pes for b in pes if a != b and draw(st.integers(0, 4)) == 0]
    some = st.lists(st.sampled_from(pes), min_size=1, unique=True)
    document = {
        "schema": "mapper.cgra/1", "name": "array", "rows": rows, "columns": columns, "links": links,
        "pes": [{"at": "all", "classes": ["any"]}],
        "register_file": {
            "registers": draw(st.sampled_from([0, 0, 1, 2])), "read_ports": draw(st.sampled_from([None, 1])),
        },
        "shared_register_file": {
            "registers": draw(st.sampled_from([1, 1, 2, 3])), "at": draw(st.one_of(st.just("all"), some)),
            "read_ports": draw(st.sampled_from([None, None, 1])),
            "write_ports": draw(st.sampled_from([None, None, 1])),
        },
        "latency_cycles": draw(st.sampled_from([{}, {"load": 2}, {"store": 3}])),
    }  # fmt: skip
    return cgra_from_document(document, "test")


@st.composite
def problems(draw: st.DrawFn, most_operations: int, most_pes: int) -> ModuloProblem:
    """A loop for the least II, or for one that is given: the bound, a little more, or seldom less."""
    graph = draw(graphs(most_operations))
    machine = draw(st.one_of(machines(most_pes), machines(most_pes), sharing(most_pes)))
    above = draw(st.sampled_from([None, None, None, None, None, 0, 0, 1, 2, -1]))
    fixed = None if above is None else max(1, mii(graph, machine).value + above)
    return ModuloProblem(Kernel("graph", graph), machine, fixed)
