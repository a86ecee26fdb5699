"""Minimal intervals equal those counted by hand and by looking at every cycle of a graph."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import networkx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.arch.cgra import CgraMachine, cgra_from_document
from mapper.arch.cgra_preset import cgra_preset
from mapper.models.modulo_schedule.bound import mii, rec_mii, res_mii
from mapper.workloads.document import InputError
from mapper.workloads.graph.dataflow_graph import DataflowGraph, Edge, Operation


def machine(name: str, **fields: object) -> CgraMachine:
    return cgra_from_document({**(cgra_preset(name) or {}), **fields}, name)


def graph(opcodes: str, *edges: Edge) -> DataflowGraph:
    operations = tuple(Operation(f"{opcode}{place}", opcode) for place, opcode in enumerate(opcodes.split()))
    return DataflowGraph("body", operations, edges)


def test_operations_of_any_kind_share_all_pes() -> None:
    bound = res_mii(graph("add " * 9), machine("mesh-2x2"))
    assert (bound.value, len(bound.operations)) == (3, 9)


def test_the_class_with_too_few_pes_binds_and_is_named() -> None:
    bound = res_mii(graph("load load load add add"), machine("left-memory-2x2"))
    assert bound.value == 2
    assert bound.operations == (0, 1, 2)
    assert bound.cause == "3 memory operations on 2 PEs"


def test_classes_that_together_have_too_few_pes_bind() -> None:
    pes = [
        {"at": "all", "classes": ["integer"]},
        {"at": [[0, 0]], "classes": ["memory"]},
        {"at": [[0, 0], [0, 1]], "classes": ["float"]},
    ]
    bound = res_mii(graph("load fadd fadd add"), machine("mesh-2x2", pes=pes))
    assert (bound.value, bound.operations) == (2, (0, 1, 2))


def test_classes_on_overlapping_pes_bind_where_neither_does_alone() -> None:
    pes = [
        {"at": [[0, 0], [0, 1]], "classes": ["memory"]},
        {"at": [[0, 1], [1, 0]], "classes": ["float"]},
        {"at": [[1, 1]], "classes": ["integer"]},
    ]
    bound = res_mii(graph("load load fadd fadd"), machine("mesh-2x2", pes=pes))
    assert (bound.value, bound.operations) == (2, (0, 1, 2, 3))


def test_memory_ports_bind() -> None:
    bound = res_mii(graph("load load store add"), machine("mesh-4x4", memory_ports=1))
    assert (bound.value, bound.cause) == (3, "3 memory operations on 1 memory ports")


def test_an_operation_without_a_unit_is_named() -> None:
    integer_only = machine("mesh-2x2", pes=[{"at": "all", "classes": ["integer"]}])
    with pytest.raises(InputError, match=r"fadd1: no PE of mesh-2x2 executes fadd"):
        res_mii(graph("add fadd"), integer_only)


def test_a_graph_without_cycles_has_no_recurrence() -> None:
    bound = rec_mii(graph("add add", Edge(0, 1, 0)), machine("mesh-2x2"))
    assert (bound.value, bound.cause, bound.operations) == (1, "no recurrence", ())


def test_an_accumulation_takes_the_latency_of_its_operation() -> None:
    bound = rec_mii(graph("fadd", Edge(0, 0, 1, distance=1)), machine("srp-2x2"))
    assert (bound.value, bound.operations) == (3, (0,))
    assert bound.cause == "recurrence fadd0 -> fadd0: latency 3 over distance 1"


def test_a_recurrence_through_memory_counts_its_order_edge() -> None:
    body = graph("load fadd store", Edge(0, 1, 0), Edge(1, 2, 1), Edge(2, 0, None, distance=1, latency=1))
    bound = mii(body, machine("srp-4x4"))
    assert bound.value == 16 + 3 + 1
    assert bound.operations == (0, 1, 2)


def test_the_ratio_is_rounded_up_once() -> None:
    body = graph("add add add", Edge(0, 1, 0), Edge(1, 2, 0), Edge(2, 0, 0, distance=2))
    assert rec_mii(body, machine("mesh-2x2")).value == 2


def test_of_two_recurrences_the_longer_binds() -> None:
    body = graph(
        "add mul add",
        Edge(0, 0, 0, distance=1),
        Edge(1, 2, 0, latency=4),
        Edge(2, 1, 0, distance=1, latency=3),
    )
    bound = rec_mii(body, machine("mesh-2x2"))
    assert (bound.value, set(bound.operations)) == (7, {1, 2})


def test_the_resources_are_named_where_both_bounds_are_equal() -> None:
    body = graph("add add", Edge(0, 0, 0, distance=1), Edge(1, 1, 0, distance=1, latency=2))
    assert "PEs" in mii(body, machine("mesh-1x1")).cause


def test_a_cycle_within_one_iteration_is_refused() -> None:
    body = graph("add add", Edge(0, 1, 0), Edge(1, 0, 0))
    with pytest.raises(InputError, match="within one iteration"):
        rec_mii(body, machine("mesh-2x2"))


@st.composite
def bodies(draw: st.DrawFn) -> DataflowGraph:
    """Graphs of a few operations; edges backward or to the operation itself carry a distance."""
    count = draw(st.integers(1, 7))
    ends = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    edges = []
    for source, destination in draw(st.lists(ends, max_size=12)):
        distance = draw(st.integers(0 if source < destination else 1, 3))
        edges.append(Edge(source, destination, 0, distance, draw(st.integers(1, 9))))
    return graph("add " * count, *edges)


@settings(derandomize=True, deadline=None, max_examples=300)
@given(bodies())
def test_the_bound_is_the_maximum_over_all_cycles(body: DataflowGraph) -> None:
    multigraph = networkx.MultiDiGraph()
    multigraph.add_nodes_from(range(len(body.operations)))
    for edge in body.edges:
        multigraph.add_edge(edge.source, edge.destination, weight=edge)
    ratios = []
    # Among parallel edges each combination is a cycle of its own: the best ratio needs trying them all.
    simple = networkx.DiGraph(multigraph)
    for cycle in networkx.simple_cycles(simple):
        choices: list[set[tuple[int, int]]] = [{(0, 0)}]
        for source, destination in zip(cycle, cycle[1:] + cycle[:1], strict=True):
            steps = [data["weight"] for data in multigraph[source][destination].values()]
            choices.append(
                {
                    (latency + (step.latency or 0), distance + step.distance)
                    for latency, distance in choices[-1]
                    for step in steps
                }
            )
        ratios += [Fraction(latency, distance) for latency, distance in choices[-1]]
    bound = rec_mii(body, machine("mesh-2x2"))
    assert bound.value == max((ceil(ratio) for ratio in ratios), default=1)
    assert bool(bound.operations) == bool(ratios)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(bodies())
def test_the_operations_of_a_recurrence_have_its_ratio(body: DataflowGraph) -> None:
    bound = rec_mii(body, machine("mesh-2x2"))
    if not bound.operations:
        return
    confined = tuple(edge for edge in body.edges if {edge.source, edge.destination} <= set(bound.operations))
    alone = DataflowGraph("recurrence", body.operations, confined)
    assert rec_mii(alone, machine("mesh-2x2")).value == bound.value


def test_two_thousand_operations_in_rings_are_bounded_exactly() -> None:
    count = 2000
    chain = [Edge(place, place + 1, 0) for place in range(count - 1)]
    backward = [Edge(place, max(0, place - 40), 1, distance=3) for place in range(count - 1, 0, -7)]
    bound = mii(
        graph("add " * count, *chain, *backward, Edge(count - 1, 0, 1, distance=9)), machine("mesh-8x8")
    )
    assert bound.value == ceil(Fraction(count, 9))
