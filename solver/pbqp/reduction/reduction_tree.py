"""How a graph reduces, step by step, as a value: which vertex goes by which rule, and what it leaves
[Meng2021, Fig. 6]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from mapper.solver.pbqp.reduction.series_parallel import NONE, reduce_graph
from mapper.workloads.pbqp.instance import Cost, PbqpInstance

Rule = Literal["R0", "RI", "RII"]
Table = tuple[tuple[Cost, ...], ...]
"""Rows of costs; over one vertex a single row. Infinite costs are those of the instance."""
RULES: tuple[Rule, ...] = ("R0", "RI", "RII")


@dataclass(frozen=True)
class ReductionStep:
    """``vertex`` goes when it has the ``neighbours`` (none: R0, one: RI, two: RII). ``merged``: how many parallel edges
    became one with others at it before. ``below``: the steps whose tables it takes up, by number from 0; tables between
    other vertices and edges of the instance are taken up likewise. ``table`` over the neighbours, in their order (None
    unless it was asked for): the least that the vertex and its edges cost; for R0 one row of one number."""

    vertex: int
    rule: Rule
    neighbours: tuple[int, ...]
    merged: int
    below: tuple[int, ...]
    table: Table | None = None


@dataclass(frozen=True)
class ReductionTree:
    """The ``steps`` in order, and the ``core`` that is left: its vertices, and the pairs that are joined."""

    steps: tuple[ReductionStep, ...]
    core: tuple[int, ...]
    core_edges: tuple[tuple[int, int], ...]

    @property
    def series_parallel(self) -> bool:
        """Whether nothing is left: every block of the graph (part without a cut vertex) is series-parallel."""
        return not self.core


def reduction_tree(given: PbqpInstance, tables: bool = False) -> ReductionTree:
    """The reduction of ``given``; with ``tables`` in plain integers or floats, for instances that people read."""
    order, front, rest = reduce_graph(given.vertices, given.edge_end)
    step_of = np.full(given.vertices, len(order), np.int64)
    step_of[order] = np.arange(len(order))
    below: list[list[int]] = [[] for _ in order]
    arrivals = _edges_at(given, step_of)
    made = _tables(given, order.tolist(), front.tolist()) if tables else [None] * len(order)
    steps: list[ReductionStep] = []
    for number, (vertex, pair) in enumerate(zip(order.tolist(), front.tolist(), strict=True)):
        near = tuple(at for at in pair if at != NONE)
        # Edges of the instance that go here, and tables over two vertices; each pair keeps one of them.
        joined = arrivals.get(number, 0) + sum(len(steps[at].neighbours) == 2 for at in below[number])
        steps.append(
            ReductionStep(
                vertex, RULES[len(near)], near, joined - len(near), tuple(below[number]), made[number]
            )
        )
        first = min((int(step_of[at]) for at in near), default=len(order))
        if first < len(order):
            below[first].append(number)
    core = tuple(np.flatnonzero(step_of == len(order)).tolist())
    return ReductionTree(tuple(steps), core, tuple((u, v) for u, v in rest.tolist()))


def _edges_at(given: PbqpInstance, step_of: np.ndarray) -> dict[int, int]:
    """How many edges of the instance go at each step."""
    steps, counts = np.unique(np.min(step_of[given.edge_end], axis=1), return_counts=True)
    return dict(zip(steps.tolist(), counts.tolist(), strict=True))


def _tables(given: PbqpInstance, order: list[int], front: list[list[int]]) -> list[Table]:
    """The tables that the steps leave, one number after another."""
    own = [given.costs(vertex).tolist() for vertex in range(given.vertices)]
    joined: dict[tuple[int, int], list[list[Cost]]] = {}

    def add(one: Cost, other: Cost) -> Cost:
        return given.infinity if given.infinity in (one, other) else one + other

    def join(u: int, v: int, matrix: list[list[Cost]]) -> None:
        for (a, b), table in (((u, v), matrix), ((v, u), [list(row) for row in zip(*matrix, strict=True)])):
            old = joined.get((a, b))
            joined[a, b] = (
                table
                if old is None
                else [list(map(add, mine, other)) for mine, other in zip(old, table, strict=True)]
            )

    for edge in range(given.edges):
        u, v = given.edge_end[edge].tolist()
        join(u, v, given.matrix(edge).tolist())
    found: list[Table] = []
    for vertex, pair in zip(order, front, strict=True):
        near = [at for at in pair if at != NONE]
        rows = [[own[vertex]]] if not near else [
            [list(map(add, own[vertex], to_first))] for to_first in joined[near[0], vertex]
        ]  # fmt: skip
        if len(near) == 2:
            rows = [
                [list(map(add, row[0], to_other)) for to_other in joined[near[1], vertex]] for row in rows
            ]
        least = [[min(sums) for sums in row] for row in rows]
        if len(near) == 1:
            gained = [row[0] for row in least]
            own[near[0]] = list(map(add, own[near[0]], gained))
            least = [gained]
        elif len(near) == 2:
            join(near[0], near[1], least)
        found.append(tuple(map(tuple, least)))
    return found
