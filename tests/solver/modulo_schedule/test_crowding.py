"""Small IIs without a search: what crowding at II 1, or issue times alone, rule out has no schedule."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.arch.cgra import CgraMachine, SharedRegisterFile
from mapper.arch.source import load_machine
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.models.modulo_schedule.bound import mii
from mapper.solver.method import Effort
from mapper.solver.modulo_schedule.catalogue import AUTOMATIC
from mapper.solver.modulo_schedule.exact.constraint_program import decide
from mapper.solver.modulo_schedule.exact.crowding import is_crowded
from mapper.solver.modulo_schedule.exact.issue_time import bound_by_times, has_no_times
from mapper.workloads.graph.dataflow_graph import DataflowGraph, Edge, Operation
from mapper.workloads.graph.kernel import Kernel


def problem(array: str, *edges: tuple[int, int]) -> ModuloProblem:
    """Edges as source and destination, all within an iteration."""
    machine, _ = load_machine(array)
    assert isinstance(machine, CgraMachine)
    made = tuple(Edge(source, to, operand, 0) for operand, (source, to) in enumerate(edges))
    operations = tuple(Operation(f"o{v}", "add") for v in range(1 + max(map(max, edges))))
    return ModuloProblem(Kernel("graph", DataflowGraph("graph", operations, made)), machine)


STAR = tuple((0, reader) for reader in range(1, 5))


def test_a_value_with_more_readers_than_a_pe_has_links_is_ruled_out_where_no_pe_is_left_for_moves() -> None:
    posed = problem("mesh-1x5", *STAR)
    assert mii(posed.kernel.graph, posed.machine).value == 1
    assert is_crowded(posed, Effort())
    found = AUTOMATIC.search(posed, Effort())
    assert found.value == 2 and found.proven


@pytest.mark.parametrize("array", ["mesh-3x3", "mesh-2x4"])
def test_readers_that_have_room_or_moves_are_not_ruled_out(array: str) -> None:
    assert not is_crowded(problem(array, *STAR), Effort())


def test_a_register_file_that_is_shared_needs_no_links() -> None:
    posed = problem("mesh-1x5", *STAR)
    file = SharedRegisterFile.model_validate({"at": "all", "registers": 1})
    shared = posed.machine.model_copy(update={"shared_register_file": file})
    assert not is_crowded(replace(posed, machine=shared), Effort())


@settings(derandomize=True, deadline=None, max_examples=40)
@given(
    st.sampled_from(["mesh-1x4", "mesh-2x2", "mesh-2x3", "torus-2x3"]),
    st.lists(st.tuples(st.integers(0, 1), st.integers(1, 4)), min_size=2, max_size=7),
)
def test_what_is_ruled_out_has_no_schedule(array: str, pairs: list[tuple[int, int]]) -> None:
    edges = [(low, high) for low, high in pairs if low < high]
    if not edges:
        return
    posed = problem(array, *edges)
    if mii(posed.kernel.graph, posed.machine).value == 1 and is_crowded(posed, Effort()):
        assert decide(posed, 1, posed.machine.all_pes, Effort()).answer == "infeasible"


def late(waits: int) -> ModuloProblem:
    """A value that an operation reads together with what becomes of it ``waits`` operations later, on six PEs."""
    chain = [(v, v + 1) for v in range(waits)]
    machine = problem("mesh-2x3", (0, 1)).machine
    edges = tuple(Edge(source, to, 0, 0) for source, to in chain)
    graph = DataflowGraph(
        "late", tuple(Operation(f"o{v}", "add") for v in range(waits + 1)), (*edges, Edge(0, waits, 1, 0))
    )
    return ModuloProblem(Kernel("late", graph), machine)


def test_a_value_that_waits_longer_than_the_moves_that_are_left_allow_rules_an_interval_out() -> None:
    posed = late(4)  # five operations leave one slot for a move, and the value waits three cycles
    assert mii(posed.kernel.graph, posed.machine).value == 1
    assert has_no_times(posed, 1, Effort()) and not has_no_times(posed, 2, Effort())
    assert bound_by_times(posed, 1, 3, Effort()) == 2
    found = AUTOMATIC.search(posed, Effort())
    assert found.value == 2 and found.proven and found.method == "iterative + cp-sat"


def test_a_value_that_moves_carry_over_its_wait_is_not_ruled_out() -> None:
    assert not has_no_times(late(2), 1, Effort())


@settings(derandomize=True, deadline=None, max_examples=40)
@given(
    st.sampled_from(["mesh-2x2", "mesh-2x3", "torus-2x3"]),
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 4)), min_size=3, max_size=7),
    st.integers(1, 2),
)
def test_what_issue_times_rule_out_has_no_schedule(array: str, pairs: list[tuple[int, int]], ii: int) -> None:
    edges = [(low, high) for low, high in pairs if low < high]
    if not edges:
        return
    posed = problem(array, *edges)
    if has_no_times(posed, ii, Effort()):
        assert decide(posed, ii, posed.machine.all_pes, Effort()).answer == "infeasible"


def test_without_machine_code_a_solver_goes_first_against_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    posed = problem("mesh-2x2", *STAR)
    monkeypatch.setattr("mapper.solver.modulo_schedule.catalogue.on_disk", lambda prepare: False)
    found = AUTOMATIC.search(posed, Effort(deadline=time.monotonic() + 20))
    assert found.proven and found.method == "cp-sat"
