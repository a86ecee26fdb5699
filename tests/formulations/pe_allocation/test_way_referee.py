"""The referee on ways and loads made by hand: each fault is named with its place and size."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mapper.arch.tcpa import TcpaMachine
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.referee.verify import verify
from mapper.formulations.pe_allocation.referee.verify_ways import CARRIED, CONNECTED_WAYS, HELD
from mapper.models.pe_allocation.mapping import Allocation, Placement, StreamKind, Way
from mapper.models.pe_allocation.stream.layer import StreamNetwork
from tests.solver.pe_allocation.placement_oracle import Regions, allocation_of, array_of, network_of

PAIR = network_of([], [0])
WEST: Regions = (((0, 0),), ((0, 1),))


def way(kind: StreamKind, source: int | None, target: int | None, *pes: tuple[int, int]) -> Way:
    return Way(kind, source, target, pes)


WAYS = (
    way("weights", None, 0, (0, 0)),
    way("frame", None, 0, (0, 0)),
    way("weights", None, 1, (0, 0), (0, 1)),
    way("maps", 0, 1, (0, 0), (0, 1)),
    way("result", 1, None, (0, 1), (0, 0)),
)
"""Two layers in a row whose first PE alone has buffers. Both take 8 cycles for a position of 8 maps: a word a cycle."""


def row(words: int | None, buffers: int | None = None) -> TcpaMachine:
    machine = array_of(1, 3, ("mesh",), ("west",))
    border = machine.border.model_copy(update={"buffers": buffers})
    return machine.model_copy(update={"link_words": words, "border": border})


def faults(
    ways: tuple[Way, ...],
    machine: TcpaMachine,
    network: StreamNetwork = PAIR,
    regions: Regions = WEST,
    **fields: object,
) -> list[tuple[str, str, float]]:
    pes = [len(region) for region in regions]
    given: Allocation = allocation_of(*pes, **{"placement": Placement(regions, None, ways), **fields})
    problem = AllocationProblem(network, machine, model="streaming", mode=given.mode)
    broken = verify(problem, given).broken
    return [(rule.rule, rule.place, rule.size) for rule in broken]


def test_ways_within_the_limits_are_accepted() -> None:
    # To the east the maps and the windows of the second layer; to the west its pixels and its results.
    assert faults(WAYS, row(2, 5)) == []


def test_a_link_that_carries_too_much_is_named_with_the_words_that_are_too_many() -> None:
    assert sorted(faults(WAYS, row(1, 5))) == [
        (CARRIED, "[0, 0] to [0, 1]", 1.0),
        (CARRIED, "[0, 0] to buffers", 1.0),
        (CARRIED, "[0, 1] to [0, 0]", 1.0),
        (CARRIED, "buffers to [0, 0]", 0.25),
    ]


def test_idle_cycles_make_streams_thinner() -> None:
    assert faults(WAYS, row(1, 5), throttle=(8, 8)) == []


def test_a_border_pe_that_is_given_too_many_buffers_is_named() -> None:
    # Weights of both layers, the line buffer of the second, the frame and the results.
    assert faults(WAYS, row(2, 4)) == [(HELD, "[0, 0]", 1)]


def test_a_corner_has_a_link_to_the_buffers_at_each_of_its_sides() -> None:
    machine = row(1, 5)
    corner = machine.model_copy(
        update={"border": machine.border.model_copy(update={"sides": ["west", "north"]})}
    )
    assert [fault for fault in faults(WAYS, corner) if "buffers" in fault[1]] == []


@pytest.mark.parametrize(
    ("ways", "place"),
    [
        (WAYS[:4], "result: conv1 to buffers"),
        ((*WAYS, WAYS[0]), "weights: buffers to conv0"),
        ((*WAYS[:4], way("result", 1, None, (0, 1), (0, 2))), "result: conv1 to buffers"),
        ((*WAYS[:4], way("result", 1, None, (0, 0))), "result: conv1 to buffers"),
        ((*WAYS[:3], way("maps", 0, 1, (0, 0), (0, 2), (0, 1)), WAYS[4]), "maps: conv0 to conv1"),
        ((*WAYS[:3], way("maps", 0, 1, (0, 0), (0, 1), (0, 0), (0, 1)), WAYS[4]), "maps: conv0 to conv1"),
        ((*WAYS[:3], way("maps", 0, 1, (0, 0), (1, 0), (0, 1)), WAYS[4]), "maps: conv0 to conv1"),
        ((*WAYS, way("maps", 1, 0, (0, 1), (0, 0))), "maps: conv1 to conv0"),
        ((*WAYS, way("stored", None, 7, (0, 0))), "stored: buffers to buffers"),
    ],
)
def test_a_stream_without_its_one_way_is_named(ways: tuple[Way, ...], place: str) -> None:
    assert (CONNECTED_WAYS, place) in [fault[:2] for fault in faults(ways, row(2, 5))]


def test_without_ways_those_that_are_configured_are_judged() -> None:
    assert faults((), row(2, 5)) == []
    assert {rule for rule, _, _ in faults((), row(1, 5))} == {CARRIED}
    assert faults((), row(None)) == []


def test_what_is_handed_on_within_a_region_loads_its_links() -> None:
    # The first layer's four PEs stand in a column whose top PE alone has buffers and touches the second layer.
    column = array_of(5, 1, ("mesh",), ("north",))
    border = column.border.model_copy(update={"buffers": 9})
    machine = column.model_copy(update={"link_words": 1, "border": border})
    regions: Regions = (((1, 0), (2, 0), (3, 0), (4, 0)), ((0, 0),))
    ways = (
        way("weights", None, 0, (0, 0), (1, 0)),
        way("frame", None, 0, (0, 0), (1, 0)),
        way("weights", None, 1, (0, 0)),
        way("maps", 0, 1, (1, 0), (0, 0)),
        way("result", 1, None, (0, 0)),
    )
    # 8 filters on 4 PEs in 2 cycles: the region makes 4 words a cycle, of which 3 come up to its first PE.
    found = {place: size for rule, place, size in faults(ways, machine, regions=regions) if rule == CARRIED}
    assert found["[1, 0] to [0, 0]"] == 3.0
    assert found["[2, 0] to [1, 0]"] == 2.0
    assert found["[3, 0] to [2, 0]"] == 1.0
    assert "[4, 0] to [3, 0]" not in found
    assert "[1, 0] to [2, 0]" not in found


def test_runs_load_the_links_one_after_another() -> None:
    ways = (
        way("weights", None, 0, (0, 0)),
        way("frame", None, 0, (0, 0)),
        way("stored", 0, None, (0, 0)),
        way("weights", None, 1, (0, 0), (0, 1)),
        way("stored", None, 1, (0, 0), (0, 1)),
        way("result", 1, None, (0, 1), (0, 0)),
    )
    assert faults(ways, row(1, 3), mode="mixed", segments=(0, 1), on_chip=(True,)) == []


def test_without_a_placement_too_few_buffers_break_a_rule() -> None:
    problem = AllocationProblem(PAIR, row(None, 4), model="streaming")
    assert [rule.rule for rule in verify(problem, allocation_of(1, 1)).broken] == [HELD]
    assert verify(replace(problem, machine=row(None, 5)), allocation_of(1, 1)).valid
