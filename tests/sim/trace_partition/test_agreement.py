"""The cost model's cycles of every layer are within 5 % of the cycle simulator's, and mostly within 1 %."""

from __future__ import annotations

import pytest

from mapper.models.trace_partition.cost import evaluate
from mapper.sim.trace_partition.cycle.simulation import simulate_cycles
from tests.sim.trace_partition.case import Case, case

SMALL = ["lenet5", "cifar10", "mnist-tcpa"]
SLOW = ["alexnet-one-tower", "lightcnn9", "resnet18", "googlenet", "resnet50"]


def differences(one: Case, of_bytes: float = 0.005) -> dict[str, float]:
    """By layer, how much more cycles the model has than the simulator, as a fraction. All layers' bytes differ by no
    more than ``of_bytes``."""
    problem = one.problem
    cost = evaluate(problem.network, problem.machine, problem.configuration, one.partition)
    simulated = simulate_cycles(one.program, problem.machine, in_step=problem.configuration.sharing == 1)
    assert not simulated.hazards
    found = {}
    for layer, part in zip(problem.network.traced, cost.layers, strict=True):
        cycles = simulated.layer(layer.name).cycles
        found[layer.name] = part.cycles / cycles - 1
    total = sum(simulated.layer(layer.name).dram_bytes for layer in problem.network.traced)
    assert cost.dram_bytes == pytest.approx(total, rel=of_bytes)
    return found


def agree(workload: str, configuration: str) -> None:
    found = differences(case(workload, configuration))
    assert max(map(abs, found.values())) < 0.05, found
    near = sum(abs(difference) < 0.01 for difference in found.values())
    assert near >= 0.6 * len(found), found


def agree_at_least_latency(workload: str, clusters: int) -> None:
    # Instructions are loaded in whole banks, which counts in programs as short as these, most where tiles are many.
    found = differences(case(workload, f"1f1i{clusters}c", "auto", clusters), 0.03)
    assert max(map(abs, found.values())) < 0.05, found


@pytest.mark.parametrize("configuration", ["1f1i1c", "1f1i2c", "1f2i2c"])
def test_every_layer_takes_the_time_that_was_predicted(configuration: str) -> None:
    agree("squeezenet", configuration)


@pytest.mark.slow
@pytest.mark.parametrize("configuration", ["1f1i1c", "1f1i2c", "1f2i2c"])
@pytest.mark.parametrize("workload", SLOW)
def test_every_layer_of_larger_networks_does_too(workload: str, configuration: str) -> None:
    agree(workload, configuration)


def test_small_layers_of_the_least_latency_do_too() -> None:
    agree_at_least_latency("lenet5", 1)


@pytest.mark.slow
@pytest.mark.parametrize("clusters", [1, 2, 4])
@pytest.mark.parametrize("workload", SMALL)
def test_all_small_networks_do_on_one_image_whatever_the_clusters(workload: str, clusters: int) -> None:
    agree_at_least_latency(workload, clusters)


@pytest.mark.slow
@pytest.mark.parametrize("workload", ["alexnet-one-tower", "squeezenet", "resnet18"])
def test_larger_networks_of_the_least_latency_do_on_one_image(workload: str) -> None:
    agree_at_least_latency(workload, 2)
