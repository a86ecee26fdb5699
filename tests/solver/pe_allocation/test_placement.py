"""Placing allocations: what is proven, what is impossible, and that the referee accepts every region."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.arch.tcpa import TcpaMachine
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.referee.verify import CONNECTED, PLACED, verify
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.placement import placement_json
from mapper.models.pe_allocation.stream.layer import StreamNetwork, stream_network
from mapper.solver.pe_allocation.placement.path import paths
from mapper.solver.pe_allocation.placement.place import place
from mapper.workloads.source import load_layers
from tests.solver.pe_allocation.placement_oracle import (
    allocation_of,
    array_of,
    counted,
    every_placement,
    network_of,
)


def placed(network: StreamNetwork, machine: TcpaMachine, allocation: Allocation) -> Allocation:
    """The allocation after ``place``, its regions accepted by the referee."""
    problem = AllocationProblem(network, machine, mode=allocation.mode, sharing=bool(allocation.shared))
    found = place(problem, allocation)
    broken = {rule.rule for rule in verify(problem, found).broken}
    assert not broken & {PLACED, CONNECTED}
    return found


@pytest.mark.parametrize(
    "pes", [(4, 1, 8, 1, 2), (3, 1, 8, 1, 2), (1, 1, 2, 1, 1), (1, 1, 1, 1, 1), (3, 3, 4, 3, 3)]
)
def test_least_wiring_is_proven_for_the_papers_network_on_its_array(pes: tuple[int, ...]) -> None:
    network, machine = stream_network(load_layers("mnist-tcpa", None)), array_of(4, 4)
    found = placed(network, machine, allocation_of(*pes))
    assert placement_json(network, machine, found) == {"status": "optimal", "wiring": 4, "bound": 4}


@settings(derandomize=True, deadline=None, max_examples=10)
@given(st.sampled_from([(2, 2), (2, 3), (3, 3)]), st.sampled_from([("west",), ("north", "east")]), st.data())
def test_what_is_called_optimal_is_the_least_of_all_placements(
    size: tuple[int, int], sides: tuple[str, ...], data: st.DataObject
) -> None:
    machine = array_of(*size, ("mesh",), sides)
    count = data.draw(st.integers(2, 4))
    feeds = [data.draw(st.lists(st.integers(0, at - 1), max_size=2, unique=True)) for at in range(1, count)]
    network = network_of([], *feeds)
    pes = [1] * count
    pes[data.draw(st.integers(0, count - 1))] += data.draw(st.integers(0, machine.pe_count - count))
    found = placed(network, machine, allocation_of(*pes))
    said = placement_json(network, machine, found)
    least = counted(network, machine, *every_placement(machine, pes))
    assert (said["status"], said["wiring"]) == ("optimal", least)


@settings(derandomize=True, deadline=None, max_examples=12)
@given(
    st.sampled_from([(1, 5), (5, 1), (2, 2), (2, 3), (1, 1), (3, 3)]),
    st.sampled_from([["mesh"], ["torus"], ["mesh", "diagonal"], ["torus", "diagonal"]]),
    st.sampled_from([["west"], ["south", "east"], ["north", "east", "south", "west"]]),
    st.data(),
)
def test_no_bound_of_the_wiring_is_above_the_least_on_any_links(
    size: tuple[int, int], links: list[str], sides: list[str], data: st.DataObject
) -> None:
    machine = array_of(*size, links, sides)
    count = data.draw(st.integers(1, min(4, machine.pe_count)))
    feeds = [data.draw(st.lists(st.integers(0, at - 1), max_size=3, unique=True)) for at in range(1, count)]
    network = network_of([], *feeds)
    pes = [1] * count
    pes[data.draw(st.integers(0, count - 1))] += data.draw(st.integers(0, min(4, machine.pe_count - count)))
    said = placement_json(network, machine, placed(network, machine, allocation_of(*pes)))
    least = counted(network, machine, *every_placement(machine, pes))
    assert said["bound"] <= least <= said["wiring"]
    assert said["status"] == ("optimal" if said["bound"] == said["wiring"] else "feasible")


def test_layers_on_a_single_row_stand_one_after_another() -> None:
    network, machine = network_of([], [0], [1], [2]), array_of(1, 9)
    found = placed(network, machine, allocation_of(3, 1, 4, 1))
    assert found.placement is not None
    assert [region[0] for region in found.placement.regions] in (
        [(0, 0), (0, 3), (0, 4), (0, 8)],
        [(0, 6), (0, 5), (0, 1), (0, 0)],
    )
    assert placement_json(network, machine, found)["status"] == "optimal"


def test_too_few_address_generators_make_an_allocation_unplaceable() -> None:
    network, given = network_of([], [0]), allocation_of(2, 2)
    assert place(AllocationProblem(network, array_of(2, 2, generators=3)), given).unplaceable
    assert not place(AllocationProblem(network, array_of(2, 2, generators=4)), given).unplaceable


def test_runs_of_the_mixed_mode_are_placed_each_by_itself() -> None:
    network, machine = network_of([], [0], [1], [2]), array_of(2, 2)
    given = allocation_of(2, 2, 1, 3, mode="mixed", segments=(0, 2), on_chip=(True,))
    found = placed(network, machine, given)
    assert placement_json(network, machine, found) == {"status": "optimal", "wiring": 2, "bound": 2}


def test_layers_that_share_a_pe_stand_on_it_together() -> None:
    network, machine = network_of([], [0], [1], [2]), array_of(2, 2)
    found = placed(network, machine, allocation_of(1, 2, 1, 1, shared=((0, 2),)))
    assert found.placement is not None
    assert found.placement.regions[0] == found.placement.regions[2]


def test_layer_by_layer_there_is_nothing_to_place() -> None:
    network, machine = network_of([], [0]), array_of(2, 2)
    assert placed(network, machine, allocation_of(4, 4, mode="layer-by-layer")).placement is None


def test_a_large_array_gets_a_placement_and_a_true_bound() -> None:
    network, machine = stream_network(load_layers("squeezenet", None)), array_of(12, 20)
    found = placed(network, machine, allocation_of(*[1 + at % 9 for at in range(30)]))
    said = placement_json(network, machine, found)
    assert said["wiring"] >= said["bound"] >= 37


def test_the_same_allocation_gets_the_same_placement() -> None:
    network, machine = network_of([], [0], [0], [1, 2], [3], [0, 4]), array_of(5, 5, ["mesh"], ["west"])
    given = allocation_of(5, 2, 3, 1, 4, 6)
    assert placed(network, machine, given) == placed(network, machine, given)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.integers(1, 16), st.integers(1, 16))
def test_every_path_visits_all_pes_from_neighbour_to_neighbour(rows: int, columns: int) -> None:
    for path in paths(rows, columns):
        assert sorted(path) == [(row, column) for row in range(rows) for column in range(columns)]
        assert all(abs(r - s) + abs(c - d) == 1 for (r, c), (s, d) in itertools.pairwise(path))
