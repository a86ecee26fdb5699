"""The referee on placements made by hand: each fault is named with its place."""

from __future__ import annotations

import pytest

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.referee.verify import CONNECTED, GENERATED, PLACED, verify
from mapper.models.pe_allocation.mapping import Allocation, Placement
from tests.solver.pe_allocation.placement_oracle import Regions, allocation_of, array_of, network_of

CHAIN = network_of([], [0], [1])
GOOD: Regions = (((0, 0), (1, 0)), ((0, 1),), ((0, 2), (1, 2), (1, 1)))


def faults(
    regions: Regions, links: tuple[str, ...] = ("mesh",), **fields: object
) -> list[tuple[str, str, float]]:
    """Rule, place and size of what is wrong with the regions of 2, 1 and 3 PEs on a 2x3 array."""
    given: Allocation = allocation_of(2, 1, 3, **{"placement": Placement(regions), **fields})
    problem = AllocationProblem(CHAIN, array_of(2, 3, links), mode=given.mode, sharing=True)
    found = verify(problem, given).broken
    return [(rule.rule, rule.place, rule.size) for rule in found if rule.rule in (PLACED, CONNECTED)]


def test_regions_of_their_own_and_in_one_piece_are_accepted() -> None:
    assert faults(GOOD) == []


@pytest.mark.parametrize(
    ("regions", "fault"),
    [
        ((GOOD[0], ((1, 0),), GOOD[2]), (PLACED, "conv0, conv1", 1)),
        ((((0, 0), (1, 1)), ((0, 1),), ((0, 2), (1, 2), (1, 1))), (CONNECTED, "conv0", 2)),
        ((((0, 0),), ((0, 1),), GOOD[2]), (PLACED, "conv0", 1)),
        ((((0, 0), (0, 0)), ((0, 1),), GOOD[2]), (PLACED, "conv0", 2)),
        ((GOOD[0], ((0, -1),), GOOD[2]), (PLACED, "conv1", 1)),
        ((GOOD[0], ((2, 0),), GOOD[2]), (PLACED, "conv1", 1)),
        (GOOD[:2], (PLACED, "placement", 1)),
    ],
)
def test_a_fault_is_named_with_its_layers(regions: Regions, fault: tuple[str, str, float]) -> None:
    assert fault in faults(regions)


def test_slanted_links_join_a_region_where_there_are_some() -> None:
    slanted: Regions = (((0, 0), (1, 1)), ((1, 0),), ((0, 1), (0, 2), (1, 2)))
    assert faults(slanted, ("mesh", "diagonal")) == []
    assert faults(slanted) == [(CONNECTED, "conv0", 2)]


def test_a_torus_joins_opposite_sides() -> None:
    around: Regions = (((0, 0), (0, 2)), ((0, 1),), ((1, 0), (1, 1), (1, 2)))
    assert faults(around, ("torus",)) == []
    assert faults(around) == [(CONNECTED, "conv0", 2)]


def test_runs_may_use_the_same_pes_one_after_another() -> None:
    regions: Regions = (((0, 0), (1, 0)), ((0, 1),), ((0, 0), (0, 1), (0, 2)))
    assert faults(regions, mode="mixed", segments=(0, 2), on_chip=(True,)) == []
    assert faults(regions) != []


def test_layers_that_share_must_stand_on_the_same_pe_and_no_other_layer_may() -> None:
    apart: Regions = (((0, 0),), ((0, 1),), ((0, 2), (1, 2), (1, 1)))
    together: Regions = (((0, 0),), ((0, 0),), GOOD[2])
    assert faults(apart, pes=(1, 1, 3), shared=((0, 1),)) == [(PLACED, "conv0, conv1", 2)]
    assert faults(together, pes=(1, 1, 3), shared=((0, 1),)) == []
    assert faults(together, pes=(1, 1, 3)) == [(PLACED, "conv0, conv1", 1)]


def test_more_streams_from_and_to_the_outside_than_address_generators_are_named() -> None:
    given = allocation_of(2, 1, 3, placement=Placement(GOOD))
    # Weights for three layers, the frame, the results.
    for generators, excess in ((5, []), (3, [2])):
        problem = AllocationProblem(CHAIN, array_of(2, 3, generators=generators))
        found = verify(problem, given).broken
        assert [rule.size for rule in found if rule.rule == GENERATED] == excess


def test_layer_by_layer_every_layer_may_stand_anywhere() -> None:
    everywhere: Regions = (((0, 0), (1, 0)), ((0, 0),), ((0, 0), (0, 1), (0, 2)))
    assert faults(everywhere, mode="layer-by-layer") == []
