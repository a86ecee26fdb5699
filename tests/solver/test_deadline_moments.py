"""Time that ends at any moment of a search of PE allocation or trace partitioning, that of building tables among them:
an answer or none, no false claim, and nothing raised."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.referee.verify import verify as verify_allocation
from mapper.formulations.trace_partition.problem import PartitionProblem
from mapper.formulations.trace_partition.referee.verify import verify as verify_partition
from mapper.solver.certificate import Stop
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome
from mapper.solver.pe_allocation.catalogue import METHODS as ALLOCATION
from mapper.solver.pe_allocation.parallel.front import front
from mapper.solver.trace_partition.catalogue import METHODS as PARTITION
from tests.sim.pe_allocation.example import Net
from tests.solver.conformance import Referee, check_outcome, refereed_by
from tests.solver.pe_allocation.random_allocation import row
from tests.solver.trace_partition.random_partition import ONE, SHARED, layer, machine, network, view

FEW, MANY = 2, 60
"""Moments of each search after its first ones, spread over all at which it looks at the clock."""
EVERY = pytest.mark.parametrize("count", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])


@dataclass(frozen=True)
class Ending(Effort):
    """An effort whose time is over when it has been asked ``moments`` times whether it is."""

    moments: int = 1 << 60
    asked: list[int] = field(default_factory=lambda: [0])

    def stopped(self) -> Stop | None:
        self.asked[0] += 1
        return "time_limit" if self.asked[0] > self.moments else None

    def seconds_left(self) -> float | None:
        return 0.0 if self.asked[0] >= self.moments else None


def endings(asked: int, count: int) -> Iterator[Ending]:
    """The first moments, where tables are begun, and ``count`` others up to the last."""
    later = range(2, asked, max(1, asked // count))
    for moments in (*range(min(2, asked)), *later):
        yield Ending(moments=moments)


def check_moments(problem: Any, method: Method[Any, Any], kind: Referee[Any, Any], count: int) -> None:
    """Whenever the time ends the outcome is sound, and a proof is that of the whole search."""
    whole = Ending()
    truth: Outcome[Any] = method.search(problem, whole)
    for effort in endings(whole.asked[0], count):
        found = method.search(problem, effort)
        check_outcome(problem, method, kind, found)
        assert found.stop in ("time_limit", "complete", "heuristic"), effort.moments
        if found.proven and truth.proven:
            assert found.value == truth.value, effort.moments
        if truth.proven and truth.value is None:
            assert found.mapping is None
        elif truth.proven and found.bound is not None and truth.value is not None:
            assert kind.excess(problem, found.bound, truth.value) <= 0, effort.moments


def allocation(**fields: Any) -> AllocationProblem:
    net = Net((4, 4), 2)
    net.convolution(3, (2, 2)).convolution(5, (1, 1)).convolution(4, (2, 2), 1, strides=(2, 2))
    net.pool((1, 1), 2, op="MaxPool")
    return replace(AllocationProblem(net.network(), row(6)), **fields)


ALLOCATIONS = {
    "latency": allocation(objective="latency"),
    "streaming": allocation(objective="latency", model="streaming", longest_interval=80),
    "buffers": allocation(model="streaming", max_bytes=150),
    "sharing": allocation(objective="latency", sharing=True),
    "mixed": allocation(mode="mixed"),
    "mixed in small buffers": allocation(mode="mixed", objective="pes", longest_interval=150, max_bytes=90),
    "nothing in mixed mode": allocation(mode="mixed", objective="pes", longest_interval=10),
}


@pytest.mark.parametrize("method", [name for name in ALLOCATION if name != "brute-force"])
@pytest.mark.parametrize("name", ALLOCATIONS)
@EVERY
def test_an_allocation_may_be_cut_at_any_moment(name: str, method: str, count: int) -> None:
    kind = refereed_by(verify_allocation, AllocationProblem.value, lambda one: one.objective == "throughput")
    check_moments(ALLOCATIONS[name], ALLOCATION[method], kind, count)


@pytest.mark.parametrize("name", ALLOCATIONS)
@EVERY
def test_a_front_may_be_cut_at_any_moment(name: str, count: int) -> None:
    problem, whole = ALLOCATIONS[name], Ending()
    points = {point.value for point in front(problem, whole).points if point.proven}
    for effort in endings(whole.asked[0], count):
        cut = front(problem, effort)
        assert not cut.complete or {point.value for point in cut.points} == points
        for point in cut.points:
            assert point.mapping is not None and (not point.proven or point.value in points)


def partition(**fields: Any) -> PartitionProblem:
    first = layer("conv1", view("image", 4, 4, 16), 20, 1)
    second = layer("pool2", first.output, 20, 2, 2, "max")
    small = machine(2 if fields.get("configuration") == SHARED else 1, maps=1 << 13)
    return replace(PartitionProblem(network(first, second), small, ONE), **fields)


PARTITIONS = {
    "latency": partition(),
    "energy of two clusters": partition(objective="energy", configuration=SHARED),
    "traffic": partition(objective="traffic"),
}


@pytest.mark.parametrize("method", [name for name in PARTITION if name != "brute-force"])
@pytest.mark.parametrize("name", PARTITIONS)
@EVERY
def test_a_partition_may_be_cut_at_any_moment(name: str, method: str, count: int) -> None:
    kind = refereed_by(verify_partition, PartitionProblem.value)
    check_moments(PARTITIONS[name], PARTITION[method], kind, count)


@pytest.mark.parametrize("method", ["auto", "ilp", "cp-sat"])
@pytest.mark.parametrize("name", ["latency", "streaming", "sharing", "mixed", "mixed in small buffers"])
def test_a_search_that_had_no_time_has_an_allocation_in_closed_form(name: str, method: str) -> None:
    problem = ALLOCATIONS[name]
    found = ALLOCATION[method].search(problem, Effort(deadline=time.monotonic()))
    assert found.mapping is not None and verify_allocation(problem, found.mapping).valid
    assert found.value is not None and found.bound is not None
