"""Networks with weights of their own, their PEs' programs executed word by word."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import onnx
import pytest

from mapper.formulations.pe_allocation.bound import paced_allocation
from mapper.models.pe_allocation.stream.layer import stream_network
from mapper.sim.pe_allocation.own.numbers import own_numbers
from mapper.sim.pe_allocation.report import report
from tests.sim.pe_allocation.example import allocated, array, problem_of
from tests.sim.pe_allocation.onnx_network import Graph, squeeze_and_excite, tiny_yolo, u_net
from tests.sim.pe_allocation.test_own_numbers import from_catalogue, given, residual
from tests.sim.pe_allocation.word.example import with_pe


def executed(model: onnx.ModelProto, delta: int = 2) -> dict[str, Any]:
    """The report of a network with its own weights on PEs that execute their programs."""
    net = given(model)
    streams = stream_network(net.network)
    allocation = allocated(streams, delta=delta)
    problem = replace(problem_of(streams, allocation, model="streaming"), machine=with_pe(max(2, delta)))
    return report(problem, allocation, 0, net, words=True)


MODELS = {
    "residual": residual,
    "squeeze and excite": squeeze_and_excite,
    "u-net": u_net,
    "transposed": lambda: u_net(transposed=True),
    "leaky": tiny_yolo,
}


@pytest.mark.parametrize(("name", "delta"), [*((name, 2) for name in MODELS), ("residual", 3)])
def test_outputs_are_those_of_the_reference_and_near_onnxruntimes(name: str, delta: int) -> None:
    found = executed(MODELS[name](), delta)
    assert found["outputs_equal"] and found["violations"] == []
    assert found["onnxruntime"]["within"]


@pytest.mark.parametrize("kernel", [2, 3, 5])
def test_a_mean_divides_by_the_pixels_inside_the_image(kernel: int) -> None:
    net = Graph(2, 6, 7)
    window = {"kernel_shape": [kernel] * 2, "pads": [kernel // 2] * 4, "strides": [2, 1]}
    model = net.model(net.apply("AveragePool", net.convolution("x", 5), **window))
    assert executed(model)["outputs_equal"]


@pytest.mark.parametrize("delta", [1, 2, 3])
def test_operands_of_several_fractions_are_aligned_by_any_number_of_units(delta: int) -> None:
    net = Graph(2, 4, 5)
    small = net.apply("Sigmoid", net.convolution("x", 4))
    large = net.convolution(net.convolution(net.convolution("x", 8), 8), 4)
    model = net.model(net.apply("Sum", small, large, net.convolution("x", 4, 1)))
    numbers = own_numbers(given(model), stream_network(given(model).network), 8, 1, 0)
    assert len(set(numbers.plan.layers[-1].arithmetic.lifts)) > 1
    found = executed(model, delta)
    assert found["outputs_equal"] and found["violations"] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mnist-tcpa", "lenet5", "cifar10"])
def test_networks_of_the_catalogue_run_whole_on_16_by_16_pes(name: str) -> None:
    net = from_catalogue(name)
    streams = stream_network(net.network)
    problem = replace(problem_of(streams, allocated(streams), model="streaming"), machine=array("tcpa-16x16"))
    allocation = paced_allocation(problem)
    assert allocation is not None
    found = report(problem, allocation, 0, net, words=True)
    assert found["agrees"] and found["outputs_equal"] and found["onnxruntime"]["within"]
