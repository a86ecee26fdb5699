"""The paper's baselines bl1 to bl5 [Meng2021, sec. 6.1], and the choice of each layer by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import isqrt

from mapper.formulations.algorithm_selection.problem import Pin, SelectionProblem
from mapper.models.algorithm_selection.choice import Algorithm, Dataflow
from mapper.models.algorithm_selection.mapping import Selection
from mapper.models.algorithm_selection.overlay.layer import DATAFLOWS
from mapper.models.algorithm_selection.product import best_dataflow, cycles
from mapper.solver.algorithm_selection.exact.fixed import Array, outcome_of, solve_at
from mapper.solver.algorithm_selection.heuristic.algorithm_one import algorithm_one
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome

Baseline = Method[SelectionProblem, Selection]
NON_STATIONARY: frozenset[Dataflow] = frozenset({"NS"})
PREFERRED: dict[str, tuple[Algorithm, ...]] = {
    "bl3": ("im2col",),
    "bl4": ("kn2row", "im2col"),
    "bl5": ("winograd", "winograd-4x4", "im2col"),
}


def square(problem: SelectionProblem) -> Array:
    """The largest square array, or the one that is given."""
    side = isqrt(problem.most_pes)
    return problem.array or (side, side)


def _pinned(
    problem: SelectionProblem, chosen: Mapping[str, Algorithm], dataflows: frozenset[Dataflow] | None = None
) -> SelectionProblem:
    """``problem`` with every layer's algorithm given, and its dataflows narrowed where its own pins allow it."""
    pins = {}
    for at, layer in enumerate(problem.network.layers):
        allowed = frozenset(problem.dataflows(at))
        narrowed = allowed & dataflows if dataflows is not None else allowed
        parts = problem.pins.get(layer.name, Pin()).parts
        pins[layer.name] = Pin(frozenset({chosen[layer.name]}), narrowed or allowed, parts)
    return replace(problem, pins=pins)


def _published_choice(problem: SelectionProblem) -> dict[str, Algorithm] | None:
    """The algorithms of the paper's flow: Algorithm 1 and its PBQP."""
    array = algorithm_one(problem)
    found = None if array is None else solve_at(problem, array)
    if found is None:
        return None
    return {
        name: choice.algorithm
        for name, choice in zip(problem.network.names, found.selection.choices, strict=True)
    }


def _first_of(problem: SelectionProblem, preferred: tuple[Algorithm, ...]) -> dict[str, Algorithm]:
    """For every layer the first preferred algorithm that it may have, else the first it may have."""
    chosen: dict[str, Algorithm] = {}
    for at, layer in enumerate(problem.network.layers):
        allowed = problem.algorithms(at)
        chosen[layer.name] = next((one for one in preferred if one in allowed), allowed[0])
    return chosen


def _least_alone(problem: SelectionProblem, array: Array) -> dict[str, Algorithm]:
    """For every layer the algorithm of the least computation time."""
    chosen: dict[str, Algorithm] = {}
    for at, layer in enumerate(problem.network.layers):
        dataflows = problem.dataflows(at) or DATAFLOWS
        taken = {}
        for one in problem.algorithms(at):
            best = best_dataflow(layer, one, array, problem.machine, dataflows)
            taken[one] = sum(cycles(layer, one, best, array, problem.machine))
        chosen[layer.name] = min(taken, key=lambda one: taken[one])
    return chosen


def _square_ns(problem: SelectionProblem) -> Selection | None:
    chosen = _published_choice(problem)
    return _selection(problem, square(problem), chosen, NON_STATIONARY)


def _algorithm_ns(problem: SelectionProblem) -> Selection | None:
    return _selection(problem, algorithm_one(problem), _published_choice(problem), NON_STATIONARY)


def _preferring(name: str) -> Callable[[SelectionProblem], Selection | None]:
    def one_algorithm(problem: SelectionProblem) -> Selection | None:
        array = algorithm_one(problem)
        return None if array is None else _selection(problem, array, _first_of(problem, PREFERRED[name]))

    return one_algorithm


def _greedy(problem: SelectionProblem) -> Selection | None:
    array = algorithm_one(problem)
    return None if array is None else _selection(problem, array, _least_alone(problem, array))


def _selection(
    problem: SelectionProblem,
    array: Array | None,
    chosen: Mapping[str, Algorithm] | None,
    dataflows: frozenset[Dataflow] | None = None,
) -> Selection | None:
    if array is None or chosen is None or not problem.allows(array):
        return None
    found = solve_at(_pinned(problem, chosen, dataflows), array)
    return None if found is None else found.selection


def _method(name: str, summary: str, choose: Callable[[SelectionProblem], Selection | None]) -> Baseline:
    def search(problem: SelectionProblem, effort: Effort) -> Outcome[Selection]:
        return outcome_of(problem, choose(problem), effort, 1, (summary,))

    return Method(name, False, summary, search)


GREEDY = _method("greedy", "every layer's fastest algorithm by itself, on Algorithm 1's array", _greedy)
BASELINES: tuple[Baseline, ...] = (
    _method("bl1", "the paper's algorithms on the largest square array, only non-stationary", _square_ns),
    _method("bl2", "the paper's algorithms on Algorithm 1's array, only non-stationary", _algorithm_ns),
    _method("bl3", "only im2col, on Algorithm 1's array", _preferring("bl3")),
    _method("bl4", "kn2row where possible, on Algorithm 1's array", _preferring("bl4")),
    _method("bl5", "Winograd where possible, on Algorithm 1's array", _preferring("bl5")),
)
