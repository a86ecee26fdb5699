"""The paper's network on small arrays: what the paper and the reference print, proven."""

from __future__ import annotations

from fractions import Fraction

import pytest

from mapper.arch.tcpa import tcpa_from_document, tcpa_preset
from mapper.formulations.pe_allocation.bound import least_interval
from mapper.formulations.pe_allocation.problem import AllocationProblem, Objective
from mapper.formulations.pe_allocation.referee.verify import verify
from mapper.models.pe_allocation.cost import Model
from mapper.models.pe_allocation.mapping import Mode
from mapper.models.pe_allocation.stream.layer import StreamNetwork, stream_network
from mapper.solver.method import Effort
from mapper.solver.pe_allocation.catalogue import METHODS
from mapper.workloads.source import load_layers

STEPS = {5: 98.4, 6: 196.8, 7: 295.3, 9: 393.7, 10: 472.4, 11: 590.5, 15: 787.4, 19: 885.8, 20: 1181.0}


@pytest.fixture(scope="module")
def mnist() -> StreamNetwork:
    return stream_network(load_layers("mnist-tcpa", None))


def posed(
    network: StreamNetwork,
    objective: Objective,
    array: str = "tcpa-4x4",
    mode: Mode = "layer-parallel",
    model: Model = "calculus",
    throughput: float | None = None,
    max_pes: int = 0,
) -> AllocationProblem:
    document = tcpa_preset(array)
    assert document is not None
    machine = tcpa_from_document(document, array)
    longest = None if throughput is None else int(machine.clock_hz / Fraction(throughput))
    return AllocationProblem(network, machine, objective, model, mode, longest, max_pes)


def test_most_throughput_of_16_pes_is_proven(mnist: StreamNetwork) -> None:
    problem = posed(mnist, "throughput")
    outcome = METHODS["ilp"].search(problem, Effort())
    assert outcome.proven and outcome.value == outcome.bound == float(Fraction(50_000_000, 63_504))
    assert outcome.mapping is not None and outcome.mapping.pes == (4, 1, 8, 1, 2)
    assert verify(problem, outcome.mapping).valid


def test_15_pes_are_enough_for_it(mnist: StreamNetwork) -> None:
    outcome = METHODS["ilp"].search(posed(mnist, "pes", throughput=787.35), Effort())
    assert outcome.proven and outcome.value == 15
    assert outcome.mapping is not None and outcome.mapping.pes == (3, 1, 8, 1, 2)


def test_100_frames_per_second_take_6_pes(mnist: StreamNetwork) -> None:
    outcome = METHODS["ilp"].search(posed(mnist, "pes", throughput=100), Effort())
    assert outcome.proven and outcome.mapping is not None
    assert outcome.mapping.pes == (1, 1, 2, 1, 1)


def test_fewest_pes_are_one_a_layer_where_no_throughput_is_asked_for(mnist: StreamNetwork) -> None:
    outcome = METHODS["ilp"].search(posed(mnist, "pes"), Effort())
    assert outcome.proven and outcome.value == 5


def test_throughput_rises_in_the_steps_of_the_reference(mnist: StreamNetwork) -> None:
    problem = posed(mnist, "throughput", "tcpa-4x5")
    found = {pes: least_interval(problem, pes) for pes in range(5, 21)}
    rates = {pes: round(50e6 / interval, 1) for pes, interval in found.items() if interval is not None}
    assert {pes: rates[pes] for pes in rates if rates[pes] > rates.get(pes - 1, 0)} == STEPS


@pytest.mark.parametrize(("model", "cycles"), [("calculus", 73_500), ("lanes", 55_664)])
def test_layers_one_by_one_take_what_table_1_says(mnist: StreamNetwork, model: Model, cycles: int) -> None:
    problem = posed(mnist, "latency", mode="layer-by-layer", model=model)
    outcome = METHODS["auto"].search(problem, Effort())
    assert outcome.proven and outcome.value == cycles
    assert outcome.mapping is not None and verify(problem, outcome.mapping).valid
