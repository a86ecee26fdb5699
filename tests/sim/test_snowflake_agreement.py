"""The cost model's cycles of every layer are within 5 % of the cycle simulator's, and mostly within 1 %."""

from __future__ import annotations

import pytest

from mapper.models.trace_partition.cost import evaluate
from mapper.sim.trace_partition.cycle import simulate_cycles
from tests.sim.snowflake_case import case

SLOW = ["alexnet-one-tower", "lightcnn9", "resnet18", "googlenet", "resnet50"]


def differences(workload: str, configuration: str) -> dict[str, float]:
    """By layer, how much more cycles the model has than the simulator, as a fraction."""
    one = case(workload, configuration)
    problem = one.problem
    cost = evaluate(problem.network, problem.machine, problem.configuration, one.partition)
    simulated = simulate_cycles(one.program, problem.machine, in_step=problem.configuration.sharing == 1)
    assert not simulated.hazards
    found = {}
    for layer, part in zip(problem.network.traced, cost.layers, strict=True):
        cycles = simulated.layer(layer.name).cycles
        found[layer.name] = part.cycles / cycles - 1
    total = sum(simulated.layer(layer.name).dram_bytes for layer in problem.network.traced)
    assert cost.dram_bytes == pytest.approx(total, rel=0.005)
    return found


def agree(workload: str, configuration: str) -> None:
    found = differences(workload, configuration)
    assert max(map(abs, found.values())) < 0.05, found
    near = sum(abs(difference) < 0.01 for difference in found.values())
    assert near >= 0.6 * len(found), found


@pytest.mark.parametrize("configuration", ["1f1i1c", "1f1i2c", "1f2i2c"])
def test_every_layer_takes_the_time_that_was_predicted(configuration: str) -> None:
    agree("squeezenet", configuration)


@pytest.mark.slow
@pytest.mark.parametrize("configuration", ["1f1i1c", "1f1i2c", "1f2i2c"])
@pytest.mark.parametrize("workload", SLOW)
def test_every_layer_of_larger_networks_does_too(workload: str, configuration: str) -> None:
    agree(workload, configuration)
