"""Wiring of placements, counted by hand and by a count of its own, and what the breakdown says of a placement."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.arch.tcpa import tcpa_from_document, tcpa_preset
from mapper.models.pe_allocation.configuration.wiring import wiring
from mapper.models.pe_allocation.cost import pes_used
from mapper.models.pe_allocation.mapping import Placement
from mapper.models.pe_allocation.placement import placement_json
from mapper.models.pe_allocation.stream.plan import has_room, stream_plan
from mapper.workloads.document import InputError
from tests.solver.pe_allocation.placement_oracle import Regions, allocation_of, array_of, counted, network_of

CHAIN = network_of([], [0], [1])


def test_streams_take_the_links_of_shortest_routes_between_regions_and_to_the_border() -> None:
    # The layer in the middle: two links from the one before, one to the next, one to the border for its weights.
    regions: Regions = (((0, 0),), ((1, 1), (1, 2)), ((2, 3), (3, 3)))
    assert wiring(CHAIN, array_of(4, 4), regions, range(3)) == 2 + 2 + 1
    assert wiring(CHAIN, array_of(4, 4, ["mesh", "diagonal"]), regions, range(3)) == 1 + 1 + 1


def test_a_torus_links_opposite_borders() -> None:
    regions: Regions = (((0, 0),), ((0, 3),), ((3, 3),))
    assert wiring(CHAIN, array_of(4, 4, ["torus"]), regions, range(3)) == 2
    assert wiring(CHAIN, array_of(4, 4), regions, range(3)) == 6


def test_only_sides_with_buffers_take_streams_from_outside() -> None:
    regions: Regions = (((0, 0),), ((0, 1),), ((0, 2),))
    # One stream of weights two of them have, results and the frame one more each: 1*0*2 + 1*1 + 2*2.
    assert wiring(CHAIN, array_of(4, 4, ["mesh"], ["west"]), regions, range(3)) == 2 + 1 + 4


def test_maps_of_earlier_runs_come_from_the_buffers() -> None:
    regions: Regions = (((0, 0),), ((1, 1),), ((1, 2),))
    machine = array_of(4, 4)
    # Weights and the maps of the layer before for one, weights and results for the other, a link each; one feed.
    assert wiring(CHAIN, machine, regions, range(1, 3)) == 2 + 2 + 1
    assert wiring(CHAIN, machine, regions, range(1)) == 0


def test_layers_that_share_a_pe_need_no_links_between_them() -> None:
    shared = allocation_of(1, 1, 2, shared=((0, 1),))
    plan = stream_plan(CHAIN, shared, range(3))
    assert (plan.blocks, plan.sizes, plan.outside, plan.feeds) == (
        ((0, 1), (2,)),
        (1, 2),
        (3, 2),
        {(0, 1): 1},
    )
    assert wiring(CHAIN, array_of(2, 2), (((0, 0),), ((0, 0),), ((0, 1), (1, 1))), range(3)) == 1


@settings(derandomize=True, deadline=None, max_examples=60)
@given(
    st.sampled_from([("mesh",), ("torus",), ("mesh", "diagonal"), ("torus", "diagonal")]),
    st.sampled_from([("west",), ("north", "south"), ("north", "east", "south", "west")]),
    st.permutations([(r, c) for r in range(4) for c in range(5)]),
)
def test_wiring_is_what_a_count_over_all_ways_gives(
    links: tuple[str, ...], sides: tuple[str, ...], order: list[tuple[int, int]]
) -> None:
    network = network_of([], [0], [0], [1, 2])
    machine = array_of(4, 5, links, sides)
    regions = tuple(tuple(order[first : first + 2]) for first in range(0, 8, 2))
    assert wiring(network, machine, regions, range(4)) == counted(network, machine, regions)


def test_a_placement_as_good_as_its_bound_is_optimal_and_a_longer_one_feasible() -> None:
    machine = array_of(2, 3)
    given = allocation_of(1, 1, 1)
    short = replace(given, placement=Placement((((0, 0),), ((0, 1),), ((0, 2),))))
    long = replace(given, placement=Placement((((0, 0),), ((0, 2),), ((1, 0),))))
    assert placement_json(CHAIN, machine, short) == {"status": "optimal", "wiring": 2, "bound": 2}
    assert placement_json(CHAIN, machine, long) == {"status": "feasible", "wiring": 5, "bound": 2}
    assert placement_json(CHAIN, machine, given) == {"status": "unknown", "wiring": None, "bound": 2}


def test_a_proven_bound_counts_more_than_the_one_by_argument() -> None:
    network = network_of([], [0], [0, 1])
    placed = Placement((((0, 0),), ((0, 1),), ((1, 0),)), 4)
    given = allocation_of(1, 1, 1, placement=placed)
    assert placement_json(network, array_of(2, 2), given) == {"status": "optimal", "wiring": 4, "bound": 4}


def test_more_streams_than_address_generators_or_more_pes_than_there_are_is_impossible() -> None:
    # A stream of weights each, the frame and the results: 5.
    impossible = {"status": "impossible", "wiring": None, "bound": None}
    assert placement_json(CHAIN, array_of(2, 3, generators=4), allocation_of(1, 1, 1)) == impossible
    assert placement_json(CHAIN, array_of(2, 3, generators=5), allocation_of(1, 1, 1))["status"] == "unknown"
    assert placement_json(CHAIN, array_of(2, 3), allocation_of(3, 3, 1)) == impossible


def test_layer_by_layer_each_layer_needs_generators_for_its_own_streams_alone() -> None:
    given = allocation_of(6, 6, 6, mode="layer-by-layer")
    assert placement_json(CHAIN, array_of(2, 3, generators=3), given)["status"] == "optimal"
    assert placement_json(CHAIN, array_of(2, 3, generators=2), given)["status"] == "impossible"


def test_regions_outside_the_array_are_left_to_the_referee() -> None:
    astray = allocation_of(1, 1, 1, placement=Placement((((0, 0),), ((0, 7),), ((0, 2),))))
    assert placement_json(CHAIN, array_of(2, 3), astray)["status"] == "unknown"


def test_blocks_beyond_the_border_pes_are_a_link_away_at_least() -> None:
    machine = array_of(1, 3, ["mesh"], ["west"])
    placed = allocation_of(1, 1, 1, placement=Placement((((0, 0),), ((0, 1),), ((0, 2),))))
    assert placement_json(CHAIN, machine, placed) == {"status": "feasible", "wiring": 7, "bound": 2 + 1 + 2}


def test_room_is_pes_and_generators_alone() -> None:
    plan = stream_plan(CHAIN, allocation_of(3, 1, 2), range(3))
    assert has_room(plan, array_of(1, 6))
    assert not has_room(plan, array_of(1, 5))
    assert not has_room(plan, array_of(1, 6, generators=4))


def test_an_array_that_its_links_leave_in_two_parts_is_refused() -> None:
    document = tcpa_preset("tcpa-2x2")
    assert document is not None
    document["links"] = ["diagonal"]
    with pytest.raises(InputError, match="diagonal ones alone"):
        tcpa_from_document(document, "test")


def test_a_shared_pe_counts_in_the_run_of_its_layers_alone() -> None:
    mixed = allocation_of(1, 1, 2, mode="mixed", shared=((0, 1),), segments=(0, 2), on_chip=(True,))
    assert [pes_used(mixed, members) for members in mixed.parts()] == [1, 2]
