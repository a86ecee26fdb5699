"""Every shape with every selection, by the model alone: the oracle for small problems."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.formulations.algorithm_selection.program.shape import shapes
from mapper.formulations.algorithm_selection.referee.verify import verify
from mapper.models.algorithm_selection.choice import Choice
from mapper.models.algorithm_selection.mapping import Selection, reader_label
from mapper.models.algorithm_selection.resource import lanes_of
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome

MOST_SELECTIONS = 1_000_000


def brute_force(problem: SelectionProblem, effort: Effort) -> Outcome[Selection]:
    """Judge every selection; the best one is proven if all were seen."""
    if _count(problem) > MOST_SELECTIONS:
        return Outcome.refused(f"more than {MOST_SELECTIONS} are not tried")
    best: tuple[tuple[Any, ...], Selection, int | float] | None = None
    seen = 0
    for selection in _selections(problem):
        stop = effort.stopped() if seen % 256 == 0 else None
        if stop is not None:
            found = None if best is None else best[1]
            value = None if best is None else best[2]
            return Outcome.bounded(found, value, None, stop, evaluations=seen)
        seen += 1
        verdict = verify(problem, selection)
        if verdict.valid and verdict.cost is not None:
            rank = problem.rank(verdict.cost)
            if best is None or rank < best[0]:
                best = rank, selection, problem.value(verdict.cost)
    if best is None:
        return Outcome.infeasible(evaluations=seen)
    return Outcome.optimal(best[1], best[2], evaluations=seen)


def _count(problem: SelectionProblem) -> int:
    """The most selections that are tried, over all shapes."""
    network = problem.network
    layers = [len(_choices(problem, at)) for at in range(len(network.layers))]
    stores = [len(problem.labels(at)) for at, store in enumerate(network.stores) if store.vertex]
    return len(shapes(problem)[0]) * math.prod((*layers, *stores)) << len(_keepable(problem))


def _keepable(problem: SelectionProblem) -> list[int]:
    """The edges that may stay on the chip; of the generated overlay they do wherever they fit."""
    if not problem.machine.traffic.onchip_bytes or problem.machine.engines is not None:
        return []
    return [at for at, store in enumerate(problem.network.stores) if not store.vertex]


def _selections(problem: SelectionProblem) -> Iterator[Selection]:
    network = problem.network
    layers = [_choices(problem, at) for at in range(len(network.layers))]
    on_chip = _keepable(problem)
    rows, columns = shapes(problem)
    for high, wide in zip(rows.tolist(), columns.tolist(), strict=True):
        fitting = sorted(network.staying.get(lanes_of(max(high, wide)), ()))
        for choices in itertools.product(*layers):
            for labels in itertools.product(*_labels(problem, choices)):
                for count in range(len(on_chip) + 1):
                    for kept in itertools.combinations(on_chip, count):
                        yield Selection((high, wide), choices, labels, (*kept, *fitting))


def _choices(problem: SelectionProblem, at: int) -> list[Choice]:
    return [
        Choice(algorithm, dataflow, parts)
        for algorithm in problem.algorithms(at)
        for dataflow in problem.dataflows(at)
        for parts in problem.parts(at, algorithm)
    ]


def _labels(problem: SelectionProblem, choices: tuple[Choice, ...]) -> list[tuple[str, ...]]:
    """The formats of every tensor: all it may have, or what its only reader wants."""
    network = problem.network
    return [
        problem.labels(at)
        if store.vertex
        else (reader_label(network, at, choices[store.readers[0]].algorithm),)
        for at, store in enumerate(network.stores)
    ]


BRUTE_FORCE: Method[SelectionProblem, Selection] = Method(
    "brute-force", True, "every shape with every selection; for small problems", brute_force
)
