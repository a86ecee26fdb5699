"""Tables of tiles, bounded by floors and a dive, hold the best mapping, which CP-SAT finds in them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.arch.dataflow import DataflowMachine, dataflow_from_document
from mapper.arch.source import load_machine
from mapper.formulations.tiling.problem import OBJECTIVES, Objective, Pins, TilingProblem
from mapper.formulations.tiling.program.table.reduction import Watch, reduce_tables
from mapper.formulations.tiling.program.table.tables import TilingTables
from mapper.formulations.tiling.referee.verify import verify
from mapper.models.tiling.cost import evaluate
from mapper.solver.method import Effort
from mapper.solver.tiling.exact.branch_and_bound import branch_and_bound
from mapper.solver.tiling.exact.brute_force import BRUTE_FORCE
from mapper.solver.tiling.program.bounded_table import BOUNDED_TABLE
from mapper.workloads.nest.layer_nest import Convolution, convolution_nest, matrix_product_nest
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.source import load_network

KNOWN = {"conv5_2": 6844957271165824, "conv5_1": 7907995514759424}


def small_machine(rf_bytes: int = 16, rules: dict[str, str] | None = None) -> DataflowMachine:
    """The preset with four PEs, few registers and a scratch-pad of eight banks."""
    preset, _ = load_machine("dmazerunner-256")
    fields: dict[str, Any] = preset.model_dump(mode="json", by_alias=True)
    fields["pe_array"] |= {"rows": 2, "columns": 2}
    fields["rf"] |= {"bytes": rf_bytes}
    fields["spm"] |= {"bytes": 256, "bank_bytes": 16}
    fields["energy_pj"] |= {"rf": 0.06, "spm": 4.0}
    fields["rules"] |= rules or {}
    return dataflow_from_document(fields, "small machine")


def product() -> LoopNest:
    return matrix_product_nest("product", (), 2, 3, 4)


def solved(problem: TilingProblem) -> int | float | None:
    outcome = BOUNDED_TABLE.search(problem, Effort())
    assert outcome.proven
    if outcome.mapping is not None:
        verdict = verify(problem, outcome.mapping)
        assert not verdict.broken
        assert verdict.cost is not None and problem.value(verdict.cost) == outcome.value == outcome.bound
    return outcome.value


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize(
    "nest",
    [
        product(),
        matrix_product_nest("batched", (2,), 2, 2, 2, (True,)),
        convolution_nest("strided", Convolution(1, 2, 1, (5,), (3,), (2,), (1,), ((0, 0),))),
    ],
    ids=lambda nest: nest.name,
)
def test_the_program_finds_what_brute_force_finds(nest: LoopNest, objective: Objective) -> None:
    problem = TilingProblem(nest, small_machine(), objective)
    assert solved(problem) == BRUTE_FORCE.search(problem, Effort()).value


@pytest.mark.parametrize("rules", [{"partial_sums": "first_visit_free"}, {"stored_extent": "touched"}])
def test_the_physical_rules_are_in_the_program_too(rules: dict[str, str]) -> None:
    problem = TilingProblem(product(), small_machine(rules=rules), "edp")
    assert solved(problem) == BRUTE_FORCE.search(problem, Effort()).value


@pytest.mark.parametrize(
    "fixed", [{"spatial": "I,J"}, {"K.rf": "2"}, {"order.dram": "K", "order.spm": "J,I"}, {"K.spm": "4"}]
)
def test_pinned_decisions_are_in_the_program(fixed: dict[str, str]) -> None:
    nest = product()
    problem = TilingProblem(nest, small_machine(), "edp", Pins.parse(fixed, nest))
    assert solved(problem) == BRUTE_FORCE.search(problem, Effort()).value


def test_a_nest_that_fits_no_register_file_is_proven_infeasible() -> None:
    problem = TilingProblem(product(), small_machine(rf_bytes=4), "edp")
    outcome = BOUNDED_TABLE.search(problem, Effort())
    assert outcome.mapping is None and outcome.proven


@settings(derandomize=True, deadline=None, max_examples=25)
@given(
    sizes=st.tuples(*[st.sampled_from([1, 2, 3, 4, 6])] * 3),
    objective=st.sampled_from(OBJECTIVES),
    rf_bytes=st.sampled_from([8, 12, 16, 32]),
)
def test_two_exact_methods_agree(sizes: tuple[int, int, int], objective: Objective, rf_bytes: int) -> None:
    problem = TilingProblem(matrix_product_nest("drawn", (), *sizes), small_machine(rf_bytes), objective)
    assert solved(problem) == branch_and_bound(problem, Effort()).value


@pytest.mark.parametrize("layer", KNOWN)
def test_the_papers_layers_are_proven_from_tables(layer: str) -> None:
    nest = load_network(f"resnet-dmazerunner/{layer}").layers[0].nest
    machine, _ = load_machine("dmazerunner-256")
    assert solved(TilingProblem(nest, machine, "edp")) == KNOWN[layer]


@pytest.mark.slow
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("layer", ["conv1", "conv2_2", "conv3_2", "conv4_2", "conv5_1", "conv5_2"])
def test_tables_and_branch_and_bound_agree_on_every_layer(layer: str, objective: Objective) -> None:
    nest = load_network(f"resnet-dmazerunner/{layer}").layers[0].nest
    machine, _ = load_machine("dmazerunner-256")
    problem = TilingProblem(nest, machine, objective)
    assert solved(problem) == branch_and_bound(problem, Effort()).value


def test_the_incumbents_value_is_the_models() -> None:
    problem = TilingProblem(product(), small_machine(), "edp")
    reduction = reduce_tables(TilingTables.of(problem, Watch().proceed), Watch())
    assert reduction.incumbent is not None
    cost = evaluate(problem.nest, problem.machine, reduction.incumbent)
    assert reduction.value == problem.value(cost)
