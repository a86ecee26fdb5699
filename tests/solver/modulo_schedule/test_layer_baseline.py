"""The baselines of tuned layers: sums in registers, and sums in memory as Fig. 3(a) is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mapper.arch.cgra import CgraMachine
from mapper.arch.source import load_machine
from mapper.formulations.modulo_schedule.network.bound import ideal_cycles
from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.formulations.modulo_schedule.network.referee.verify import verify_layer
from mapper.models.modulo_schedule.network.baseline import baselines
from mapper.models.modulo_schedule.network.mapping import LayerMapping
from mapper.sim.modulo_schedule.layer import report_layer
from mapper.solver.method import Effort
from mapper.solver.modulo_schedule.network.heuristic.tuning import exhaustive, sums_in_memory, unoptimised
from mapper.solver.outcome import Outcome
from mapper.workloads.reference.layer import layer_results
from mapper.workloads.source import load_layers
from tests.codegen.modulo_schedule.layer_program import drawn, program_of, same_bits, weights_of
from tests.codegen.modulo_schedule.small_layer import activation, product_layer

Search = Callable[[LayerProblem, Effort], Outcome[LayerMapping]]


def machine(name: str) -> CgraMachine:
    found = load_machine(name)[0]
    assert isinstance(found, CgraMachine)
    return found


def interval(mapping: LayerMapping | None) -> int:
    """The II of the product, whose body is one multiply-accumulate."""
    assert mapping is not None
    return next(loop.schedule.ii for loop in mapping.loops if loop.nest == 1)


@pytest.mark.parametrize("array", ["srp-2x2", "srp-4x4"])
def test_a_sum_in_a_register_takes_an_addition_for_each_product(array: str) -> None:
    problem = LayerProblem(load_layers("lenet5/conv2").layers[0], machine(array))
    assert interval(unoptimised(problem, Effort()).mapping) == problem.machine.latency("fadd") == 3


def test_a_sum_in_memory_waits_for_its_load_and_store() -> None:
    problem = LayerProblem(load_layers("lenet5/conv2").layers[0], machine("srp-4x4"))
    assert interval(sums_in_memory(problem, Effort()).mapping) >= 16 + 3 + 1


@pytest.mark.parametrize("search", [unoptimised, sums_in_memory])
def test_a_baseline_is_accepted_by_the_referee_and_runs(search: Search) -> None:
    problem = LayerProblem(load_layers("lenet5/gemm2").layers[0], machine("srp-2x2"))
    mapping = search(problem, Effort()).mapping
    assert mapping is not None and not verify_layer(problem, mapping).broken
    found = report_layer(problem, mapping)
    assert found["outputs_equal"] and found["agrees"]
    assert ideal_cycles(problem) <= found["cycles"]


def test_the_tuner_is_no_worse_than_a_sum_of_one_output_in_a_register() -> None:
    problem = LayerProblem(product_layer(1, 64, 1, activation("Relu")), machine("srp-4x4"))
    tuned, plain = exhaustive(problem, Effort()), unoptimised(problem, Effort())
    assert tuned.value is not None and plain.value is not None and tuned.bound is not None
    assert tuned.bound <= tuned.value <= plain.value


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_sums_in_registers_are_those_of_the_reference(seed: int, tmp_path: Path) -> None:
    layer = product_layer(3, 13, 7)
    data, weights = drawn((3, 13), seed), weights_of(layer)
    algorithm, _ = baselines(layer, machine("srp-4x4"))
    assert algorithm.nests[1].in_register
    output = np.full((3, 7), np.nan, np.float32)
    program_of(algorithm, seed, tmp_path).run(
        {"a": weights["w"], "b": data, "bias": weights["b"], "c": output}
    )
    assert same_bits(output, layer_results(layer, (data,), weights)[0])
