"""The bound on a layer by argument alone is below every cover, for every operation of a nest."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.arch.cgra import CgraMachine
from mapper.arch.source import load_machine
from mapper.formulations.modulo_schedule.network.bound import ideal_cycles, least_counts
from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.formulations.modulo_schedule.network.program.cover import BoxWeight, CoverSearch
from mapper.models.modulo_schedule.network.estimate import FLOAT_OPERATIONS, Estimator
from mapper.models.modulo_schedule.network.nest import ACCUMULATING, Access, Nest, Operation
from mapper.solver.method import Effort
from mapper.solver.modulo_schedule.network.heuristic.tuning import algorithm_1, unoptimised
from mapper.workloads.network.operator_network import Window
from mapper.workloads.source import load_layers
from tests.codegen.modulo_schedule.small_layer import convolution_layer, window_of

MACHINES = ("srp-2x2", "srp-3x4", "srp-4x2")


def machine_named(name: str) -> CgraMachine:
    found = load_machine(name)[0]
    assert isinstance(found, CgraMachine)
    return found


def nest_of(operation: Operation, extents: tuple[int, int, int], taps: tuple[int, ...]) -> Nest:
    """Sums run over the last loop; other operations have a word for every iteration."""
    rows, columns, depth = extents
    whole = (("i", columns * depth), ("j", depth), ("k", 1))
    summed = (("i", columns), ("j", 1))
    operands = {"multiply_add": 2, "affine": 3, "add": 2, "subtract": 2, "multiply": 2, "larger": 2}
    numbers = {"leaky_relu": (0.1,), "clip": (0.0, 6.0), "scale": (4.0,)}
    return Nest(
        "nest",
        (("i", rows), ("j", columns), ("k", depth)),
        operation,
        Access("out", summed if operation in ACCUMULATING else whole),
        tuple(Access(f"in{place}", whole, taps) for place in range(operands.get(operation, 1))),
        numbers=numbers.get(operation, ()),
    )


@pytest.mark.parametrize("operation", sorted(set(FLOAT_OPERATIONS) - {"window", "transform"}))
@settings(derandomize=True, deadline=None, max_examples=12)
@given(
    st.tuples(st.integers(1, 5), st.integers(1, 9), st.integers(1, 9)),
    st.integers(1, 3),
    st.sampled_from(MACHINES),
)
def test_no_cover_of_a_nest_takes_less(
    operation: Operation, extents: tuple[int, int, int], taps: int, name: str
) -> None:
    several = operation in ("max", "sum")
    nest = nest_of(operation, extents, tuple(range(taps if several else 1)))
    below_every_cover(nest, machine_named(name))


def below_every_cover(nest: Nest, machine: CgraMachine) -> None:
    estimator = Estimator(machine)
    ideal = nest.repeats * estimator.least_interval(least_counts(nest))
    for innermost in nest.innermost():
        least = CoverSearch(nest, innermost, BoxWeight(nest, innermost, estimator).least_cycles).least()
        assert least is None or ideal <= least


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize(
    "layer",
    [
        pytest.param("lenet5/conv1", marks=pytest.mark.slow),
        *("lenet5/pool2", "lenet5/gemm2", "cifar10/conv6", "cifar10/conv8", "cifar10/pool4"),
    ],
)
def test_no_cover_of_a_networks_nests_takes_less(layer: str, name: str) -> None:
    machine = machine_named(name)
    for choice in LayerProblem(load_layers(layer).layers[0], machine).choices:
        for nest in choice.nests:
            below_every_cover(nest, machine)


@pytest.mark.parametrize("window", [window_of(3, pad=1), window_of(5)])
def test_no_cover_of_a_transform_takes_less(window: Window) -> None:
    machine = machine_named("srp-2x2")
    layer = convolution_layer((1, 2, 7, 6), 3, window)
    nests = {
        nest for choice in LayerProblem(layer, machine).choices for nest in choice.nests if nest.transform
    }
    assert len(nests) > 3
    for nest in nests:
        below_every_cover(nest, machine)


@pytest.mark.parametrize("method", [algorithm_1, unoptimised])
def test_methods_that_look_at_few_covers_say_how_far_the_best_may_be(method: object) -> None:
    layer = convolution_layer((1, 3, 8, 8), 4, window_of(3))
    problem = LayerProblem(layer, machine_named("srp-3x3"))
    assert callable(method)
    found = method(problem, Effort())
    assert found.bound == ideal_cycles(problem) < found.value
    assert not found.proven and found.stop == "heuristic"
