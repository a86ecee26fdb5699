"""Where memories are filled as streams, branch and bound finds what trying everything finds, and proves it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from random import Random

import pytest

from mapper.arch.source import load_machine
from mapper.formulations.tiling.problem import TilingProblem
from mapper.models.plain import limited
from mapper.models.tiling.cost import evaluate, quantities
from mapper.models.tiling.mapping import TilingMapping
from mapper.models.tiling.padding import Padding
from mapper.solver.method import Effort
from mapper.solver.tiling.catalogue import METHODS
from mapper.solver.tiling.exact.branch_and_bound import branch_and_bound
from mapper.workloads.source import load_network
from tests.solver.tiling.oracle import least
from tests.solver.tiling.small import padded
from tests.solver.tiling.stream.random_window import problem
from tests.solver.tiling.test_padding import least_over_all_bounds, solve

MOST_BOUNDS = 60
"""Combinations of larger bounds that are searched one by one."""
SLOW = [pytest.param(seed, 200, marks=pytest.mark.slow) for seed in range(1, 6)]


def drawn(seed: int, most_tilings: int) -> Iterator[TilingProblem]:
    draw = Random(seed)
    while True:
        yield problem(draw, most_tilings)


def follows(posed: TilingProblem, mapping: TilingMapping | None) -> bool:
    """Whether a mapping's tiles follow each other."""
    if mapping is None:
        return False
    streams = quantities(posed.nest, posed.machine, mapping).streams
    return streams is not None and max(streams.turns) > 1


@pytest.mark.parametrize(("seed", "count"), [(0, 40), *SLOW])
def test_it_proves_what_trying_every_mapping_finds(seed: int, count: int) -> None:
    following = 0
    for posed in islice(drawn(seed, 600), count):
        found = branch_and_bound(posed, Effort())
        assert found.proven
        rank = None
        if found.mapping is not None:
            rank = posed.rank(evaluate(posed.nest, posed.machine, found.mapping))
        truth = least(posed)
        assert (rank and rank[0]) == (truth and truth[0]), posed
        following += follows(posed, found.mapping)
    assert following >= count // 20


def test_all_paddings_at_once_are_as_good_as_each_by_itself() -> None:
    # As plain Python: nothing else in these tests needs the machine code, which takes half a minute to compile.
    with limited(lambda: None, compiles=False):
        agree_over_all_bounds(0, 3)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 6))
def test_all_paddings_at_once_are_in_machine_code_too(seed: int) -> None:
    agree_over_all_bounds(seed, 200)


def agree_over_all_bounds(seed: int, count: int) -> None:
    few = (
        posed
        for posed in map(padded, drawn(seed, 300))
        if 1 < math.prod(most - least + 1 for _, least, most in posed.padding.ranges) <= MOST_BOUNDS
    )
    for posed in islice(few, count):
        found = solve(posed)
        assert found.proven
        rank = None
        if found.mapping is not None:
            rank = posed.rank(evaluate(posed.nest, posed.machine, found.mapping))
        assert (rank and rank[0]) == least_over_all_bounds(posed), posed


def test_a_layer_of_alexnet_is_proven_on_the_chip() -> None:
    machine, _ = load_machine("eyeriss-168")
    nest = next(layer.nest for layer in load_network("alexnet-eyeriss", None).layers if layer.name == "conv5")
    assert machine.streams
    found = METHODS["auto"].search(TilingProblem(nest, machine, "latency"), Effort())
    assert found.proven and found.value == 2_258_368
    whole = machine.model_copy(update={"rules": machine.rules.model_copy(update={"filling": "tiles"})})
    tiles = METHODS["auto"].search(TilingProblem(nest, whole, "latency"), Effort())
    assert tiles.proven and tiles.value is not None and tiles.value > found.value


@pytest.mark.parametrize("method", ["cp-sat", "bounded-table"])
def test_the_programs_refuse_and_name_the_method_that_proves(method: str) -> None:
    posed = replace(next(drawn(0, 600)), padding=Padding())
    refused = METHODS[method].search(posed, Effort())
    assert refused.mapping is None and not refused.proven
    assert any("streams" in text and "branch-and-bound" in text for text in refused.restrictions)
