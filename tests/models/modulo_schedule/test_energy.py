"""Energy of a mapping: its actions counted, each at the machine's price, and static power times the time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mapper.arch.cgra import CgraMachine, cgra_from_document
from mapper.arch.cgra_preset import cgra_preset, srp_names
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.referee.verify import verify
from mapper.models.modulo_schedule.activity import Activity
from mapper.models.modulo_schedule.cost import evaluate
from mapper.models.modulo_schedule.energy import energy_by_cause_pj, energy_pj
from mapper.models.modulo_schedule.mapping import Placement
from mapper.models.modulo_schedule.network.cost import load_activity, moved_activity
from mapper.workloads.document import InputError
from tests.sim.modulo_schedule.example import accumulate

PRICES: dict[str, Any] = {
    "source": "this test",
    "operation_pj": {"integer": 1, "memory": 2, "store": 3, "move": 0.5},
    "routed_word_pj": 10,
    "register_access_pj": 100,
    "memory_access_pj": 1000,
    "configuration_word_pj": 10_000,
    "vliw_cycle_pj": 7,
    "static_w": 0.25,
}


def srp(name: str = "srp-4x4") -> CgraMachine:
    return cgra_from_document(cgra_preset(name) or {}, name)


def test_a_loops_actions_are_counted_word_by_word() -> None:
    """Five iterations of II 3 in two stages: i adds to register 0 (a given -1 first), and is moved into register 2 for
    the store; the load and the store each read the other PE; the sum adds to register 1 (a given 7 first)."""
    cost = evaluate(*accumulate(energy=PRICES, clock_mhz=100))
    assert cost.activity == Activity(
        cycles=18,
        operations=(("add", 10), ("load", 5), ("move", 5), ("store", 5)),
        routed_words=5 + 5,
        register_accesses=(4 + 5) + (5 + 5) + 5 + (4 + 5),
        memory_accesses=10,
        configuration_words=18 * 2,
    )
    split = cost.breakdown_json()["energy_pj"]
    assert split == {
        "operations": 10 * 1 + 5 * 2 + 5 * 0.5 + 5 * 3, "routes": 100, "registers": 3300, "memory": 10_000,
        "configuration": 360_000, "vliw": 0, "static": pytest.approx(0.25 * 18 / 100e6 * 1e12),
    }  # fmt: skip
    assert cost.cost_json()["energy_pj"] == sum(split.values())


def test_the_referee_recomputes_the_energy() -> None:
    kernel, machine, schedule = accumulate(energy=PRICES, clock_mhz=100)
    verdict = verify(ModuloProblem(kernel, machine), schedule)
    assert not verdict.broken and verdict.cost == evaluate(kernel, machine, schedule)


def test_an_array_of_the_paper_that_is_busy_in_every_cycle_takes_the_papers_power() -> None:
    """Half of the PEs load and store, by an index of their own; the others multiply or add what two neighbours show and
    write a register; all read a configuration word."""
    machine = srp()
    busy = Activity(
        cycles=500_000,
        operations=(("fadd", 2_000_000), ("fmul", 2_000_000), ("load", 2_000_000), ("store", 2_000_000)),
        routed_words=16 * 500_000,
        register_accesses=16 * 500_000,
        memory_accesses=8 * 500_000,
        configuration_words=16 * 500_000,
    )
    # Half a million cycles at 500 MHz are a millisecond.
    assert sum(energy_by_cause_pj(machine, busy).values()) == pytest.approx(0.15e9, rel=1e-3)


def test_an_idle_array_takes_its_static_power_and_its_configuration() -> None:
    machine = srp("srp-2x2")
    idle = Activity(cycles=500_000, configuration_words=4 * 500_000)
    split = energy_by_cause_pj(machine, idle)
    assert {cause for cause, energy in split.items() if energy} == {"static", "configuration"}
    assert split["static"] == pytest.approx(0.015e9)


def test_a_machine_without_energies_takes_its_power_and_one_without_either_nothing() -> None:
    kernel, machine, schedule = accumulate(power_w=0.5, clock_mhz=100)
    cost = evaluate(kernel, machine, schedule)
    assert cost.cost_json()["energy_pj"] == pytest.approx(0.5 * 18 / 100e6 * 1e12)
    assert cost.breakdown_json()["energy_pj"] == {}
    bare = evaluate(*accumulate(clock_mhz=100))
    assert bare.cost_json()["energy_pj"] is bare.breakdown_json()["power_times_time_pj"] is None
    unclocked = evaluate(*accumulate(energy=PRICES))
    assert unclocked.cost_json()["energy_pj"] is None
    uncounted = evaluate(replace(kernel, trip_count=None), machine, schedule)
    assert uncounted.cost_json()["energy_pj"] is None


def test_a_schedule_whose_operands_have_no_way_has_cycles_and_no_energy() -> None:
    kernel, machine, schedule = accumulate(energy=PRICES, clock_mhz=100)
    lost = replace(schedule, routes=schedule.routes[1:])
    far = replace(schedule, placements=(Placement((9, 9), 0), *schedule.placements[1:]))
    fewer = replace(schedule, placements=schedule.placements[1:])
    assert evaluate(kernel, machine, fewer).cost_json()["energy_pj"] is None
    for broken in (lost, far):
        cost = evaluate(kernel, machine, broken).cost_json()
        assert cost["cycles"] == 18 and cost["energy_pj"] is None
        assert verify(ModuloProblem(kernel, machine), broken).broken


def test_loading_a_kernel_and_copying_words_are_accesses_and_no_operation() -> None:
    machine = srp()
    assert load_activity(machine, 3) == Activity(48, memory_accesses=48, configuration_words=48)
    assert moved_activity(10, 40) == Activity(40, memory_accesses=20, vliw_cycles=40)
    moved = energy_pj(machine, moved_activity(10, 40), 40)
    assert moved == pytest.approx(20 * 13.966 + 40 * 9.361 + 0.015 * 40 / 500e6 * 1e12)


@pytest.mark.parametrize("name", srp_names())
def test_every_array_of_the_paper_has_the_same_prices(name: str) -> None:
    assert srp(name).energy == srp().energy is not None


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"static_w": -1}, "energy.static_w"),
        ({"operation_pj": {"fadd": "much"}}, "energy.operation_pj.fadd"),
        ({"source": ""}, "energy.source"),
        ({"heat": 1}, "energy.heat"),
    ],
)
def test_a_wrong_price_is_named(change: dict[str, Any], named: str) -> None:
    fields = cgra_preset("srp-4x4") or {}
    with pytest.raises(InputError, match=named):
        cgra_from_document(fields | {"energy": fields["energy"] | change}, "mine.yaml")
