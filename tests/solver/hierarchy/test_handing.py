"""What neighbours may hand on, against the model in every order of the loops of each level."""

from __future__ import annotations

import math
from itertools import permutations
from random import Random

import numpy as np
import pytest

from mapper.arch.hierarchy import HIERARCHY_SCHEMA, hierarchy_from_document
from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.models.hierarchy.cost import evaluate
from mapper.models.hierarchy.delivery import delivery
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.models.hierarchy.tile import Step
from mapper.solver.hierarchy.exact.arrival import Tensors, Tiles, Way
from mapper.solver.hierarchy.exact.branch_and_bound import Search
from mapper.solver.hierarchy.exact.group import chains_of
from mapper.solver.hierarchy.exact.neighbour.handing import handed_moments
from mapper.solver.method import Effort
from mapper.workloads.nest.nest_file import nest_from_document


class Drawn:
    """Two levels of loops P, R, C and K, of which K moves nothing, above a fan-out that some of them go through."""

    def __init__(self, seed: int) -> None:
        random = Random(seed)
        self.rows = [[random.choice((1, 1, 2)), random.choice((1, 1, 2)), 0, 0], [0, 0, 1, 0]]
        self.c = [random.choice((1, 1, 2)) for _ in range(4)]
        self.spread = [random.choice((1, 1, 2, 3)) for _ in range(4)]
        self.f = [[random.choice((1, 1, 2, 3)) for _ in range(4)] for _ in range(2)]

    def said(self) -> float:
        """Words of an instance that may come from neighbours, by `handed_moments`."""
        c, spread, f = np.array(self.c), np.array(self.spread), np.array(self.f)
        spaces = np.array([spread, spread, np.ones(4, np.int64)])
        rows = np.array(self.rows, np.float64)
        tiles = Tiles(*(np.zeros((1, 1), np.int64),) * 3, c * f[0] * f[1], spaces)
        relevant, chain = (rows != 0).any(axis=0)[None], np.array([chains_of(self.rows, 4)])
        tensors = Tensors(rows, np.array([0, 2]), relevant, chain)
        way = Way(c, f, np.zeros((2, 4), np.int64), np.zeros(4))
        return float(handed_moments.plain(0, 1, tiles, tensors, way)) * self.words()

    def box(self) -> tuple[int, ...]:
        return tuple(1 + sum(abs(a) * (t - 1) for a, t in zip(row, self.c, strict=True)) for row in self.rows)

    def words(self) -> int:
        return math.prod(self.box())

    def handed(self, orders: list[tuple[int, ...]], across: tuple[int, ...]) -> float:
        """Words that an instance takes from neighbours on average, by the model."""
        strides = list(self.c)

        def step(j: int, trips: int, axis: str = "") -> Step:
            offset = tuple(row[j] * strides[j] for row in self.rows)
            strides[j] *= trips
            return Step(trips, offset, axis)

        space = [step(j, self.spread[j], "x") for j in across if self.spread[j] > 1]
        time = [
            step(j, self.f[level][j])
            for level, order in ((1, orders[1]), (0, orders[0]))
            for j in order
            if self.f[level][j] > 1
        ]
        width = math.prod(self.spread)
        found = delivery(
            self.box(), time[::-1], tuple(space[::-1]), (width, 1), reused=True, multicast=True, links=True
        )
        return found.links / width


@pytest.mark.parametrize("part", range(4))
def test_no_order_has_neighbours_hand_on_more_than_is_said(part: int) -> None:
    some = 0
    for seed in range(10 * part, 10 * part + 10):
        drawn, random = Drawn(seed), Random(seed)
        most = drawn.said()
        orders = list(permutations(range(4)))
        for first in orders:
            for across in random.sample(orders, 4):
                handed = drawn.handed([random.choice(orders), first], across)
                assert handed <= most
                some += handed > 0
    assert some


def test_a_loop_in_time_steps_over_its_own_loop_in_space() -> None:
    operands = [
        {"tensor": "I", "index": ["P + R"], "access": "read"},
        {"tensor": "O", "index": ["P"], "access": "read_write"},
    ]
    nest = nest_from_document(
        {"schema": "mapper.nest/1", "name": "window", "loops": {"P": 8, "R": 3}, "operands": operands},
        "window",
    )
    energy = {"read": 10, "fill": 1, "update": 1}
    constraints = [
        {"level": "outer", "kind": "spatial", "factors": {"P": 2}},
        {"level": "outer", "kind": "temporal", "factors": {"P": 2, "R": 1}},
    ]
    machine = hierarchy_from_document(
        {
            "schema": HIERARCHY_SCHEMA,
            "name": "small",
            "levels": [
                {"name": "outer", "energy_pj": energy, "fanout": {"x": 2, "y": 1}},
                {"name": "inner", "energy_pj": energy, "keep": ["*"]},
            ],
            "compute": {"energy_pj": 1},
            "rules": {"link_transfers": False},
            "constraints": constraints,
        },
        "small",
    )
    search = Search(HierarchyProblem(nest, machine, "energy"), Effort())
    leaves: list[tuple[float, HierarchyMapping]] = []

    def take(mapping: HierarchyMapping, least: float, handed: bool) -> None:
        leaves.append((least, mapping))

    search._take = take  # type: ignore[method-assign]
    search.run()
    costs = [
        (least, evaluate(nest, machine, mapping).energy_pj) for least, mapping in leaves if least < math.inf
    ]
    assert costs
    assert all(cost == pytest.approx(least) for least, cost in costs)
