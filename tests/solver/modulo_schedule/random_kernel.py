"""Small random loop bodies and arrays for modulo schedules: all that the formats allow, mostly where it is tight.

Latencies of 0 and 40, distances up to as many iterations, recurrences of one operation, parallel edges, values that
nobody reads, parts that nothing joins; arrays of one PE, with one link or none, with PEs that lack units, without
registers. Recurrences and few places put the least II above both bounds by argument, where heuristics are wrong first.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from mapper.arch.cgra import CgraMachine, cgra_from_document
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.models.modulo_schedule.bound import mii
from mapper.workloads.graph.dataflow_graph import DataflowGraph, Edge, Operation
from mapper.workloads.graph.kernel import Kernel

OPCODES = ("add", "add", "load", "store")
LATENCIES: tuple[tuple[int | None, ...], ...] = (
    (None,), (None, None, None, 2), (0,), (0, None), (0, 0, 1, 2), (40,), (0, 40), (None, 0, 2, 3, 40),
)  # fmt: skip
"""Latencies of the edges of one graph."""
SHORT: tuple[tuple[int | None, ...], ...] = (
    (0,),
    (0, None),
    (0, 0, 1, 2),
    (None,),
    (None, 0, None, 0, None, 0, 40),
)
"""The same where many of 40 would take long."""
AHEAD, BESIDE, BACK = (0, 0, 0, 1, 2, 40), (0, 0, 1, 2), (1, 1, 2, 3)
"""Distances of edges that join a new operation, which can issue as many iterations earlier; of further ones, for which
values must wait; and of those that may close a recurrence."""
SHAPES = ((1, 1), (1, 2), (2, 1), (1, 3), (2, 2))
Document = dict[str, Any]


@st.composite
def graphs(
    draw: st.DrawFn, most: int, least: int = 1, latencies: tuple[int | None, ...] | None = None
) -> DataflowGraph:
    """Graphs of one or more operations: mostly joined by values, sometimes chains, or in parts."""
    count = draw(st.integers(least, most))
    form = draw(st.sampled_from(["tree", "tree", "tree", "chain", "parts"]))
    ends = []
    for w in range(1, count):
        if form == "parts" and draw(st.booleans()):
            continue
        ends.append((w - 1 if form == "chain" else draw(st.integers(0, w - 1)), w))
    joins = len(ends)
    ends += draw(st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=2))
    if ends and draw(st.integers(0, 4)) == 0:
        ends.append(draw(st.sampled_from(ends)))
    latencies = latencies or draw(st.sampled_from(LATENCIES))
    edges = []
    for operand, (u, w) in enumerate(ends):
        latency = draw(st.sampled_from(latencies))
        # A recurrence of latency 40 has a small II only over about as many iterations.
        back = (1, 20, 39, 40, 41) if latency == 40 else BACK
        distance = draw(st.sampled_from(back if u >= w else AHEAD if operand < joins else BESIDE))
        orders = operand >= joins and draw(st.integers(0, 3)) == 0
        edges.append(Edge(u, w, None if orders else operand, distance, latency))
    operations = tuple(Operation(f"o{v}", draw(st.sampled_from(OPCODES))) for v in range(count))
    return DataflowGraph("graph", operations, tuple(edges))


def array(rows: int, columns: int, links: list[Any], registers: int, **fields: Any) -> CgraMachine:
    file = {"registers": registers, "read_ports": fields.pop("read_ports", None)}
    pes = fields.pop("pes", [{"at": "all", "classes": ["any"]}])
    document = {
        "schema": "mapper.cgra/1", "name": "array", "rows": rows, "columns": columns, "links": links, "pes": pes,
        "register_file": file, **fields,
    }  # fmt: skip
    return cgra_from_document(document, "test")


def _pes(rows: int, columns: int) -> list[tuple[int, int]]:
    return [(row, column) for row in range(rows) for column in range(columns)]


@st.composite
def links_of(draw: st.DrawFn, rows: int, columns: int) -> list[Any]:
    """A grid's links, those of buses, a chain one way, one link, or none."""
    pes = _pes(rows, columns)
    form = draw(st.sampled_from(["mesh", "mesh", "torus", "diagonal", "row_bus", "chain", "one", "none"]))
    if form == "none" or len(pes) == 1:
        return []
    if form == "chain":
        return [[one, other] for one, other in pairwise(pes)]
    if form == "one":
        return [draw(st.permutations(pes))[:2]]
    return [form]


@st.composite
def abilities(draw: st.DrawFn, rows: int, columns: int) -> list[Document]:
    """What PEs can do: mostly all of it; else memory on one PE, or units drawn for every PE but for one."""
    form = draw(st.sampled_from(["any", "any", "any", "one memory", "drawn"]))
    if form == "any":
        return [{"at": "all", "classes": ["any"]}]
    whole, *others = draw(st.permutations(_pes(rows, columns)))
    if form == "one memory":
        return [{"at": "all", "classes": ["integer"]}, {"at": [whole], "classes": ["memory"]}]
    units = st.sampled_from([[], ["integer"], ["memory"], ["integer", "memory"], ["float"]])
    return [{"at": [whole], "classes": ["any"]}, *({"at": [pe], "classes": draw(units)} for pe in others)]


