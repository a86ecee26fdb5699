"""Least cost under physical rules: proven by branch and bound, equal to trying everything under every buffering."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given

from bench.measure import layer_problems
from mapper.arch.dataflow import PHYSICAL_RULES, DataflowMachine
from mapper.formulations.tiling.bound import bound_of
from mapper.formulations.tiling.problem import OBJECTIVES, Objective, TilingProblem
from mapper.models.tiling.cost import evaluate, quantities
from mapper.models.tiling.mapping import TilingMapping
from mapper.models.tiling.transfer import Passes
from mapper.sim.tiling.physical import simulate_physical
from mapper.solver.method import Effort, Method
from mapper.solver.tiling.exact.branch_and_bound import BRANCH_AND_BOUND
from mapper.solver.tiling.exact.brute_force import BRUTE_FORCE
from mapper.solver.tiling.exact.kernel_table import kernel_table
from mapper.solver.tiling.exact.pruning import NO_PRUNING
from mapper.solver.tiling.exact.search_table import build_table
from mapper.solver.tiling.exact.timeline_bound import least_timeline
from mapper.solver.tiling.program.bounded_table import BOUNDED_TABLE
from mapper.solver.tiling.program.constraint_program import CONSTRAINT_PROGRAM
from mapper.workloads.nest.loop_nest import AffineIndex, LoopNest, Operand
from tests.solver.sample import drawn
from tests.solver.tiling.oracle import mappings
from tests.solver.tiling.random_tiling import problems
from tests.solver.tiling.small import convolution, matrix_product, recurrence, small_machine

NESTS = {"product": matrix_product(2, 3, 4), "convolution": convolution(), "recurrence": recurrence()}
DMA = {"initiation_cycles": 3, "cycles_per_byte": 1.0, "clock_mhz": 500.0}


def physical(machine: DataflowMachine) -> DataflowMachine:
    return machine.model_copy(update={"rules": PHYSICAL_RULES})


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize(("rf", "spm"), [*product((True, False), repeat=2)])
@pytest.mark.parametrize("name", NESTS)
def test_branch_and_bound_finds_what_trying_everything_finds(
    name: str, rf: bool, spm: bool, objective: Objective
) -> None:
    sections: dict[str, Any] = {"rf": {"double_buffered": rf}, "spm": {"double_buffered": spm}, "dma": DMA}
    posed = TilingProblem(NESTS[name], physical(small_machine(**sections)), objective)
    found, tried = BRANCH_AND_BOUND.search(posed, Effort()), BRUTE_FORCE.search(posed, Effort())
    assert (found.proven, tried.proven) == (True, True)
    assert found.value == tried.value
    assert tried.value is not None and bound_of(posed) <= tried.value


@drawn(20)
@given(problems())
def test_no_timeline_is_shorter_than_its_bound(posed: TilingProblem) -> None:
    """The bound is of all orders with the same reuse; it sees tiles by their rows in the tables of the search."""
    assume(len(posed.nest.loops) <= 4)
    machine = physical(posed.machine)
    timed = TilingProblem(posed.nest, machine, "latency")
    tables = build_table(timed, NO_PRUNING)
    kernel, lattice = kernel_table(timed, tables), tables.lattice
    rows = {tuple(lattice.factors(point)): point for point in range(lattice.size)}
    room = np.empty((2, len(posed.nest.operands) + 1, 2), np.int64)
    for number, mapping in enumerate(mappings(timed)):
        if number % 7:
            continue
        q = quantities(posed.nest, machine, mapping)
        array = rows[tuple(mapping.trip_counts("rf", "spatial").values())]
        pad = rows[tuple(mapping.trip_counts("rf", "spatial", "spm").values())]
        passes = Passes(q.rf_passes, q.spm_passes, np.array(q.spm_reuse), np.array(q.dram_reuse))
        tiles = np.array([q.rf_tiles, q.spm_tiles])
        least = least_timeline(
            kernel, array, pad, passes, tiles, q.compute_cycles, sum(q.reduction_cycles), room
        )
        assert least <= evaluate(posed.nest, machine, mapping).cycles
        if number > 700:
            break


PAPER = {
    "conv5_1": (1_938_080, 3_255_088_636_041_625.5),
    "conv5_2": (2_441_920, 6_798_806_285_405_389.0),
}
"""Cycles and EDP (pJ*cycles) that were proven when this was written; the simulator's timeline confirms the first."""


@pytest.mark.parametrize("name", PAPER)
def test_layers_of_the_paper_are_proven_and_run_as_long_as_the_model_says(name: str) -> None:
    posed = layer_problems("edp")[name]
    timed = TilingProblem(posed.nest, physical(posed.machine), "edp")
    found = BRANCH_AND_BOUND.search(timed, Effort())
    published = BRANCH_AND_BOUND.search(posed, Effort())
    assert found.proven and found.mapping is not None and published.mapping is not None
    run = simulate_physical(posed.nest, posed.machine, found.mapping)
    assert (run.cycles, found.value) == PAPER[name]
    assert run.energy_pj * run.cycles == pytest.approx(found.value, rel=1e-12)
    optimum = timed.value(evaluate(posed.nest, timed.machine, found.mapping))
    assert optimum < timed.value(evaluate(posed.nest, timed.machine, published.mapping))


@pytest.mark.parametrize("method", [CONSTRAINT_PROGRAM, BOUNDED_TABLE], ids=lambda method: method.name)
def test_programs_say_that_they_know_no_timeline(method: Method[TilingProblem, TilingMapping]) -> None:
    outcome = method.search(TilingProblem(matrix_product(), physical(small_machine()), "edp"), Effort())
    assert (outcome.proven, outcome.mapping) == (False, None)
    assert any("timeline" in restriction for restriction in outcome.restrictions)


def test_more_loops_than_orders_are_timed_of_are_refused() -> None:
    names = "abcdefghi"
    index = tuple(AffineIndex(((name, 1),)) for name in names[:8])
    operands = (
        Operand("O", index, "read_write", (2,) * 8),
        Operand("A", (AffineIndex((("i", 1),)),), "read", (2,)),
    )
    nest = LoopNest("nine", tuple((name, 2) for name in names), operands)
    outcome = BRANCH_AND_BOUND.search(TilingProblem(nest, physical(small_machine()), "edp"), Effort())
    assert not outcome.proven
    assert any("9 loops, more than the 8" in restriction for restriction in outcome.restrictions)
