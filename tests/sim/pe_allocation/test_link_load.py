"""What the simulator says of links and border PEs, by counts of its own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mapper.arch.tcpa import TcpaMachine
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.models.pe_allocation.configuration.configuration import configure
from mapper.models.pe_allocation.configuration.interconnect import shortest_ways
from mapper.models.pe_allocation.cost import evaluate
from mapper.models.pe_allocation.mapping import Allocation, Placement
from mapper.models.pe_allocation.placement import links_json
from mapper.models.pe_allocation.stream.layer import StreamNetwork
from mapper.sim.pe_allocation import report
from mapper.sim.pe_allocation.link_load import busiest
from mapper.sim.pe_allocation.violation import CROWDED, FULL, UNLINKED
from mapper.solver.pe_allocation.placement.place import place
from tests.sim.pe_allocation.example import Net, allocated, array, network_called
from tests.sim.pe_allocation.test_simulation import FIGURE_6

MNIST = network_called("mnist-tcpa")
PAPER = allocated(MNIST, 4, 1, 8, 1, 2, placement=FIGURE_6)


def limited(words: int | None, buffers: int | None = None) -> TcpaMachine:
    machine = array()
    border = machine.border.model_copy(update={"buffers": buffers})
    return machine.model_copy(update={"link_words": words, "border": border})


def violations(network: StreamNetwork, machine: TcpaMachine, allocation: Allocation) -> list[tuple[str, str]]:
    problem = AllocationProblem(network, machine, model="streaming", mode=allocation.mode)
    return [(one["rule"], one["place"]) for one in report(problem, allocation)["violations"]]


def test_the_papers_placement_asks_no_link_for_more_than_a_word_a_cycle() -> None:
    assert violations(MNIST, limited(1), PAPER) == []


def test_a_link_that_is_asked_for_too_much_is_a_violation_and_fails() -> None:
    # At full speed a pool of two units reads two words a cycle, and its pixels come besides.
    network = Net((6, 6), 4).pool(2).network()
    fast = allocated(network, idle=(0,), placement=Placement((((0, 1),),)))
    assert violations(network, limited(2), fast) == []
    assert violations(network, limited(1), fast) == [(CROWDED, "buffers to [0, 1]")]
    problem = AllocationProblem(network, limited(1), model="streaming")
    assert report(problem, fast)["failed"]


def test_a_border_pe_with_too_many_buffers_is_a_violation() -> None:
    assert violations(MNIST, limited(None, 9), PAPER) == []
    assert (FULL, "[0, 0]") in violations(MNIST, limited(None, 1), PAPER)


@pytest.mark.parametrize(
    "network",
    [
        MNIST,
        Net((8, 8), 4).convolution(8, 3, groups=4).pool(2).network(),
        Net((5, 5), 4).convolution(4, 3, pads=(1, 1), groups=4).convolution(6, 1, 0).convolution(6, 1, 0)
        .elementwise("Add", 1, 2).network(),
        Net((5, 5), 3).convolution(4, 3).elementwise("Relu").network(),
    ],
    ids=["paper", "grouped", "joined", "rectified"],
)  # fmt: skip
@pytest.mark.parametrize("pes", [1, 3])
def test_the_simulator_counts_what_the_model_says(network: StreamNetwork, pes: int) -> None:
    given = allocated(network, *(pes,) * len(network.layers))
    machine = limited(4, 8)
    found = place(AllocationProblem(network, machine, model="streaming"), given)
    assert found.placement is not None
    z_out = [timing.z_out for timing in evaluate(network, machine, found, "streaming").timed]
    said = links_json(network, machine, found, z_out)
    assert said is not None
    counted = busiest(configure(network, machine, found, "streaming"), machine)
    assert counted is not None
    assert counted["words"] == pytest.approx(said["busiest"]["words"], rel=1e-9)
    assert counted["buffers"] == said["buffers"]["most"]


def test_without_a_placement_nothing_is_said_of_links() -> None:
    bare = replace(PAPER, placement=None)
    assert busiest(configure(MNIST, array(), bare, "streaming"), array()) is None
    assert violations(MNIST, limited(1, 1), bare) == []


def test_ways_that_end_elsewhere_are_violations_and_nothing_is_counted() -> None:
    problem = AllocationProblem(MNIST, limited(4, 8), model="streaming")
    ways = shortest_ways(MNIST, array(), FIGURE_6.regions, [range(5)])
    astray = tuple(replace(way, pes=((3, 3),)) if way.kind == "weights" else way for way in ways)
    found = report(problem, replace(PAPER, placement=replace(FIGURE_6, ways=astray)))
    assert {one["rule"] for one in found["violations"]} == {UNLINKED}
    assert found["failed"] and found["physical"]["links"] is None
    missing = tuple(way for way in ways if way.kind != "weights")
    found = report(problem, replace(PAPER, placement=replace(FIGURE_6, ways=missing)))
    assert {one["rule"] for one in found["violations"]} == {UNLINKED}
