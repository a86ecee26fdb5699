"""Loops of tuned layers are decided exactly."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest

from mapper.arch.cgra import CgraMachine
from mapper.arch.source import load_machine
from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.formulations.modulo_schedule.network.referee.verify import verify_layer
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.referee.verify import verify
from mapper.kind.modulo_schedule.layer_part import NamedLayer
from mapper.models.modulo_schedule.bound import mii
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.models.modulo_schedule.network.cost import evaluate_layer
from mapper.models.modulo_schedule.network.mapping import LayerMapping, LoopMapping, kernel_of
from mapper.models.modulo_schedule.network.nest import Box, Nest
from mapper.solver.method import Effort
from mapper.solver.modulo_schedule.heuristic.iterative import ITERATIVE
from mapper.solver.modulo_schedule.network.exact.loop_proof import tuned_and_decided, tuned_and_tightened
from mapper.solver.modulo_schedule.network.heuristic.loop_schedule import decided_loop, forget, tightened_loop
from mapper.solver.modulo_schedule.network.heuristic.tuning import exhaustive
from mapper.solver.outcome import Outcome
from mapper.workloads.graph.kernel import Kernel
from tests.codegen.modulo_schedule.small_layer import layer_of

SHAPE = (1, 2, 3, 4)
SECONDS = 4.0
BOX = Box((0,), (24,), (1,), "p")


def small() -> tuple[LayerProblem, Nest, Kernel]:
    machine, _ = load_machine("srp-2x2")
    assert isinstance(machine, CgraMachine)
    problem = LayerProblem(layer_of("activation", "Relu", SHAPE, SHAPE), machine)
    nest = problem.choices[0].nests[0]
    return problem, nest, kernel_of(nest, BOX)


def late(problem: LayerProblem, kernel: Kernel, above: int) -> ModuloSchedule:
    """A schedule with an II so much above MII."""
    least = mii(kernel.graph, problem.machine).value
    posed = ModuloProblem(kernel, problem.machine, fixed_ii=least + above)
    found = ITERATIVE.search(posed, Effort()).mapping
    assert found is not None and found.ii == least + above
    return found


def test_a_loop_above_its_least_interval_is_bettered_and_proven() -> None:
    problem, _, kernel = small()
    found = decided_loop(kernel, problem.machine, late(problem, kernel, 2), Effort())
    assert found.proven and found.mapping is not None and found.mapping.ii == found.bound
    assert found.bound == mii(kernel.graph, problem.machine).value
    assert not verify(ModuloProblem(kernel, problem.machine), found.mapping).broken


def test_without_time_nothing_is_claimed_of_a_loop_beyond_its_bound() -> None:
    problem, _, kernel = small()
    forget()
    found = decided_loop(kernel, problem.machine, late(problem, kernel, 2), Effort(time.monotonic()))
    assert not found.proven and found.stop == "time_limit"
    assert found.bound == mii(kernel.graph, problem.machine).value


def test_a_decided_layer_is_valid_and_no_worse_than_a_tuned_one() -> None:
    problem, _, _ = small()
    tuned = exhaustive(problem, Effort())
    decided = tuned_and_decided(problem, Effort(time.monotonic() + SECONDS))
    assert decided.mapping is not None and not verify_layer(problem, decided.mapping).broken
    assert tuned.value is not None and decided.value is not None
    assert decided.value <= tuned.value and decided.bound == tuned.bound


def test_little_work_finds_a_smaller_interval_of_a_loop_and_claims_nothing() -> None:
    problem, _, kernel = small()
    forget()
    slow = late(problem, kernel, 2)
    found = tightened_loop(kernel, problem.machine, slow, Effort())
    assert found.mapping is not None and found.mapping.ii < slow.ii
    assert not found.proven and found.bound is None
    assert not verify(ModuloProblem(kernel, problem.machine), found.mapping).broken
    forget()
    assert tightened_loop(kernel, problem.machine, slow, Effort(time.monotonic())).mapping == slow


def test_a_layer_whose_loop_is_late_is_tightened_to_fewer_cycles_above_the_same_bound() -> None:
    problem, _, kernel = small()
    algorithm = problem.choices[0]
    loops = LayerMapping(algorithm.name, (LoopMapping(0, BOX, None, late(problem, kernel, 3)),))
    cycles = evaluate_layer(algorithm, problem.layer.op, problem.machine, loops).cycles
    tuned = Outcome.bounded(loops, cycles, 1, "heuristic")
    tightened = tuned_and_tightened(problem, tuned, Effort())
    assert tightened.mapping is not None and not verify_layer(problem, tightened.mapping).broken
    assert tightened.value is not None and tightened.value < cycles
    assert (tightened.bound, tightened.proven, tightened.restrictions) == (1, False, ())


@pytest.mark.parametrize(("least", "proven"), [(None, False), (0, False), (1, True)])
def test_a_loop_is_certified_by_what_a_search_has_left(least: int | None, proven: bool) -> None:
    problem, _, kernel = small()
    schedule = late(problem, kernel, 1)
    claimed = None if least is None else schedule.ii - 1 + least
    loop = replace(LoopMapping(0, BOX, None, schedule), least_ii=claimed)
    layer = NamedLayer(problem, LayerMapping(problem.choices[0].name, (loop,)))
    certificate: dict[str, Any] = layer.to_json()["loops"][0]["certificate"]
    assert certificate["proven"] is proven
    assert certificate["bound"] == (schedule.ii if proven else schedule.ii - 1)
