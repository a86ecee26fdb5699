"""References and sample solutions, which reason differently, agree on random exercises."""

from __future__ import annotations

import runpy
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

from docs.lessons.exercise import (
    algorithm_selection,
    hierarchy,
    modulo_schedule,
    pe_allocation,
    tiling,
    trace_partition,
)

SAMPLE = Path(__file__).parent / "sample"
SEEDS = range(20)


def sample(lesson: str) -> dict[str, Any]:
    return runpy.run_path(str(SAMPLE / f"{lesson}.py"))


@pytest.mark.parametrize("seed", SEEDS)
def test_tilings_agree(seed: int) -> None:
    random, answer = Random(seed), sample("tiling")
    extents, words = [random.randint(1, 6) for _ in range(3)], random.randint(2, 40)
    assert answer["exercise_2"](extents, words) == tiling.least_perfect(extents, words)
    assert answer["exercise_3"](extents, words) == tiling.least_ragged(extents, words)


@pytest.mark.parametrize("seed", SEEDS)
def test_hierarchies_agree(seed: int) -> None:
    random, answer = Random(seed), sample("hierarchy")
    bounds, words = [random.randint(1, 6) for _ in range(3)], random.randint(0, 30)
    tiles = [random.choice([size for size in range(1, one + 1) if one % size == 0]) for one in bounds]
    order = "".join(random.sample("IJK", 3))
    keep = "".join(one for one in "ABO" if random.random() < 0.5)
    problem = (bounds, tiles, order, keep)
    assert answer["exercise_1"](*problem) == hierarchy.walked_words(*problem)
    assert answer["exercise_2"](bounds, words) == hierarchy.least_bypassing(bounds, words)
    assert answer["exercise_3"](bounds, words) == hierarchy.price_of_keeping(bounds, words)


@pytest.mark.parametrize("seed", SEEDS)
def test_intervals_agree(seed: int) -> None:
    random, answer = Random(seed), sample("modulo_schedule")
    operations, pes = random.randint(2, 5), random.randint(1, 3)
    edges = []
    for _ in range(random.randint(1, 6)):
        u, v = random.randrange(operations), random.randrange(operations)
        edges.append([u, v, random.randint(0 if u < v else 1, 2)])
    issue, interval = [random.randint(0, 6) for _ in range(operations)], random.randint(1, 4)
    problem = (operations, edges, pes)
    assert answer["exercise_1"](*problem) == modulo_schedule.least_bound(*problem)
    assert answer["exercise_2"](issue, edges, interval) == modulo_schedule.wrong_reads(issue, edges, interval)
    assert answer["exercise_3"](*problem) == modulo_schedule.least_interval(*problem)


@pytest.mark.parametrize("seed", SEEDS)
def test_allocations_agree(seed: int) -> None:
    random, answer = Random(seed), sample("pe_allocation")
    layers = [
        [random.randint(1, 8), random.randint(1, 5), random.choice([1, 4, 9]), random.randint(1, 30)]
        for _ in range(random.randint(1, 4))
    ]
    array, filters, most = random.randint(1, 12), random.randint(1, 200), random.randint(1, 300)
    assert answer["exercise_2"](filters, most) == pe_allocation.useful_counts(filters, most)
    assert answer["exercise_3"](layers, array) == pe_allocation.least_shared_interval(layers, array)


@pytest.mark.parametrize("seed", SEEDS)
def test_selections_agree(seed: int) -> None:
    random, answer = Random(seed), sample("algorithm_selection")
    layer = [2 * random.randint(1, 9), random.choice([1, 3, 5]), random.randint(1, 40), random.randint(1, 40)]
    array = [random.randint(1, 30), random.randint(1, 30)]
    assert answer["exercise_1"](layer, array) == algorithm_selection.algorithm_cycles(layer, array)
    vertices = random.randint(2, 7)
    drawn = [sorted(random.sample(range(vertices), 2)) for _ in range(random.randint(1, 12))]
    pairs = [(u, v) for u, v in drawn]
    edges = [list(pair) for pair in pairs]
    assert answer["exercise_2"](vertices, edges) == algorithm_selection.left_over(vertices, edges)
    problem = algorithm_selection.instance(seed, pairs, random.randint(1, 3))
    assert (
        answer["exercise_3"](*problem)
        == algorithm_selection.least_cost(*problem)
        == everything_tried(*problem)
    )


def everything_tried(costs: list[list[int]], edges: list[tuple[int, int, list[list[int]]]]) -> int:
    """The least cost of a PBQP over all assignments."""
    return min(
        sum(own[i] for own, i in zip(costs, at, strict=True))
        + sum(matrix[at[u]][at[v]] for u, v, matrix in edges)
        for at in product(*(range(len(own)) for own in costs))
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_partitions_agree(seed: int) -> None:
    random, answer = Random(seed), sample("trace_partition")
    steps = trace_partition.random_steps(seed, random.randint(1, 12))
    assert answer["exercise_1"](steps) == trace_partition.cycles_run(steps)
    layer = [random.randint(1, 9), random.choice([1, 3, 5, 7]), random.randint(1, 4), random.randint(1, 9)]
    tile = (random.randint(1, layer[0]), random.randint(1, layer[3]), random.choice(["maps", "weights"]))
    assert answer["exercise_2"](layer, *tile) == trace_partition.words_moved(layer, *tile)
    layers, most = trace_partition.random_layers(seed, random.randint(1, 5), 3), random.randint(0, 4)
    least = trace_partition.least_chain(layers, most)
    assert answer["exercise_3"](layers, most) == least == every_chain(layers, most)


def every_chain(layers: list[list[list[int]]], most: int) -> int:
    """The least sum over all ways to take an option of each layer."""
    found = []
    for taken in product(*layers):
        kept = [last for _, _, last in taken]
        if [first for _, first, _ in taken] == [0, *kept[:-1]] and not kept[-1] and sum(kept) <= most:
            found.append(sum(cycles for cycles, _, _ in taken))
    return min(found, default=-1)
