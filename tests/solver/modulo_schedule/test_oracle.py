"""The exact methods of modulo scheduling against a plain search that shares nothing with them."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mapper.arch.cgra import CgraMachine
from mapper.formulations.modulo_schedule.infeasible import why_infeasible
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.referee.verify import verify
from mapper.models.modulo_schedule.bound import mii
from mapper.solver.method import Effort
from mapper.solver.modulo_schedule.exact.constraint_program import CONSTRAINT_PROGRAM
from mapper.solver.modulo_schedule.exact.decoupled import DECOUPLED
from mapper.workloads.graph.dataflow_graph import DataflowGraph
from mapper.workloads.graph.kernel import Kernel
from tests.solver.modulo_schedule.oracle import Oracle
from tests.solver.modulo_schedule.random_kernel import graphs, machines, sharing

MOST_TRIES = 100_000
"""Placements with their moves after which trying everything is given up."""


def check(graph: DataflowGraph, machine: CgraMachine, above: int, most_free: int) -> None:
    """All say the same of an interval so far above the bound, and what is found is valid."""
    ii = mii(graph, machine).value + above
    oracle = Oracle(graph, machine, ii)
    assume(oracle.free <= most_free)
    expected = oracle.feasible(MOST_TRIES)
    assume(expected is not None)
    posed = ModuloProblem(Kernel("graph", graph), machine, ii)
    assert not expected or why_infeasible(posed) is None
    for method in (CONSTRAINT_PROGRAM, DECOUPLED):
        outcome = method.search(posed, Effort())
        assert outcome.proven, method.name
        assert (outcome.mapping is not None) == expected, method.name
        assert outcome.mapping is None or verify(posed, outcome.mapping).broken == ()


@settings(derandomize=True, deadline=None, max_examples=10)
@given(graphs(3), machines(2), st.integers(0, 2))
def test_a_plain_search_agrees_on_what_has_a_schedule(
    graph: DataflowGraph, machine: CgraMachine, above: int
) -> None:
    check(graph, machine, above, 2)


@settings(derandomize=True, deadline=None, max_examples=7)
@given(graphs(3), sharing(2), st.integers(0, 2))
def test_a_plain_search_agrees_where_pes_share_registers(
    graph: DataflowGraph, machine: CgraMachine, above: int
) -> None:
    check(graph, machine, above, 2)


@pytest.mark.slow
@settings(derandomize=True, deadline=None, max_examples=400)
@given(graphs(4), sharing(3), st.integers(0, 2))
def test_a_plain_search_agrees_on_many_arrays_whose_pes_share_registers(
    graph: DataflowGraph, machine: CgraMachine, above: int
) -> None:
    check(graph, machine, above, 3)


@pytest.mark.slow
@settings(derandomize=True, deadline=None, max_examples=600)
@given(graphs(4), machines(3), st.integers(0, 2))
def test_a_plain_search_agrees_on_many_graphs(graph: DataflowGraph, machine: CgraMachine, above: int) -> None:
    check(graph, machine, above, 3)


@pytest.mark.slow
@settings(derandomize=True, deadline=None, max_examples=300)
@given(graphs(6), machines(4), st.integers(0, 1))
def test_a_plain_search_agrees_where_few_slots_are_left(
    graph: DataflowGraph, machine: CgraMachine, above: int
) -> None:
    check(graph, machine, above, 1)