@st.composite
def machines(draw: st.DrawFn, most: int) -> CgraMachine:
    rows, columns = draw(st.sampled_from([shape for shape in SHAPES if shape[0] * shape[1] <= most]))
    at = st.one_of(st.just("all"), st.lists(st.sampled_from(_pes(rows, columns)), min_size=1, unique=True))
    shared = st.fixed_dictionaries({
        "registers": st.sampled_from([1, 1, 2]), "at": at,
        "read_ports": st.sampled_from([None, 1]), "write_ports": st.sampled_from([None, 1]),
    })  # fmt: skip
    return array(
        rows,
        columns,
        draw(links_of(rows, columns)),
        draw(st.sampled_from([0, 0, 1, 2, 4])),
        pes=draw(abilities(rows, columns)),
        read_ports=draw(st.sampled_from([None, None, 1])),
        memory_ports=draw(st.sampled_from([None, None, 1])),
        shared_register_file=draw(shared) if draw(st.integers(0, 2)) == 0 else None,
        latency_cycles=draw(st.sampled_from([{}, {}, {}, {"load": 2}, {"add": 40}])),
    )


@st.composite
def sharing(draw: st.DrawFn, most: int) -> CgraMachine:
    """Arrays with few links and a shared register file."""
    shapes = [(rows, columns) for rows, columns in ((1, 2), (1, 3), (2, 2)) if rows * columns <= most]
    rows, columns = draw(st.sampled_from(shapes))
    pes = _pes(rows, columns)
    links = [[a, b] for a in pes for b in pes if a != b and draw(st.integers(0, 4)) == 0]
    some = st.lists(st.sampled_from(pes), min_size=1, unique=True)
    return array(
        rows,
        columns,
        links,
        draw(st.sampled_from([0, 0, 1, 2])),
        read_ports=draw(st.sampled_from([None, 1])),
        shared_register_file={
            "registers": draw(st.sampled_from([1, 1, 2, 3])), "at": draw(st.one_of(st.just("all"), some)),
            "read_ports": draw(st.sampled_from([None, None, 1])),
            "write_ports": draw(st.sampled_from([None, None, 1])),
        },
        latency_cycles=draw(st.sampled_from([{}, {"load": 2}, {"store": 3}])),
    )  # fmt: skip


@st.composite
def problems(draw: st.DrawFn, most_operations: int, most_pes: int) -> ModuloProblem:
    """A loop for the least II, or for one that is given: the bound, a little more, or seldom less."""
    graph = draw(graphs(most_operations))
    machine = draw(st.one_of(machines(most_pes), machines(most_pes), sharing(most_pes)))
    above = draw(st.sampled_from([None, None, None, None, None, 0, 0, 1, 2, -1]))
    fixed = None if above is None else max(1, mii(graph, machine).value + above)
    return ModuloProblem(Kernel("graph", graph), machine, fixed)


@st.composite
def lacking(draw: st.DrawFn) -> ModuloProblem:
    """A loop with an operation for which no PE has the unit, on a PE of which another one fits or not."""
    graph = draw(graphs(4))
    opcodes = {operation.opcode for operation in graph.operations}
    lost = draw(
        st.sampled_from(sorted({"memory" if code in ("load", "store") else "integer" for code in opcodes}))
    )
    rows, columns = draw(st.sampled_from(SHAPES))
    classes = [one for one in ("integer", "memory", "float") if one != lost]
    machine = array(rows, columns, ["mesh"], draw(st.integers(0, 2)), pes=[{"at": "all", "classes": classes}])
    return ModuloProblem(Kernel("graph", graph), machine)


@st.composite
def wide(draw: st.DrawFn) -> ModuloProblem:
    """Loops of up to twelve operations on arrays of up to nine PEs, too large for trying everything, at an II that is
    given: without one heuristics that find nothing would look at many."""
    graph = draw(graphs(12, 4, draw(st.sampled_from(SHORT))))
    rows, columns = draw(st.sampled_from([(1, 1), (1, 1), (1, 2), (1, 4), (2, 2), (2, 3), (3, 3)]))
    links = draw(st.sampled_from(["mesh", "mesh", "torus", "row_bus"]))
    pes = draw(abilities(rows, columns))
    registers = draw(st.sampled_from([1, 2, 4, 64] if rows == 1 else [0, 1, 2, 4, 64]))
    machine = array(rows, columns, [links], registers, pes=pes, memory_ports=draw(st.sampled_from([None, 2])))
    return ModuloProblem(
        Kernel("graph", graph), machine, mii(graph, machine).value + draw(st.sampled_from([0, 0, 1, 2]))
    )
