"""Simulated annealing and random draws over shapes and selections."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.formulations.algorithm_selection.program.cost_graph import CostGraph, GraphBuilder
from mapper.formulations.algorithm_selection.program.shape import shapes
from mapper.formulations.algorithm_selection.referee.verify import verify
from mapper.models.algorithm_selection.mapping import Selection
from mapper.solver.algorithm_selection.exact.fixed import Array, outcome_of
from mapper.solver.algorithm_selection.heuristic.baseline import square
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome

SHAPES = 60
"""Shapes that annealing visits."""
FLIPS = 80
"""Changes of one layer's or tensor's choice that are tried for each of them."""
HOTTEST, COLDEST = 0.05, 0.0005
"""Temperatures as parts of the first latency."""
DRAWS = 512


def _rank(problem: SelectionProblem, selection: Selection) -> tuple[Any, ...] | None:
    """What is least for the best selection; None if it breaks a rule."""
    verdict = verify(problem, selection)
    return problem.rank(verdict.cost) if verdict.valid and verdict.cost is not None else None


def _laid(problem: SelectionProblem, known: Selection | None = None) -> SelectionProblem:
    """The problem with tensors of the generated overlay as they are known to lie, or in the first format they may have:
    there a layer's choices say how it reads and stores, so that no change of one of them leads to another format."""
    if problem.machine.engines is None:
        return problem
    labels = [problem.labels(at)[:1] for at in range(len(problem.network.stores))]
    if known is not None:
        labels = [(one,) for one in known.stores]
    names = [store.name for store in problem.network.stores]
    return replace(problem, stores={name: one[0] for name, one in zip(names, labels, strict=True) if one})


@dataclass
class _Kept:
    """The best selection so far in the problem's own terms."""

    problem: SelectionProblem
    rank: tuple[Any, ...] | None = None
    selection: Selection | None = None
    evaluations: int = 0

    def offer(self, selection: Selection) -> None:
        self.evaluations += 1
        rank = _rank(self.problem, selection)
        if rank is not None and (self.rank is None or rank < self.rank):
            self.rank, self.selection = rank, selection


def anneal(problem: SelectionProblem, effort: Effort) -> Outcome[Selection]:
    """Latency annealed from a random shape on, or from what is known; the best selection seen at any shape is judged by
    the objective."""
    start = effort.known(problem)
    builder = GraphBuilder(_laid(problem, None if start is None else start.mapping))
    draw = random.Random(effort.seed)
    rows, columns = shapes(problem)
    kept = _Kept(problem)
    if builder.nothing_left is not None or not len(rows):
        return outcome_of(problem, None, effort)
    sizes = [len(names) for names in builder.algorithms] + [len(builder.labels[at]) for at in builder.vertex]
    state = [draw.randrange(size) for size in sizes]
    array = _near(problem, square(problem), draw, rows, columns)
    if start is not None:
        state, array = builder.chosen(start.mapping), start.mapping.array
        kept.offer(start.mapping)
    current = _Descent(builder.graph_at(array), state)
    first = current.value
    for step in range(SHAPES):
        if effort.stopped() is not None:
            break
        heat = first * HOTTEST * (COLDEST / HOTTEST) ** (step / SHAPES)
        for _ in range(FLIPS):
            vertex = draw.randrange(len(sizes))
            current.flip(vertex, draw.randrange(sizes[vertex]), heat, draw)
        kept.offer(builder.selection(array, current.state))
        other = _near(problem, array, draw, rows, columns)
        moved = _Descent(builder.graph_at(other), list(current.state))
        if _accepted(moved.value - current.value, heat, draw):
            array, current = other, moved
    return outcome_of(problem, kept.selection, effort, kept.evaluations)


class _Descent:
    """A choice per vertex of one cost graph, and its value."""

    def __init__(self, graph: CostGraph, state: list[int]) -> None:
        self.state = state
        self.own = [costs[0].tolist() for costs in graph.vertices]
        self.terms: list[list[tuple[tuple[int, ...], Any]]] = [[] for _ in state]
        for scope, costs in graph.terms:
            for vertex in scope:
                self.terms[vertex].append((scope, costs[0]))
        self.value = int(graph.value(np.array([state]))[0])

    def flip(self, vertex: int, choice: int, heat: float, draw: random.Random) -> None:
        """Take another choice for a vertex if it is better, or not too much worse."""
        before = self.state[vertex]
        change = self.own[vertex][choice] - self.own[vertex][before]
        for scope, costs in self.terms[vertex]:
            one, other = (
                tuple(at if one == vertex else self.state[one] for one in scope) for at in (choice, before)
            )
            change += int(costs[one] - costs[other])
        if _accepted(change, heat, draw):
            self.state[vertex] = choice
            self.value += change


def _accepted(change: int, heat: float, draw: random.Random) -> bool:
    return change <= 0 or draw.random() < math.exp(-change / heat)


def _near(problem: SelectionProblem, array: Array, draw: random.Random, rows: Any, columns: Any) -> Array:
    """A shape near ``array`` that uses most of the PEs; any allowed one where that is not allowed."""
    high = max(1, round(array[0] * math.exp(draw.gauss(0, 0.3))))
    wide = max(1, problem.most_pes // high - draw.choice((0, 0, 1, 2)))
    if problem.allows((high, wide)):
        return high, wide
    at = draw.randrange(len(rows))
    return int(rows[at]), int(columns[at])


def draw_at_random(problem: SelectionProblem, effort: Effort) -> Outcome[Selection]:
    """Shapes and choices drawn evenly; the best one."""
    builder, draw = GraphBuilder(_laid(problem)), np.random.default_rng(effort.seed)
    rows, columns = shapes(problem)
    if builder.nothing_left is not None or not len(rows):
        return outcome_of(problem, None, effort)
    picked = draw.integers(len(rows), size=DRAWS)
    graph = builder.graph(rows[picked], columns[picked])
    states = np.stack([draw.integers(costs.shape[1], size=DRAWS) for costs in graph.vertices], -1)
    value = graph.value(states)
    kept = _Kept(problem)
    # The objective may be another than latency: the fastest few are judged by it.
    for best in np.argsort(value, kind="stable")[:16]:
        array = int(rows[picked[best]]), int(columns[picked[best]])
        kept.offer(builder.selection(array, [int(one) for one in states[best]]))
    return outcome_of(problem, kept.selection, effort, DRAWS)


ANNEALING: Method[SelectionProblem, Selection] = Method(
    "annealing", False, "simulated annealing over shapes, algorithms and formats", anneal
)
RANDOM: Method[SelectionProblem, Selection] = Method(
    "random", False, f"the best of {DRAWS} random shapes and selections", draw_at_random
)
