"""The referee of modulo schedules accepts what the machine can run and names each rule that is broken."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mapper.arch.cgra import CgraMachine, cgra_from_document
from mapper.arch.cgra_preset import cgra_preset
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.referee.verify import verify
from mapper.formulations.verdict import Verdict
from mapper.models.modulo_schedule.cost import ScheduleCost
from mapper.models.modulo_schedule.mapping import Hop, ModuloSchedule, Pe, Placement, Route, Via
from mapper.workloads.graph.dataflow_graph import DataflowGraph, Edge, Operation
from mapper.workloads.graph.kernel import Kernel

LEFT, RIGHT, FAR = (0, 0), (0, 1), (0, 2)


def row(columns: int = 3, **fields: Any) -> CgraMachine:
    """PEs in a row, each linked to its neighbours."""
    return cgra_from_document({**(cgra_preset(f"mesh-1x{columns}") or {}), **fields}, "row")


def kernel(opcodes: str, *edges: Edge) -> Kernel:
    operations = tuple(Operation(f"{opcode}{place}", opcode) for place, opcode in enumerate(opcodes.split()))
    return Kernel("body", DataflowGraph("body", operations, edges), trip_count=10)


def hop(pe: Pe, time: int, via: Via = "output", register: int | None = None) -> Hop:
    return Hop(pe, time, via, register)


def schedule(ii: int, placed: list[tuple[Pe, int]], *routes: list[Hop]) -> ModuloSchedule:
    """One route per edge, in the order of the edges."""
    return ModuloSchedule(
        ii,
        tuple(Placement(pe, time) for pe, time in placed),
        tuple(Route(edge, tuple(hops)) for edge, hops in enumerate(routes)),
    )


def verdict_of(
    body: Kernel, machine: CgraMachine, mapping: ModuloSchedule, ii: int | None = None
) -> Verdict[ScheduleCost]:
    return verify(ModuloProblem(body, machine, ii), mapping)


def broken(verdict: Verdict[ScheduleCost]) -> dict[str, float]:
    """The rules that are broken, with the largest size of each."""
    return {rule.rule: max(o.size for o in verdict.broken if o.rule == rule.rule) for rule in verdict.broken}


CHAIN = kernel("add add", Edge(0, 1, 0))
DIRECT = schedule(2, [(LEFT, 0), (RIGHT, 1)], [hop(LEFT, 1)])
MOVED = schedule(2, [(LEFT, 0), (FAR, 2)], [hop(LEFT, 1), hop(RIGHT, 2, "move")])
KEPT = schedule(3, [(LEFT, 0), (LEFT, 2)], [hop(LEFT, 1, "register", 4)])


@pytest.mark.parametrize("mapping", [DIRECT, MOVED, KEPT], ids=["direct", "moved", "kept"])
def test_what_the_machine_can_run_is_accepted_and_costed(mapping: ModuloSchedule) -> None:
    verdict = verdict_of(CHAIN, row(), mapping)
    assert verdict.valid
    assert verdict.cost is not None
    assert verdict.cost.cycles == 10 * mapping.ii + (mapping.stages - 1) * mapping.ii


def test_a_value_stays_in_the_output_register_until_the_pe_writes_again() -> None:
    body = kernel("add add add", Edge(0, 1, 0))
    waiting = schedule(4, [(LEFT, 0), (RIGHT, 3), (LEFT, 3)], [hop(LEFT, 1)])
    assert verdict_of(body, row(), waiting).valid
    overwritten = schedule(4, [(LEFT, 0), (RIGHT, 3), (LEFT, 1)], [hop(LEFT, 1)])
    assert broken(verdict_of(body, row(), overwritten)) == {"value held when read": 2}


def test_a_value_is_overwritten_by_that_of_the_next_iteration() -> None:
    last = schedule(2, [(LEFT, 0), (RIGHT, 2)], [hop(LEFT, 1)])
    assert verdict_of(CHAIN, row(), last).valid
    late = schedule(2, [(LEFT, 0), (RIGHT, 3)], [hop(LEFT, 1)])
    assert broken(verdict_of(CHAIN, row(), late)) == {"value held when read": 1}


def test_a_register_holds_a_value_for_ii_cycles() -> None:
    body = kernel("add add add", Edge(0, 1, 0))
    placed = [(LEFT, 0), (LEFT, 8), (LEFT, 2)]
    late = schedule(5, placed, [hop(LEFT, 1, "register", 0)])
    assert broken(verdict_of(body, row(), late)) == {"value held when read": 3}
    handed_on = schedule(5, placed, [hop(LEFT, 1, "register", 0), hop(LEFT, 5, "move", 1)])
    assert verdict_of(body, row(), handed_on).valid


def test_a_recurrence_reads_its_own_output_an_iteration_later() -> None:
    body = kernel("add", Edge(0, 0, 1, distance=1, initial=(0,)))
    assert verdict_of(body, row(), schedule(1, [(LEFT, 0)], [hop(LEFT, 1)])).valid
    slow = kernel("add", Edge(0, 0, 1, distance=1, latency=2, initial=(0,)))
    verdict = verdict_of(slow, row(), schedule(1, [(LEFT, 0)], [hop(LEFT, 2)]))
    assert broken(verdict)["latency of an edge"] == 1


def test_an_edge_may_be_slower_than_the_result() -> None:
    body = kernel("add add add", Edge(0, 1, 0), Edge(0, 2, 0, latency=3))
    hops = [hop(LEFT, 1)]
    assert verdict_of(body, row(), schedule(4, [(LEFT, 0), (RIGHT, 1), (RIGHT, 3)], hops, hops)).valid
    verdict = verdict_of(body, row(), schedule(4, [(LEFT, 0), (RIGHT, 1), (RIGHT, 2)], hops, hops))
    assert broken(verdict) == {"latency of an edge": 1}


def test_edges_of_one_source_share_a_move() -> None:
    body = kernel("add add add", Edge(0, 1, 0), Edge(0, 2, 0))
    hops = [hop(LEFT, 1), hop(RIGHT, 2, "move")]
    placed = [(LEFT, 0), (FAR, 2), (FAR, 3)]
    assert verdict_of(body, row(), schedule(3, placed, hops, hops)).valid
    apart = [hop(LEFT, 1), hop(RIGHT, 3, "move")]
    assert verdict_of(body, row(), schedule(3, placed, hops, apart)).valid
    assert verdict_of(body, row(), schedule(2, placed, hops, hops)).valid
    clashing = schedule(2, [(LEFT, 0), (FAR, 2), (RIGHT, 1)], hops, [hop(LEFT, 1)])
    assert "one issue per PE and cycle" in broken(verdict_of(body, row(), clashing))


def test_an_order_edge_needs_time_and_no_hops() -> None:
    body = kernel("store load", Edge(0, 1, None))
    assert verdict_of(body, row(), schedule(2, [(LEFT, 0), (FAR, 1)], [])).valid
    early = schedule(2, [(LEFT, 0), (FAR, 0)], [])
    assert broken(verdict_of(body, row(), early)) == {"latency of an edge": 1}
    carried = schedule(2, [(LEFT, 0), (FAR, 1)], [hop(LEFT, 1)])
    assert broken(verdict_of(body, row(), carried)) == {"route goes on by moves": 1}


def test_a_pe_without_the_unit_is_named() -> None:
    verdict = verdict_of(kernel("load"), row(pes=[{"at": "all", "classes": ["integer"]},
                                              {"at": [[0, 1]], "classes": ["memory"]}]),
                     schedule(1, [(LEFT, 0)]))  # fmt: skip
    assert broken(verdict) == {"PE has the unit": 1}
    assert verdict.broken[0].place == "load0 on PE [0, 0]"


def test_two_issues_in_one_slot_are_named() -> None:
    verdict = verdict_of(
        kernel("add add"), row(latency_cycles={"add": 1}), schedule(2, [(LEFT, 0), (LEFT, 2)])
    )
    assert broken(verdict)["one issue per PE and cycle"] == 1


def test_results_of_unequal_latency_must_not_meet() -> None:
    body, machine = kernel("mul add"), row(latency_cycles={"mul": 2})
    met = schedule(3, [(LEFT, 0), (LEFT, 1)])
    assert broken(verdict_of(body, machine, met)) == {"one result per PE and cycle": 1}
    assert verdict_of(body, machine, schedule(3, [(LEFT, 0), (LEFT, 2)])).valid


def test_a_pe_reads_only_where_it_has_a_link() -> None:
    verdict = verdict_of(CHAIN, row(), schedule(2, [(LEFT, 0), (FAR, 1)], [hop(LEFT, 1)]))
    assert broken(verdict) == {"link to the reader": 1}


def test_a_route_begins_at_its_producer_when_the_result_is_ready() -> None:
    for first in (hop(RIGHT, 1), hop(LEFT, 2), hop(LEFT, 1, "move")):
        verdict = verdict_of(CHAIN, row(), schedule(2, [(LEFT, 0), (RIGHT, 1)], [first]))
        assert "route begins at its producer" in broken(verdict)
    assert broken(verdict_of(CHAIN, row(), schedule(2, [(LEFT, 0), (RIGHT, 1)], []))) == {
        "route begins at its producer": 1
    }


def test_a_route_goes_on_by_moves_only() -> None:
    hops = [hop(LEFT, 1), hop(RIGHT, 2, "output")]
    verdict = verdict_of(CHAIN, row(), schedule(2, [(LEFT, 0), (FAR, 2)], hops))
    assert broken(verdict) == {"route goes on by moves": 1}


def test_every_edge_has_one_route() -> None:
    assert broken(verdict_of(CHAIN, row(), replace(DIRECT, routes=()))) == {"one route per edge": -1}
    assert broken(verdict_of(CHAIN, row(), replace(DIRECT, routes=DIRECT.routes * 2))) == {
        "one route per edge": 1
    }
    other = (*DIRECT.routes, Route(7, ()))
    assert broken(verdict_of(CHAIN, row(), replace(DIRECT, routes=other))) == {"one route per edge": 1}


def test_a_register_must_exist_and_stand_where_it_is_said() -> None:
    over = schedule(3, [(LEFT, 0), (LEFT, 2)], [hop(LEFT, 1, "register", 16)])
    assert broken(verdict_of(CHAIN, row(), over)) == {"register exists": 1}
    unsaid = schedule(3, [(LEFT, 0), (LEFT, 1)], [hop(LEFT, 1, "register")])
    assert broken(verdict_of(CHAIN, row(), unsaid)) == {"register exists": 1}


PAIRS = kernel("add add add add", Edge(0, 2, 0), Edge(1, 3, 0))


def pairs(first: int, second: int) -> ModuloSchedule:
    """Two values on one PE, each read two cycles after the other one was written."""
    return schedule(
        4,
        [(LEFT, 0), (LEFT, 1), (LEFT, 2), (LEFT, 3)],
        [hop(LEFT, 1, "register", first)],
        [hop(LEFT, 2, "register", second)],
    )


def test_two_values_cannot_share_a_register_while_both_are_needed() -> None:
    assert verdict_of(PAIRS, row(), pairs(0, 1)).valid
    assert broken(verdict_of(PAIRS, row(), pairs(0, 0))) == {"one value per register": 1}


def test_a_register_is_free_after_the_last_read() -> None:
    body = kernel("add add add add", Edge(0, 2, 0), Edge(1, 3, 0))
    turns = schedule(
        6,
        [(LEFT, 0), (LEFT, 3), (LEFT, 2), (LEFT, 5)],
        [hop(LEFT, 1, "register", 0)],
        [hop(LEFT, 4, "register", 0)],
    )
    assert verdict_of(body, row(), turns).valid


def test_a_result_goes_to_one_register() -> None:
    body = kernel("add add add", Edge(0, 1, 0), Edge(0, 2, 0))
    twice = schedule(
        4,
        [(LEFT, 0), (LEFT, 1), (LEFT, 2)],
        [hop(LEFT, 1, "register", 0)],
        [hop(LEFT, 1, "register", 1)],
    )
    assert broken(verdict_of(body, row(), twice)) == {"one register per result": 1}


def test_registers_read_in_one_cycle_need_a_port_each() -> None:
    body = kernel("add add add add", Edge(0, 3, 0), Edge(1, 3, 1))
    both = schedule(
        5,
        [(LEFT, 0), (LEFT, 1), (LEFT, 2), (LEFT, 3)],
        [hop(LEFT, 1, "register", 0)],
        [hop(LEFT, 2, "register", 1)],
    )
    ports = {"registers": 4, "read_ports": 2, "write_ports": 1}
    assert verdict_of(body, row(register_file=ports), both).valid
    assert broken(verdict_of(body, row(register_file={**ports, "read_ports": 1}), both)) == {
        "register read ports": 1
    }


def test_registers_written_in_one_cycle_need_a_port_each() -> None:
    body = kernel("add add mul mul", Edge(0, 1, 0), Edge(2, 3, 0))
    machine = row(latency_cycles={"mul": 2}, register_file={"registers": 4, "write_ports": 1})
    met = schedule(
        4,
        [(LEFT, 1), (LEFT, 2), (LEFT, 0), (LEFT, 3)],
        [hop(LEFT, 2, "register", 0)],
        [hop(LEFT, 2, "register", 1)],
    )
    assert broken(verdict_of(body, machine, met))["register write ports"] == 1


def test_loads_and_stores_share_the_memory_ports() -> None:
    body = kernel("load store")
    assert broken(verdict_of(body, row(memory_ports=1), schedule(2, [(LEFT, 0), (RIGHT, 2)]))) == {
        "memory ports": 1
    }
    assert verdict_of(body, row(memory_ports=1), schedule(2, [(LEFT, 0), (RIGHT, 1)])).valid


def test_the_first_issue_is_in_stage_0() -> None:
    later = schedule(2, [(LEFT, 2), (RIGHT, 3)], [hop(LEFT, 3)])
    assert broken(verdict_of(CHAIN, row(), later)) == {"first issue in stage 0": 1}
    before = schedule(2, [(LEFT, -1), (RIGHT, 0)], [hop(LEFT, 0)])
    assert broken(verdict_of(CHAIN, row(), before)) == {"first issue in stage 0": 1}


def test_a_pinned_interval_is_kept() -> None:
    assert verdict_of(CHAIN, row(), DIRECT, ii=2).valid
    assert broken(verdict_of(CHAIN, row(), DIRECT, ii=1)) == {"initiation interval": 1}


def test_pes_outside_the_array_are_named_and_the_schedule_is_costed() -> None:
    outside = schedule(2, [(LEFT, 0), ((0, 5), 1)], [hop((-1, 0), 1)])
    verdict = verdict_of(CHAIN, row(), outside)
    assert [(rule.place, rule.size) for rule in verdict.broken] == [("add1", 3), ("edge 0", 1)]
    assert verdict.cost is not None


def test_without_placements_or_interval_there_is_no_cost() -> None:
    for mapping in (replace(DIRECT, placements=DIRECT.placements[:1]), replace(DIRECT, ii=0)):
        verdict = verdict_of(CHAIN, row(), mapping)
        assert not verdict.valid
        assert verdict.cost is None
