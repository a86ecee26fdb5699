"""What the checker recomputes of an option is what the model says, and no floor is above it."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mapper.api.problem import pose
from mapper.formulations.trace_partition.problem import PartitionProblem
from mapper.formulations.trace_partition.program.option import Family
from mapper.formulations.trace_partition.program.option_cost import words_needed
from mapper.formulations.trace_partition.program.residency import residencies_of
from mapper.models.trace_partition.cost import layer_cost
from mapper.models.trace_partition.lowering.layer import TraceLayer
from mapper.models.trace_partition.mapping import LayerMapping
from tests.checkers.trace_partition.claim import module, of_network, option
from tests.solver.sample import drawn
from tests.solver.trace_partition.random_partition import any_layers, problems

NETWORKS = ("lenet5", "alexnet", "resnet18", "googlenet")


@cache
def posed(network: str, arch: str) -> PartitionProblem:
    (part,) = pose(network, arch).parts
    assert isinstance(part.problem, PartitionProblem)
    return part.problem


def compared(problem: PartitionProblem, layer: TraceLayer, mapping: LayerMapping) -> bool:
    """Whether the machine can hold the mapping. Cost and floor are as they must be.

    Raises: AssertionError if they are not."""
    own = module()
    machine, layers = of_network(problem)
    restated = own.cost(layers[layer.name], option(mapping), machine)
    if words_needed(problem, layer, mapping) is None:
        assert restated is None
        return False
    cost = layer_cost(layer, mapping, problem.machine, problem.configuration)
    assert restated == (cost.cycles, cost.dram_bytes, cost.buffer_words)
    assert (
        machine.value(layers[layer.name], *restated)
        == {
            "latency": cost.cycles,
            "traffic": cost.dram_bytes,
            "energy": cost.energy_parts,
        }[problem.objective]
    )
    decisions = option(mapping)[:6]
    share = own.residencies(layers[layer.name], machine, mapping.input_resident)
    family = next(one for one in share[own.residency(option(mapping))] if one.decisions == decisions)
    assert all(size in sizes for size, sizes in zip(option(mapping)[6:], family.sizes, strict=True))
    family.sizes = [[size] for size in option(mapping)[6:]]
    value = machine.value(layers[layer.name], *restated)
    assert list(own.left(family, value + 1)) == [option(mapping)], "a floor is above the cost"
    return True


def families_of(problem: PartitionProblem, at: int) -> list[Family]:
    return [family for group in residencies_of(problem).layers[at].values() for family in group]


@pytest.mark.parametrize("count", [25, pytest.param(2000, marks=pytest.mark.slow)])
def test_options_of_random_layers_are_recomputed(count: int) -> None:
    seen: Counter[bool] = Counter()

    @drawn(count)
    @given(st.one_of(any_layers(restated=True), problems(2)), st.randoms(use_true_random=False))
    def holds(problem: PartitionProblem, draw: random.Random) -> None:
        for at, layer in enumerate(problem.network.traced):
            for family in families_of(problem, at)[:2]:
                places = (draw.randrange(size) for size in family.shape)
                seen[compared(problem, layer, family.mapping(*places))] += 1

    holds()
    assert seen[True] > count // 4 and seen[False]


@pytest.mark.parametrize(
    ("network", "arch", "count"),
    [
        ("lenet5", "snowflake-1cc", 1),
        ("lenet5", "snowflake-2cc", 1),
        *(pytest.param(name, "snowflake-1cc", 4, marks=pytest.mark.slow) for name in NETWORKS),
        *(pytest.param(name, "snowflake-4cc", 2, marks=pytest.mark.slow) for name in NETWORKS),
    ],
)
def test_options_of_every_layer_of_a_network_are_recomputed(network: str, arch: str, count: int) -> None:
    problem, draw = posed(network, arch), random.Random(1)
    held = 0
    for at, layer in enumerate(problem.network.traced):
        families = families_of(problem, at)
        for _ in range(count):
            family = draw.choice(families)
            places = (draw.randrange(size) for size in family.shape)
            held += compared(problem, layer, family.mapping(*places))
    assert held
