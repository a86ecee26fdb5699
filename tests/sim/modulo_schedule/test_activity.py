"""The simulator counts actions as they pass, and tells if the model counts others."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from mapper.models.modulo_schedule.activity import Activity, run_activity
from mapper.models.modulo_schedule.configuration.assembly import assemble
from mapper.sim.modulo_schedule import report, simulate
from mapper.sim.modulo_schedule.report import simulated
from tests.sim.modulo_schedule.example import accumulate, predicated_store, through_a_shared_file

REPORT = import_module("mapper.sim.modulo_schedule.report")


def test_first_values_take_no_register_and_every_pe_reads_a_word_in_every_cycle() -> None:
    """Five iterations: i and the sum begin with given values, so that each reads its register four times."""
    kernel, machine, schedule = accumulate()
    run = simulate(assemble(kernel, machine, schedule), machine, {}, 5, "symbols")
    assert run.activity == Activity(
        cycles=18,
        operations=(("add", 10), ("load", 5), ("move", 5), ("store", 5)),
        routed_words=5 + 5,
        register_accesses=(4 + 5) + (5 + 5) + 5 + (4 + 5),
        memory_accesses=10,
        configuration_words=18 * 2,
    )


def test_shared_registers_count_as_own_ones() -> None:
    """i is written into one shared register and read there three times (once its own output serves), x_i once."""
    kernel, machine, schedule = through_a_shared_file()
    run = simulate(assemble(kernel, machine, schedule), machine, {}, 7, "symbols")
    assert run.activity.register_accesses == 7 * (1 + 3 + 1 + 1) and run.activity.routed_words == 0


def test_a_store_that_is_switched_off_counts_as_one() -> None:
    kernel, machine, schedule = predicated_store()
    memory = {"x": np.zeros(64, np.int32), "y": np.zeros(64, np.int32)}
    run = simulate(assemble(kernel, machine, schedule), machine, memory, 6)
    assert np.count_nonzero(run.memory["y"]) == 3 and run.activity.memory_accesses == 6


def test_iterations_that_are_not_run_do_what_the_last_one_did(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, machine, schedule = accumulate()
    monkeypatch.setattr(REPORT, "MOST_ISSUES", 100)
    trips = 300
    arrays = tuple(replace(array, words=trips + 1) for array in kernel.arrays)
    found = simulated(replace(kernel, trip_count=trips, arrays=arrays), machine, schedule)
    assert found.iterations < trips
    assert found.activity(trips) == run_activity(assemble(kernel, machine, schedule), machine, trips)


def test_a_model_that_counts_other_actions_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert report(*accumulate())["agrees"]

    def without_a_route(*given: object) -> Activity:
        counted = run_activity(*given)  # type: ignore[arg-type]
        return replace(counted, routed_words=counted.routed_words - 1)

    monkeypatch.setattr(REPORT, "run_activity", without_a_route)
    assert not report(*accumulate())["agrees"]
