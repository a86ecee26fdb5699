"""What is read outside in any case where neighbours may hand words on: bounds of a boundary, proofs of small nests."""

from __future__ import annotations

import math
from itertools import permutations
from random import Random
from typing import Any

import numpy as np
import pytest

from mapper.arch.hierarchy import HIERARCHY_SCHEMA, Constraint, hierarchy_from_document
from mapper.formulations.hierarchy.problem import HierarchyProblem, Pins
from mapper.models.hierarchy.delivery import delivery
from mapper.models.hierarchy.tile import Step
from mapper.solver.hierarchy.exact import branch_and_bound as exact
from mapper.solver.hierarchy.exact.branch_and_bound import branch_and_bound
from mapper.solver.hierarchy.exact.brute_force import brute_force
from mapper.solver.hierarchy.exact.neighbour.alike import alike, count_alike, tiles_of
from mapper.solver.hierarchy.exact.neighbour.crossing import Crossing, Side, below_the_last, to_the_next
from mapper.solver.method import Effort
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.nest_file import nest_from_document

WINDOWS = [[1, 1, 0, 0], [0, 0, 1, 0]]
"""A row of P + R, and C; K moves nothing."""
PLAIN = [[1, 0, 0, 0], [0, 0, 1, 0]]


class Drawn:
    """One level of loops P, R, C and K in time, above a fan-out that some of them go through."""

    def __init__(self, random: Random, rows: list[list[int]], units: bool) -> None:
        self.rows, self.units = rows, units
        self.c = [1 if units else random.choice((1, 2)) for _ in range(4)]
        self.f = [random.choice((1, 2, 3)) for _ in range(4)]
        while True:
            self.spread = [random.choice((1, 1, 2, 3)) for _ in range(4)]
            if max(self.spread) > 1:
                break

    def crossing(self) -> Crossing:
        """What is said of the boundary."""
        rows, turning = np.array(self.rows), np.array([self.spread]) > 1
        apart = [float(math.prod(t for j, t in enumerate(self.spread) if any(r[j] for r in self.rows)))]
        side = Side(rows, (rows != 0).any(axis=0), turning, np.array(apart), read_only=True)
        return below_the_last(side) if self.units else to_the_next(side)

    def read(self, order: tuple[int, ...], across: tuple[int, ...]) -> tuple[int, int]:
        """Words that the model has read outside, and that arrive at an instance if units keep a word."""
        strides = list(self.c)

        def step(j: int, trips: int, axis: str = "") -> Step:
            offset = tuple(row[j] * strides[j] for row in self.rows)
            strides[j] *= trips
            return Step(trips, offset, axis)

        space = tuple(step(j, self.spread[j], "x") for j in across if self.spread[j] > 1)[::-1]
        time = [step(j, self.f[j]) for j in order if self.f[j] > 1][::-1]
        box = tuple(1 + sum(a * (t - 1) for a, t in zip(row, self.c, strict=True)) for row in self.rows)
        width = (math.prod(self.spread), 1)
        outside = delivery(box, time, space, width, reused=not self.units, multicast=True, links=True)
        alone = delivery(box, time, (), (1, 1), reused=True, multicast=True, links=False)
        return outside.total, alone.total


@pytest.mark.parametrize("units", [False, True])
@pytest.mark.parametrize("rows", [WINDOWS, PLAIN])
def test_places_that_are_said_to_read_do_in_every_order(rows: list[list[int]], units: bool) -> None:
    tight = 0
    for seed in range(40):
        random = Random(seed)
        drawn = Drawn(random, rows, units)
        said = drawn.crossing()
        every = list(permutations(range(4)))
        for order in random.sample(every, 12):
            outside, arriving = drawn.read(order, random.choice(every))
            least = said.positions[0] * arriving
            assert outside >= least
            if said.handed[0] == 0 and said.tiled[0]:
                assert outside == least
            tight += least > 0 and outside < least + arriving
    assert tight, "nothing more can be said"


def machine(fanout: dict[str, Any], place: int, **rules: Any) -> Any:
    """Three levels of which the middle one keeps nothing, with a fan-out below one of them."""
    energy = {"read": 100, "fill": 1, "update": 1}
    levels: list[dict[str, Any]] = [
        {"name": "outer", "energy_pj": energy},
        {"name": "middle", "bypass": ["*"], "energy_pj": energy},
        {"name": "inner", "words": 12, "keep": ["*"], "energy_pj": {"read": 5, "fill": 5, "update": 5}},
    ]
    levels[place]["fanout"] = fanout
    fixed = [{"level": "middle", "kind": "temporal", "most": dict.fromkeys("KCPRZ", 1)}]
    return hierarchy_from_document(
        {
            "schema": HIERARCHY_SCHEMA,
            "name": "small",
            "levels": levels,
            "compute": {"energy_pj": 1},
            "rules": {"link_transfers": True, **rules},
            "constraints": fixed,
        },
        "small",
    )


def window(channel: str = "K", **loops: int) -> LoopNest:
    """A convolution in one dimension, with the name of the loop over its results' channels."""
    operands = [
        {"tensor": "W", "index": [channel, "R"], "access": "read"},
        {"tensor": "I", "index": ["P + R"], "access": "read"},
        {"tensor": "O", "index": [channel, "P"], "access": "read_write"},
    ]
    return nest_from_document(
        {"schema": "mapper.nest/1", "name": "window", "loops": loops, "operands": operands}, "window"
    )


def test_words_that_units_share_are_read_as_often_as_they_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "settle", lambda search: None)
    problem = HierarchyProblem(window(K=4, P=2, R=1), machine({"x": 2, "x_loops": ["K"]}, 2), "energy")
    found = branch_and_bound(problem, Effort())
    assert found.proven
    assert found.value == brute_force(problem, Effort()).value


@pytest.mark.parametrize("fanout", [{"x": 3, "x_loops": ["P"]}, {"x": 4, "x_loops": ["P", "K"]}])
def test_windows_that_neighbours_hand_on_are_proven(fanout: dict[str, Any]) -> None:
    problem = HierarchyProblem(window(K=2, P=6, R=2), machine(fanout, 1), "energy")
    found = branch_and_bound(problem, Effort())
    assert found.proven
    assert found.value == brute_force(problem, Effort()).value


def test_loops_lie_in_space_in_the_order_that_has_neighbours_hand_most_on() -> None:
    given = (
        Constraint(level="middle", kind="spatial", factors={"P": 4, "Z": 2}),
        Constraint(level="inner", kind="temporal", factors={"R": 1}),
    )
    own = machine({"x": 8}, 1)
    problem = HierarchyProblem(window("Z", P=4, Z=2, R=3), own, "energy", Pins(given))
    found = branch_and_bound(problem, Effort())
    assert found.proven
    assert found.mapping is not None
    assert found.value == brute_force(problem, Effort()).value
    # By their names P would be outside, and no neighbour of an instance would have its next word.
    assert [one.loop for one in found.mapping.levels[1].spatial] == ["Z", "P"]


def test_mappings_alike_have_the_same_tiles_and_are_all_there_are() -> None:
    problem = HierarchyProblem(window(K=2, P=6, R=2), machine({"x": 2, "y": 2}, 1), "energy")
    best = brute_force(problem, Effort()).mapping
    assert best is not None
    every = list(alike(problem, best))
    assert len(set(map(repr, every))) == len(every) == count_alike(problem, best)
    assert {tiles_of(one) for one in every} == {tiles_of(best)}
    assert best in every
