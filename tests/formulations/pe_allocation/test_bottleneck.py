"""Why there is no allocation: one sentence with the numbers, and only where there is none."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from mapper.arch.tcpa import tcpa_from_document, tcpa_preset
from mapper.formulations.pe_allocation.infeasible import Bottleneck, bottleneck, why_infeasible
from mapper.formulations.pe_allocation.problem import AllocationProblem, Pin
from mapper.models.pe_allocation.stream.layer import stream_network
from mapper.solver.method import Effort
from mapper.solver.pe_allocation.parallel.brute_force import BRUTE_FORCE
from mapper.workloads.source import load_layers
from tests.solver.pe_allocation.random_allocation import problems


@pytest.fixture(scope="module")
def mnist() -> AllocationProblem:
    document = tcpa_preset("tcpa-4x4")
    assert document is not None
    return AllocationProblem(
        stream_network(load_layers("mnist-tcpa", None)), tcpa_from_document(document, "x")
    )


def test_an_allocation_speaks_for_itself(mnist: AllocationProblem) -> None:
    assert why_infeasible(mnist) is None
    assert why_infeasible(replace(mnist, longest_interval=63_504)) is None


def test_throughput_out_of_reach_names_the_bottleneck_and_the_most_possible(mnist: AllocationProblem) -> None:
    assert why_infeasible(replace(mnist, longest_interval=50_000)) == (
        "on 16 PEs the most possible is 787.352 frames per second (63,504 cycles a frame), and at least 1,000.000 "
        "frames per second (50,000 cycles a frame) is asked for: the bottleneck is conv2, which has 8 PEs and would "
        "need 12 (19 in all)"
    )


def test_the_bottleneck_of_the_paper_s_network_is_conv2(mnist: AllocationProblem) -> None:
    assert bottleneck(mnist) == Bottleneck("conv2", 63_504, 8, 12, 19)


def test_a_layer_with_a_pe_for_every_filter_gets_no_faster(mnist: AllocationProblem) -> None:
    document = tcpa_preset("tcpa-16x16")
    assert document is not None
    large = replace(mnist, machine=tcpa_from_document(document, "x"), longest_interval=10_000)
    said = why_infeasible(large)
    assert said is not None and said.endswith(
        "the bottleneck is conv2, which no more PEs make faster than it is with 24"
    )


def test_fewer_pes_than_layers_are_too_few(mnist: AllocationProblem) -> None:
    said = "5 layers work at once and need a PE each, and there are 4 PEs"
    assert why_infeasible(replace(mnist, max_pes=4)) == said
    assert why_infeasible(replace(mnist, max_pes=4, sharing=True)) is None


def test_pins_that_take_too_many_pes_say_so(mnist: AllocationProblem) -> None:
    pinned = replace(mnist, pins={"conv0": Pin(pes=14)})
    assert why_infeasible(pinned) == "5 layers with the PEs that are pinned need 18 PEs, and there are 16"
    assert why_infeasible(replace(mnist, pins={"conv0": Pin(pes=17)})) == (
        "conv0 is pinned to 17 PEs, and there are 16"
    )


def test_pinned_units_beyond_those_of_a_pe_say_so(mnist: AllocationProblem) -> None:
    said = why_infeasible(replace(mnist, pins={"conv2": Pin(delta=3)}))
    assert said == "conv2 is pinned to 3 functional units, and a PE has 2 for it"


def test_idle_cycles_that_starve_a_layer_say_so(mnist: AllocationProblem) -> None:
    pinned = {"conv2": Pin(pes=1), "pool3": Pin(throttle=0)}
    said = why_infeasible(replace(mnist, pins=pinned))
    assert said == (
        "conv2 takes 2,592 cycles for a position at least, and the idle cycles that are pinned after it leave "
        "no more than 12 (Eq. 9)"
    )


def test_storage_too_small_gives_the_bytes(mnist: AllocationProblem) -> None:
    assert why_infeasible(replace(mnist, max_bytes=12_067)) == (
        "weights (8,856) and intermediate values (3,212) of all layers need 12,068 bytes of buffers, and there are "
        "12,067"
    )
    assert why_infeasible(replace(mnist, max_bytes=12_068)) is None


def test_layers_one_by_one_have_a_bottleneck_too(mnist: AllocationProblem) -> None:
    said = why_infeasible(replace(mnist, mode="layer-by-layer", longest_interval=73_499))
    assert said is not None and said.endswith("the longest layer is conv2 with 42,336 cycles")
    assert why_infeasible(replace(mnist, mode="layer-by-layer", longest_interval=73_500)) is None


@settings(derandomize=True, deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(problems("calculus", 4, pins=True))
def test_a_reason_is_given_exactly_where_brute_force_finds_nothing(problem: AllocationProblem) -> None:
    outcome = BRUTE_FORCE.search(problem, Effort())
    assert outcome.proven
    assert (why_infeasible(problem) is None) == (outcome.mapping is not None)
