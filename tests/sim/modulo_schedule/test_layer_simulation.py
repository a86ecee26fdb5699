"""Layers of a network on the array: their loops' memory is right, and the cycles are those of the model."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import pytest

from mapper.arch.cgra import CgraMachine
from mapper.arch.source import load_machine
from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.models.modulo_schedule.mapping import Placement
from mapper.models.modulo_schedule.network.cost import evaluate_layer
from mapper.models.modulo_schedule.network.mapping import LayerMapping, LoopMapping, kernel_of
from mapper.models.modulo_schedule.network.nest import Access, Box, Nest
from mapper.sim.modulo_schedule import report
from mapper.sim.modulo_schedule.layer import MOST_WORDS, report_layer
from mapper.sim.modulo_schedule.layer import beginning as beginning_of
from mapper.solver.method import Effort
from mapper.solver.modulo_schedule.network.heuristic.loop_schedule import loop_schedule
from mapper.solver.modulo_schedule.network.heuristic.tuning import exhaustive
from mapper.workloads.source import load_layers


def machine() -> CgraMachine:
    found = load_machine("srp-4x4")[0]
    assert isinstance(found, CgraMachine)
    return found


@lru_cache(maxsize=8)
def tuned(number: int) -> tuple[LayerProblem, LayerMapping]:
    """Layer ``number`` of the network, mapped."""
    problem = LayerProblem(load_layers("lenet5").layers[number], machine())
    mapping = exhaustive(problem, Effort(), 1, light=True).mapping
    assert mapping is not None
    return problem, mapping


@pytest.mark.parametrize("number", [3, 5])
def test_the_loops_of_a_layer_leave_the_right_memory_in_the_cycles_of_the_model(number: int) -> None:
    problem, mapping = tuned(number)
    algorithm = problem.choice(mapping.algorithm)
    model = evaluate_layer(algorithm, problem.layer.op, problem.machine, mapping)
    found = report_layer(problem, mapping)
    assert found["outputs_equal"] and found["agrees"] and found["max_error"] == 0.0
    assert found["cost_simulated"] == model.cost_json()
    assert [loop["nest"] for loop in found["loops"]] == [
        algorithm.nests[loop.nest].name for loop in mapping.loops
    ]


def test_the_same_seed_gives_the_same_report() -> None:
    assert report_layer(*tuned(3), seed=3) == report_layer(*tuned(3), seed=3)


def test_a_loop_whose_operations_come_too_early_is_noticed() -> None:
    problem, mapping = tuned(3)
    first = mapping.loops[0]
    graph = kernel_of(
        problem.choice(mapping.algorithm).nests[first.nest], first.box, first.pointer_uses
    ).graph
    store = next(at for at, operation in enumerate(graph.operations) if operation.opcode == "store")
    placements = list(first.schedule.placements)
    placements[store] = Placement(placements[store].pe, placements[store].time - 1)
    early = replace(first.schedule, placements=tuple(placements))
    found = report_layer(
        problem, replace(mapping, loops=(replace(first, schedule=early), *mapping.loops[1:]))
    )
    assert not (found["outputs_equal"] and found["agrees"])


def test_a_loop_over_more_memory_than_there_may_be_is_run_for_its_first_iterations() -> None:
    rows, depth = 100_000, 5000
    nest = Nest(
        "gemm",
        (("i", rows), ("j", 1), ("k", depth)),
        "multiply_add",
        Access("c", (("i", 1), ("j", 1))),
        (Access("a", (("i", depth), ("k", 1))), Access("b", (("k", 1), ("j", 1)))),
    )
    whole = Box((0, 0, 0), (rows, 1, depth), (1, 1, 1), "i")
    kernel = kernel_of(nest, whole)
    schedule = loop_schedule(kernel, machine(), Effort()).mapping
    assert schedule is not None
    short = beginning_of(kernel, nest, LoopMapping(0, whole, None, schedule))
    assert short.graph == kernel.graph and (short.trip_count or 0) < rows
    assert sum(array.words for array in short.arrays) < 2 * MOST_WORDS
    found = report(short, machine(), schedule)
    assert found["agrees"] and found["outputs_equal"]
