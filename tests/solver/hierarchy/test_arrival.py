"""Closed forms of branch and bound against the model, and orders of loops that are as good as all others."""

from __future__ import annotations

import math
from itertools import permutations
from random import Random

import numpy as np
import pytest

from mapper.models.hierarchy.delivery import delivery
from mapper.models.hierarchy.tile import Step
from mapper.solver.hierarchy.exact.arrival import Tensors, Tiles, Way, arriving_words
from mapper.solver.hierarchy.exact.group import chains_of
from mapper.solver.hierarchy.exact.order_class import Mover, order_classes

WINDOWS = [[1, 0, 1, 0, 0, 0], [0, 2, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0]]
"""Rows P R, Q S with a stride, and C; the last of the six loops moves nothing."""
CHAIN = chains_of(WINDOWS, 6)


class Drawn:
    """Two levels of loops over tiles, drawn by chance."""

    def __init__(self, seed: int) -> None:
        random = Random(seed)
        self.c = np.array([random.choice((1, 1, 2, 3)) for _ in range(6)])
        self.f = np.array([[random.choice((1, 1, 2, 2, 3)) for _ in range(6)] for _ in range(2)])
        self.orders = np.array([random.sample(range(6), 6) for _ in range(2)])

    def arriving(self, orders: np.ndarray, known: int = 0, begun: bool = False) -> float:
        """What the closed form says."""
        rest = self.c * self.f[0] * self.f[1]
        tiles = Tiles(*(np.zeros((1, 1), np.int64),) * 3, rest, np.ones((3, 6), np.int64))
        rows = np.array(WINDOWS, np.float64)
        relevant, chain = (rows != 0).any(axis=0)[None], np.array([CHAIN])
        tensors = Tensors(rows, np.array([0, 3]), relevant, chain)
        way = Way(self.c, self.f, orders, np.zeros(6))
        total = float(math.prod(int(one) for one in rest // self.c))
        return float(arriving_words.plain(0, 2, 1, known, begun, total, tiles, tensors, way))

    def delivered(self, orders: np.ndarray) -> int:
        """What the model says."""
        steps: list[Step] = []
        strides = self.c.copy()
        for level in (1, 0):
            for j in orders[level]:
                offset = tuple(row[j] * int(strides[j]) for row in WINDOWS)
                steps.append(Step(int(self.f[level, j]), offset))
                strides[j] *= self.f[level, j]
        box = tuple(1 + sum(row[j] * (int(self.c[j]) - 1) for j in range(6)) for row in WINDOWS)
        temporal = [step for step in reversed(steps) if step.trips > 1]
        return delivery(box, temporal, (), (1, 1), reused=True, multicast=True, links=False).total


@pytest.mark.parametrize("seeds", [range(part, part + 100) for part in range(0, 400, 100)])
def test_words_that_arrive_are_those_of_the_model(seeds: range) -> None:
    for seed in seeds:
        drawn = Drawn(seed)
        assert drawn.arriving(drawn.orders) == drawn.delivered(drawn.orders)


def test_loops_that_are_not_known_yet_leave_no_less_than_is_said() -> None:
    for seed in range(200):
        drawn = Drawn(seed)
        if any(drawn.f[1, j] > 1 for j in range(5)):
            assert drawn.arriving(drawn.orders, known=1) <= drawn.delivered(drawn.orders)


def test_no_order_is_better_than_those_that_are_tried() -> None:
    movers = (Mover(tuple((j, CHAIN[j]) for j in range(5))),)
    for seed in range(60):
        drawn = Drawn(seed)
        loops = tuple(j for j in range(6) if drawn.f[1, j] > 1)
        tried = order_classes(movers, (), loops, True)

        def words(order: tuple[int, ...], own: Drawn = drawn) -> float:
            row = [*order, *(j for j in range(6) if j not in order)]
            return own.arriving(np.array([own.orders[0], row]))

        assert min(map(words, tried)) == min(map(words, permutations(loops)))
