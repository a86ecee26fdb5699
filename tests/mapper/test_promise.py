"""What ``solve`` reports of a network is what ``simulate`` measures when it runs the solution, kind by kind."""

from __future__ import annotations

import pytest

from bench.promise import PROMISES, Promise, kept
from docs.papers.promise import row
from mapper import InputError
from mapper.workloads.catalogue import CATALOGUE
from mapper.workloads.graph.kernel_source import kernel_names

QUICK = {
    "modulo_schedule": ("lenet5/conv1", "baseline"),
    "trace_partition": ("lenet5/conv2", "greedy"),
    "hierarchy": ("lenet5/conv2", "random"),
}
"""A layer or a method where a network takes long."""
BESIDE = (
    ("tiling", "depthwise"),
    ("modulo_schedule", "dot"),
    ("modulo_schedule", "histogram"),
    pytest.param("pe_allocation", "depthwise", marks=pytest.mark.slow),
)
"""Nests and kernels that are solved and run in seconds, but for one: small nests on a TCPA are run in tests/sim/."""
REFUSED = {
    ("pe_allocation", "conv3d"): "too many to execute",
    ("pe_allocation", "resnet-dmazerunner"): "a TCPA takes one",
}
"""What is refused, and in which words: by the simulator, which executes every iteration, or as several nests."""


@pytest.mark.parametrize("promise", PROMISES, ids=lambda one: one.kind)
def test_a_kind_reports_what_its_simulator_measures(promise: Promise) -> None:
    workload, method = QUICK.get(promise.kind, ("lenet5", "auto"))
    found = kept(promise, workload, method=method)
    assert found.within and found.agrees


@pytest.mark.parametrize(("kind", "workload"), BESIDE)
def test_a_kind_reports_of_nests_and_kernels_what_its_simulator_measures(kind: str, workload: str) -> None:
    (promise,) = (one for one in PROMISES if one.kind == kind)
    found = kept(promise, workload)
    assert found.within and found.agrees


@pytest.mark.slow
@pytest.mark.parametrize(
    ("promise", "workload"),
    [
        pytest.param(promise, name, id=f"{promise.kind}-{name}")
        for promise in PROMISES
        for name in promise.workloads
    ],
)
def test_a_kind_reports_of_every_workload_what_its_simulator_measures(
    promise: Promise, workload: str
) -> None:
    refused = REFUSED.get((promise.kind, workload))
    if refused is not None:
        with pytest.raises(InputError, match=refused):
            kept(promise, workload, 60.0)
        return
    found = kept(promise, workload, 60.0)
    assert found.within and found.agrees


def test_nothing_of_the_catalogue_is_left_without_a_promise() -> None:
    promised = {name for promise in PROMISES for name in promise.workloads}
    assert promised == set(CATALOGUE) | {name for name, _ in kernel_names()}


def test_a_promise_that_is_broken_is_said_to_be() -> None:
    from dataclasses import replace

    found = kept(PROMISES[0], "lenet5/conv1")
    worse = replace(found, reported=found.simulated + 1)
    assert not worse.within
    assert "BEYOND" in row(worse).reason
    assert row(found).verdict == "agrees"


def test_every_kind_with_a_machine_promises_something_or_says_why_not() -> None:
    from mapper.kind import ENTRIES

    assert {one.kind for one in PROMISES} == {entry.name for entry in ENTRIES} - {"pbqp"}
