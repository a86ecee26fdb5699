"""A layer that is tuned against the clock is no worse than Algorithm 1 makes it."""

from __future__ import annotations

import time

import pytest

from mapper.arch.cgra import CgraMachine
from mapper.arch.source import load_machine
from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.models.modulo_schedule.network.algorithm import IM2COL
from mapper.solver.method import Effort
from mapper.solver.modulo_schedule.network.heuristic import tuning
from mapper.solver.modulo_schedule.network.heuristic.nest_tuning import NestTuning, Tried
from mapper.solver.modulo_schedule.network.heuristic.tuning import algorithm_1, exhaustive
from tests.codegen.modulo_schedule.small_layer import convolution_layer, window_of


def as_written(
    nest: NestTuning, effort: Effort, most: int, limit: float, last_resort: bool, layer: int, light: bool
) -> list[Tried]:
    """What is left of tuning a nest when the time is over: no loop unrolled."""
    one = nest.schedule(nest.as_written(next(nest.nest.innermost())), Effort())
    return [] if one is None else [one]


def test_a_cut_search_falls_back_to_algorithm_1(monkeypatch: pytest.MonkeyPatch) -> None:
    machine, _ = load_machine("srp-3x3")
    assert isinstance(machine, CgraMachine)
    problem = LayerProblem(convolution_layer((1, 3, 8, 8), 4, window_of(3)), machine, IM2COL)
    paper = algorithm_1(problem, Effort()).value
    monkeypatch.setattr(tuning, "tuned", as_written)
    plain = exhaustive(problem, Effort()).value
    limited = exhaustive(problem, Effort(deadline=time.monotonic() + 600)).value
    assert paper is not None and plain is not None
    assert limited == paper < plain
