"""Numbers of PE allocation are counted exactly up to a largest one; a problem that could pass it is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.arch.tcpa import tcpa_from_document, tcpa_preset
from mapper.formulations.pe_allocation.magnitude import LARGEST, longest_time, refuse_large
from mapper.formulations.pe_allocation.problem import AllocationProblem, Pin
from mapper.formulations.pe_allocation.referee.verify import verify
from mapper.models.pe_allocation.cost import evaluate
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.stream.layer import StreamNetwork
from mapper.solver.method import Effort
from mapper.solver.pe_allocation.catalogue import METHODS
from mapper.workloads.document import InputError
from tests.sim.pe_allocation.example import Net
from tests.solver.pe_allocation.random_allocation import networks, row


def multiplying(layers: int) -> StreamNetwork:
    """Pools of single pixels whose windows stride by 2: each takes four times as long as the one before (Eq. 9)."""
    net = Net((1, 1), 3)
    for _ in range(layers):
        net.pool((2, 2), op="MaxPool", pads=(1, 1), strides=(2, 2))
    return net.network()


def test_paces_that_multiply_beyond_what_is_counted_are_refused() -> None:
    refuse_large(AllocationProblem(multiplying(20), row(20)))
    for layers in (26, 100, 600):
        with pytest.raises(InputError, match="cycles on few PEs"):
            refuse_large(AllocationProblem(multiplying(layers), row(layers)))


def test_just_below_the_largest_number_proofs_agree_to_the_cycle() -> None:
    """Idle cycles that are pinned make the last digits matter."""
    network, pins = multiplying(4), {"pool0": Pin(throttle=10**12 + 1)}
    for objective, mode in (
        ("throughput", "layer-parallel"),
        ("latency", "layer-parallel"),
        ("latency", "mixed"),
    ):
        posed = AllocationProblem(network, row(4), objective, mode=mode, pins=pins)  # type: ignore[arg-type]
        refuse_large(posed)
        truth = METHODS["brute-force"].search(posed, Effort())
        assert truth.proven and truth.mapping is not None
        cost = verify(posed, truth.mapping).cost
        assert cost is not None and cost.cycles > 10**12
        for name in ("ilp", "cp-sat", "auto"):
            found = METHODS[name].search(posed, Effort())
            assert (found.proven, found.value) == (True, truth.value), name


@pytest.mark.parametrize("clock_mhz", [1e-6, 50, 333.333333, 1e6])
def test_throughputs_tell_apart_any_two_numbers_of_cycles_that_are_counted(clock_mhz: float) -> None:
    document = tcpa_preset("tcpa-1x1")
    assert document is not None
    clock = tcpa_from_document({**document, "clock_mhz": clock_mhz}, "test").clock_hz
    for cycles in (2, 10**6 + 3, LARGEST // 3, LARGEST - 1):
        assert clock / cycles > clock / (cycles + 1)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(networks(4), st.sampled_from(("calculus", "streaming")), st.integers(0, 999))
def test_no_allocation_takes_longer_than_what_is_derived(
    network: StreamNetwork, model: Any, idle: int
) -> None:
    count = len(network.layers)
    pins = {network.names[0]: Pin(throttle=idle)}
    problem = AllocationProblem(network, row(count), model=model, pins=pins)
    worst = METHODS["greedy"].search(replace(problem, objective="pes"), Effort()).mapping
    assert worst is not None
    cost = evaluate(network, problem.machine, worst, model)
    assert max(cost.cycles, cost.interval) <= longest_time(problem)
    alone = Allocation("layer-by-layer", (1,) * count, (0,) * count, (1,) * count)
    assert evaluate(network, problem.machine, alone, "calculus").cycles <= longest_time(problem)


def test_a_clock_below_one_hertz_is_refused() -> None:
    document = tcpa_preset("tcpa-1x1")
    assert document is not None
    with pytest.raises(InputError, match="clock_mhz"):
        tcpa_from_document({**document, "clock_mhz": 1e-7}, "test")
