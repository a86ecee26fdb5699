"""Parity at II 1: what it rules out has no schedule, and the bound says so."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.arch.cgra import CgraMachine
from mapper.arch.source import load_machine
from mapper.formulations.modulo_schedule.parity import is_odd, least_bound
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.models.modulo_schedule.bound import mii
from mapper.solver.method import Effort
from mapper.solver.modulo_schedule.exact.constraint_program import decide
from mapper.workloads.graph.dataflow_graph import DataflowGraph, Edge, Operation
from mapper.workloads.graph.kernel import Kernel


def problem(array: str, *edges: tuple[int, ...]) -> ModuloProblem:
    """Edges as source, destination, distance, and perhaps latency."""
    machine, _ = load_machine(array)
    assert isinstance(machine, CgraMachine)
    made = tuple(
        Edge(edge[0], edge[1], operand, edge[2], edge[3] if len(edge) > 3 else None)
        for operand, edge in enumerate(edges)
    )
    count = 1 + max(max(edge.source, edge.destination) for edge in made)
    operations = tuple(Operation(f"o{v}", "add") for v in range(count))
    return ModuloProblem(Kernel("graph", DataflowGraph("graph", operations, made)), machine)


TRIANGLE = ((0, 1, 0), (1, 2, 0), (2, 0, 3))


def test_a_recurrence_over_three_operations_and_iterations_has_no_interval_of_1_on_a_chess_board() -> None:
    posed = problem("mesh-5x5", *TRIANGLE)
    assert mii(posed.kernel.graph, posed.machine).value == 1
    assert least_bound(posed) == 2


@pytest.mark.parametrize("array", ["torus-3x3", "srp-3x3"])
def test_arrays_with_odd_walks_are_not_ruled_out(array: str) -> None:
    assert not is_odd(problem(array, *TRIANGLE))


def test_a_value_may_be_read_by_its_own_operation_in_the_next_cycle_only_or_after_an_even_walk() -> None:
    assert not is_odd(problem("mesh-2x2", (0, 0, 1)))
    assert not is_odd(problem("mesh-2x2", (0, 0, 2)))
    assert is_odd(problem("mesh-2x2", (0, 0, 3)))


@settings(derandomize=True, deadline=None, max_examples=60)
@given(
    st.sampled_from(["mesh-1x4", "mesh-2x2", "mesh-2x3"]),
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), st.integers(1, 2)),
        min_size=1,
        max_size=5,
    ),
)
def test_what_parity_rules_out_has_no_schedule(array: str, drawn: list[tuple[int, int, int, int]]) -> None:
    edges = [(u, w, distance if u < w else distance + 1, latency) for u, w, distance, latency in drawn]
    posed = problem(array, *edges)
    if is_odd(posed):
        assert decide(posed, 1, posed.machine.all_pes, Effort()).answer == "infeasible"
