"""Bounds of single tiles and of boxes of them: none is above what the model says of any tile."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mapper.formulations.trace_partition.floor.bounded import bounded, run
from mapper.formulations.trace_partition.floor.box import boxes_of
from mapper.formulations.trace_partition.floor.option_floor import family_floor
from mapper.formulations.trace_partition.floor.step_floor import step_floors
from mapper.formulations.trace_partition.problem import Objective, PartitionProblem
from mapper.formulations.trace_partition.program.option import Family, families
from mapper.formulations.trace_partition.program.option_cost import costed
from mapper.models.trace_partition.configuration import Configuration
from mapper.models.trace_partition.lowering.layer import TraceLayer
from tests.models.trace_partition.example import layers
from tests.solver.sample import drawn
from tests.solver.trace_partition.random_partition import any_layers, layer, machine, network, view

ONE = Configuration(1, 1, 1)


def some(family: Family, data: st.DataObject, count: int = 3) -> np.ndarray:
    """Places of tiles, mostly near the ends of the sizes."""
    ends = [st.one_of(st.integers(0, size - 1), st.sampled_from((0, size - 1))) for size in family.shape]
    return np.array([[data.draw(end) for end in ends] for _ in range(count)], dtype=np.int64).T


def held(problem: PartitionProblem, one: TraceLayer, family: Family, places: np.ndarray) -> int:
    """How many tiles of ``places`` [4, T] the machine can hold; none costs less than its bounds say."""
    floor = family_floor(problem, one, family)
    cycles, moved = step_floors(problem, one, family, places)
    found = 0
    for number, place in enumerate(places.T.tolist()):
        option = costed(problem, one, family.mapping(*place))
        if option is not None:
            found += 1
            assert floor.fits[tuple(place)]
            assert max(cycles[number], floor.cycles[tuple(place)]) <= option.rank[1]
            assert max(moved[number], floor.dram_bytes[tuple(place)]) <= option.rank[2]
    return found


@pytest.mark.parametrize("count", [20, pytest.param(2000, marks=pytest.mark.slow)])
def test_no_bound_of_a_tile_of_a_random_problem_is_above_its_cost(count: int) -> None:
    seen: Counter[bool] = Counter()

    @drawn(count)
    @given(any_layers(), st.data())
    def holds(problem: PartitionProblem, data: st.DataObject) -> None:
        for one in problem.network.traced:
            for family in families(problem, one):
                places = some(family, data, 2)
                number = held(problem, one, family, places)
                seen[True] += number
                seen[False] += places.shape[1] - number

    holds()
    assert seen[True] > count // 4 and seen[False]


@pytest.mark.parametrize("count", [20, pytest.param(2000, marks=pytest.mark.slow)])
def test_no_bound_of_a_tile_of_a_layer_of_any_work_is_above_its_cost(count: int) -> None:
    found = 0

    @drawn(count)
    @given(layers(), st.sampled_from((1, 2, 4)), st.sampled_from((0.1, 0.5, 4.5)), st.data())
    def holds(one: TraceLayer, clusters: int, bandwidth: float, data: st.DataObject) -> None:
        nonlocal found
        configuration = Configuration(1, data.draw(st.sampled_from((1, clusters))), clusters)
        board = machine(clusters, 1 << 18, 1 << 19, bandwidth=bandwidth)
        problem = PartitionProblem(network(one), board, configuration)
        for family in families(problem, one):
            found += held(problem, one, family, some(family, data, 2))

    holds()
    assert found > count


@pytest.mark.parametrize(
    ("sharing", "objective"),
    [
        (1, "latency"),
        (1, "traffic"),
        (2, "energy"),
        *(
            pytest.param(*one, marks=pytest.mark.slow)
            for one in ((1, "energy"), (2, "latency"), (2, "traffic"))
        ),
    ],
)
def test_no_bound_of_a_box_is_above_that_of_a_tile_in_it(objective: Objective, sharing: int) -> None:
    """Of a convolution, one with partial windows and a residual, and a pool; every tile is in one box."""
    first = layer("conv1", view("image", 5, 3, 5), 9, 3)
    more = replace(first, residual=view("more", 5, 3, 9))
    pool = layer("pool1", view("image", 9, 7, 12), 12, 3, 2, "max")
    for one in (first, more, pool):
        board = machine(sharing, maps=1 << 14, weights=1 << 14)
        problem = PartitionProblem(network(one), board, Configuration(1, 1, sharing), objective)
        for family in families(problem, one)[::2]:
            boxes = boxes_of(one, family, sharing)
            of_boxes = bounded(problem, one, boxes)
            least = dict(zip(map(tuple, of_boxes.places.T.tolist()), of_boxes.values.tolist(), strict=True))
            inside = 0
            for place in np.ndindex(*boxes.shape):
                members = boxes.members(place)
                inside += members.size
                tiles = bounded(problem, one, members)
                assert len(tiles.values) == 0 or least[place] <= tiles.values.min()
            assert inside == family.size


def test_following_the_steps_of_tiles_rules_out_more_than_counting_them() -> None:
    one = layer("conv1", view("image", 12, 12, 24), 40, 3)
    problem = PartitionProblem(network(one), machine(maps=1 << 15, weights=1 << 15), ONE)
    closer = 0
    for family in families(problem, one):
        tiles = bounded(problem, one, family)
        followed = run(problem, one, tiles.kept(slice(0, 200)))
        assert (followed.values >= tiles.values[:200]).all()
        closer += int((followed.values > tiles.values[:200]).sum())
    assert closer > 100


def test_no_bound_of_a_large_pool_is_above_its_cost_where_the_memory_owes_many_instructions() -> None:
    """In the model a core waits for code that the memory owes it: with less else to load it would wait earlier."""
    pool = replace(
        layer("pool1", view("image", 112, 112, 64), 64, 3, 2, "max"),
        output=view("result", 56, 56, 64),
        pads=((1, 0), (1, 0)),
    )
    problem = PartitionProblem(network(pool), machine(1, 1 << 18, 1 << 19), ONE)
    found = 0
    for family in families(problem, pool):
        sizes = [(rows, columns) for rows in (4, 8, 16) for columns in (14, 19, 28)]
        places = np.array([(rows - 1, columns - 1, 0, 63) for rows, columns in sizes], dtype=np.int64).T
        found += held(problem, pool, family, places)
    assert found > 5
