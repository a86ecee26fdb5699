"""Random layers: no cover, however drawn, has kernels that could take fewer cycles than the bounds on its layer."""

from __future__ import annotations

import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mapper.arch.cgra import CgraMachine
from mapper.formulations.modulo_schedule.network.bound import ideal_cycles
from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.formulations.modulo_schedule.network.referee.verify import verify_layer
from mapper.models.modulo_schedule.bound import mii
from mapper.models.modulo_schedule.latency import edge_latency
from mapper.models.modulo_schedule.network.cost import live_ins, load_cycles, outside_cycles, set_up_cycles
from mapper.models.modulo_schedule.network.estimate import Estimator
from mapper.models.modulo_schedule.network.mapping import kernel_of
from mapper.models.modulo_schedule.network.nest import Box, Nest
from mapper.solver.method import Effort
from mapper.solver.modulo_schedule.network.heuristic.nest_tuning import NestTuning
from mapper.solver.modulo_schedule.network.heuristic.tuning import algorithm_1, exhaustive, unoptimised
from mapper.workloads.graph.kernel import Kernel
from tests.codegen.modulo_schedule.small_layer import drawn_cover
from tests.solver.modulo_schedule.random_layer import layer_problems
from tests.solver.sample import QUICK, THOROUGH, counts, drawn

USES = (2, 4, None)
SECONDS = 0.5
"""For a tuner: of what it finds every bit is looked at, not how much it is."""


def longest_path(kernel: Kernel, machine: CgraMachine) -> int:
    """Cycles from the first issue of an iteration to the issue of its last operation, whatever the resources."""
    graph = kernel.graph
    issue = [0] * len(graph.operations)
    for _ in graph.operations:
        for edge in graph.edges:
            if edge.distance == 0:
                due = issue[edge.source] + edge_latency(graph, machine, edge)
                issue[edge.destination] = max(issue[edge.destination], due)
    return max(issue)


def least_cycles(nest: Nest, box: Box, kernel: Kernel, machine: CgraMachine) -> int:
    """Cycles that no schedule of the box's own kernel goes below: its stages span its longest path, at any II."""
    least, path = mii(kernel.graph, machine).value, longest_path(kernel, machine)
    once = min((box.trip_count(nest) + path // ii) * ii for ii in range(least, least + path + 1))
    started = box.runs(nest) * (once + set_up_cycles(machine, live_ins(kernel)))
    return started + load_cycles(machine, least)


@pytest.mark.parametrize("count", counts(max(25, QUICK // 2), THOROUGH // 10))
def test_no_cover_of_a_layer_can_take_fewer_cycles_than_its_bounds(count: int) -> None:
    met = Counter[str]()

    @drawn(count)
    @given(layer_problems(), st.integers(0, 1 << 30), st.sampled_from(USES))
    def holds(problem: LayerProblem, seed: int, uses: int | None) -> None:
        machine, estimator = problem.machine, Estimator(problem.machine)
        ideal = ideal_cycles(problem)
        for algorithm in problem.space:
            taken = bound = sum(outside_cycles(algorithm, problem.layer.op, machine))
            for nest in algorithm.nests:
                tuning = NestTuning(nest, machine, estimator)
                legal = list(nest.innermost())
                innermost = legal[seed % len(legal)]
                least = min(tuning.bound(name) for name in legal)
                boxes = drawn_cover(nest, innermost, seed)
                cycles = sum(least_cycles(nest, box, kernel_of(nest, box, uses), machine) for box in boxes)
                assert least <= cycles, (algorithm.name, nest.name, boxes)
                met["boxes"] += len(boxes)
                met["nests"] += 1
                taken, bound = taken + cycles, bound + least
            assert ideal <= taken, algorithm.name
            met["ideal bounds that are met"] += ideal == bound

    holds()
    assert met["boxes"] > met["nests"] > count, met


@pytest.mark.parametrize("count", counts(max(2, QUICK // 10), THOROUGH // 100))
def test_tuned_layers_are_valid_and_no_better_than_any_bound(count: int) -> None:
    @drawn(count)
    @given(layer_problems())
    def holds(problem: LayerProblem) -> None:
        ideal = ideal_cycles(problem)
        outcomes = [
            search(problem, Effort(time.monotonic() + SECONDS))
            for search in (unoptimised, algorithm_1, exhaustive)
        ]
        bounds = [outcome.bound for outcome in outcomes if outcome.bound is not None]
        for outcome in outcomes:
            if outcome.mapping is None:
                continue
            assert outcome.value is not None
            verdict = verify_layer(problem, outcome.mapping)
            assert verdict.broken == () and verdict.cost is not None and verdict.cost.cycles == outcome.value
            assert max(ideal, *bounds) <= outcome.value

    holds()
