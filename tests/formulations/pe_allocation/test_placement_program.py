"""The constraint program of placement against every placement of small arrays."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.arch.tcpa import TcpaMachine
from mapper.formulations.pe_allocation.program.placement.cp_sat import PlacementProgram
from mapper.formulations.pe_allocation.program.placement.grid import Grid
from mapper.models.pe_allocation.configuration.wiring import wiring
from mapper.models.pe_allocation.stream.layer import StreamNetwork
from mapper.models.pe_allocation.stream.plan import least_wiring, stream_plan
from mapper.solver.cp_sat import run_cp_sat
from mapper.solver.method import Effort
from tests.solver.pe_allocation.placement_oracle import (
    allocation_of,
    array_of,
    counted,
    every_placement,
    network_of,
)

LINKS = st.sampled_from([("mesh",), ("torus",), ("mesh", "diagonal"), ("torus", "diagonal")])
SIDES = st.sampled_from([("north", "east", "south", "west"), ("west",), ("north", "south")])


@st.composite
def _instances(draw: st.DrawFn) -> tuple[StreamNetwork, TcpaMachine, tuple[int, ...]]:
    rows, columns = draw(st.sampled_from([(1, 5), (2, 2), (2, 3), (3, 2), (3, 3)]))
    count = draw(st.integers(1, min(4 if rows * columns > 6 else 6, rows * columns)))
    feeds = [
        draw(st.lists(st.integers(0, at - 1), max_size=3, unique=True)) if at else [] for at in range(count)
    ]
    pes = [1] * count
    for at in draw(st.lists(st.integers(0, count - 1), max_size=rows * columns - count)):
        pes[at] += 1
    return network_of(*feeds), array_of(rows, columns, draw(LINKS), draw(SIDES)), tuple(pes)


def _least(network: StreamNetwork, machine: TcpaMachine, pes: tuple[int, ...], most: int) -> int | None:
    """The program's least wiring, after its regions have been counted anew; None: proven that there is none."""
    plan = stream_plan(network, allocation_of(*pes), range(len(pes)))
    program = PlacementProgram(plan, machine, most)
    program.build()
    result = run_cp_sat(program.model, Effort(), lambda value, bound: None)
    assert result.stop == "complete"
    if not result.found:
        return None
    regions = program.extract(result.value_of)
    assert result.bound == counted(network, machine, regions)
    return round(result.bound)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(_instances())
def test_the_program_finds_the_least_wiring_of_all_placements(
    instance: tuple[StreamNetwork, TcpaMachine, tuple[int, ...]],
) -> None:
    network, machine, pes = instance
    members = range(len(pes))
    least = min(wiring(network, machine, regions, members) for regions in every_placement(machine, pes))
    assert least_wiring(stream_plan(network, allocation_of(*pes), members), machine) <= least
    assert _least(network, machine, pes, least + 2) == least
    assert _least(network, machine, pes, least - 1) is None


def test_four_layers_that_all_read_the_same_four_cannot_all_touch_them() -> None:
    network = network_of([], [], [], [], *[[0, 1, 2, 3]] * 4)
    plan = stream_plan(network, allocation_of(*[1] * 8), range(8))
    assert least_wiring(plan, array_of(4, 4)) == 16 + 4
    assert least_wiring(plan, array_of(4, 4, ("mesh", "diagonal"))) == 16


def test_a_block_of_one_pe_with_six_partners_cannot_touch_them_all() -> None:
    network = network_of([], *[[0]] * 6)
    machine = array_of(3, 3)
    plan = stream_plan(network, allocation_of(*[1] * 7), range(7))
    assert least_wiring(plan, machine) == 6 + 2
    # The blocks in the middle of two stars touch each other or not: the pair between them counts for both.
    stars = network_of([], *[[0]] * 4, [0], *[[5]] * 4)
    plan = stream_plan(stars, allocation_of(*[1] * 10), range(10))
    assert least_wiring(plan, array_of(4, 4)) == 9 + 1
    larger = stream_plan(network, allocation_of(2, *[1] * 6), range(7))
    assert least_wiring(larger, machine) == 6


@pytest.mark.parametrize(
    ("machine", "leaders"),
    [
        (array_of(4, 4), 3),
        (array_of(2, 3), 2),
        (array_of(3, 3, ("mesh",), ("west",)), 6),
        (array_of(4, 4, ("torus",), ("west",)), 3),
    ],
)
def test_places_that_a_symmetry_of_the_grid_exchanges_are_looked_at_once(
    machine: TcpaMachine, leaders: int
) -> None:
    assert len(Grid(machine).leaders()) == leaders
