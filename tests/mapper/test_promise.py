"""What ``solve`` reports of a network is what ``simulate`` measures when it runs the solution, kind by kind."""

from __future__ import annotations

import pytest

from bench.promise import NETWORKS, PROMISES, Promise, kept
from docs.papers.promise import row

PROMISED = [one for one in PROMISES if one.tolerance is not None]
QUICK = {"modulo_schedule": ("lenet5/conv1", "baseline"), "trace_partition": ("lenet5/conv2", "greedy")}
"""A layer and a method where a network takes minutes."""


@pytest.mark.parametrize("promise", PROMISED, ids=lambda one: one.kind)
def test_a_kind_reports_what_its_simulator_measures(promise: Promise) -> None:
    workload, method = QUICK.get(promise.kind, ("lenet5", "auto"))
    found = kept(promise, workload, method=method)
    assert found.within and found.agrees


@pytest.mark.slow
@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("promise", PROMISED, ids=lambda one: one.kind)
def test_a_kind_reports_of_every_network_what_its_simulator_measures(promise: Promise, network: str) -> None:
    found = kept(promise, network, 60.0)
    assert found.within and found.agrees


def test_a_promise_that_is_broken_is_said_to_be() -> None:
    from dataclasses import replace

    found = kept(PROMISED[0], "lenet5/conv1")
    worse = replace(found, reported=found.simulated + 1)
    assert not worse.within
    assert "BEYOND" in row(worse).reason
    assert row(found).verdict == "agrees"


def test_every_kind_with_a_machine_promises_something_or_says_why_not() -> None:
    from mapper.kind import ENTRIES

    assert {one.kind for one in PROMISES} == {entry.name for entry in ENTRIES} - {"pbqp"}
