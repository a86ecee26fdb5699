"""Algorithms 1 to 3 and the mode layer by layer on whole layers of networks of the catalogue."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mapper.models.pe_allocation.configuration.configuration import configure
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.stream.layer import StreamNetwork
from mapper.sim.pe_allocation import whole_layer
from mapper.sim.pe_allocation.data import seeded
from mapper.sim.pe_allocation.reference import reference
from mapper.sim.pe_allocation.report import report
from mapper.sim.pe_allocation.whole_layer import compared
from tests.sim.pe_allocation.example import Net, allocated, array, network_called, problem_of


def algorithms(network: StreamNetwork, allocation: Allocation, model: Any = "calculus") -> dict[str, Any]:
    configuration = configure(network, array(), allocation, model)
    data = seeded(configuration, 1, 0)
    found = compared(network, configuration, data, reference(configuration, data))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("name", "products"),
    [
        ("mnist-tcpa", {"conv0": 169_344, "conv2": 1_016_064, "conv4": 169_344}),
        ("lenet5", {"conv1": 288_000, "conv2": 1_600_000}),
        ("cifar10", {"conv1": 884_736}),
    ],
)
def test_all_three_make_the_outputs_of_whole_layers_in_the_cycles_of_equation_4(
    name: str, products: dict[str, int]
) -> None:
    network = network_called(name)
    found = algorithms(network, allocated(network, *(3,) * len(network.layers)))
    assert found["outputs_equal"] and found["cycles_equal"] and found["left_out"] == []
    convolutions = [layer.name for layer in network.layers if layer.operation == "convolution"]
    assert list(found["layers"]) == convolutions
    for layer, cycles in products.items():
        assert found["layers"][layer]["cycles"]["algorithm_1"] == cycles
        assert found["layers"][layer]["cycles"]["algorithm_2"] == cycles


def test_algorithm_3_takes_the_papers_cycles() -> None:
    network = network_called("mnist-tcpa")
    found = algorithms(network, allocated(network, 4, 1, 8, 1, 2))["layers"]
    cycles = {name: layer["cycles"]["algorithm_3"] for name, layer in found.items()}
    assert cycles == {"conv0": 54 * 784, "conv2": 324 * 196, "conv4": 864 * 49}
    starts = found["conv0"]["following"]["start"]
    assert starts["algorithm_3"] < starts["algorithm_2"] < starts["algorithm_1"]


@pytest.mark.parametrize(
    "net",
    [
        Net((7, 8), 4).convolution(6, 3, groups=2, dilations=(2, 1), strides=(1, 2), pads=(1, 0)),
        Net((5, 5), 3).convolution(4, 1, merged=("Relu",)).convolution(4),
    ],
)
def test_groups_dilation_strides_and_rectified_results_are_the_arrays(net: Net) -> None:
    network = net.network()
    found = algorithms(network, allocated(network, *(2,) * len(network.layers)))
    assert found["outputs_equal"] and found["cycles_equal"]


def test_a_wrong_pixel_of_the_array_is_noticed() -> None:
    network = Net((5, 5), 3).convolution(4).network()
    configuration = configure(network, array(), allocated(network), "calculus")
    data = seeded(configuration, 1, 0)
    made = reference(configuration, data)
    made[0][0, 1, 1, 2] += 1
    found = compared(network, configuration, data, made)
    assert found is not None and not found["outputs_equal"]


def test_cycles_follow_the_units_that_a_layer_is_configured_with() -> None:
    network = Net((5, 5), 4).convolution(4).network()
    configuration = configure(network, array(), allocated(network, 2), "calculus")
    data = seeded(configuration, 1, 0)
    slower = replace(configuration, layers=(replace(configuration.layers[0], delta=1),))
    found = compared(network, slower, data, reference(configuration, data))
    # What Eq. 4 says follows the units that the layer is configured with.
    assert found is not None and found["cycles_equal"]
    assert found["layers"]["convolution0"]["cycles"]["algorithm_3"] == 9 * 2 * 4 * 9


def test_what_would_take_too_long_is_left_out_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_layer, "MOST_PRODUCTS", 200_000)
    network = network_called("mnist-tcpa")
    found = algorithms(network, allocated(network))
    assert list(found["layers"]) == ["conv0"] and found["left_out"] == ["conv2", "conv4"]


def test_a_network_without_convolutions_has_nothing_to_compare() -> None:
    network = Net().pool(2, op="MaxPool").network()
    configuration = configure(network, array(), allocated(network), "calculus")
    data = seeded(configuration, 1, 0)
    assert compared(network, configuration, data, reference(configuration, data)) is None


def layer_by_layer(name: str) -> dict[str, Any]:
    network = network_called(name)
    allocation = allocated(network, *(4,) * len(network.layers), mode="layer-by-layer")
    return report(problem_of(network, allocation), allocation)


@pytest.mark.parametrize("name", ["mnist-tcpa", "lenet5", "cifar10"])
def test_whole_networks_run_layer_by_layer_in_the_models_cycles(name: str) -> None:
    found = layer_by_layer(name)
    assert found["outputs_equal"] and found["agrees"] and found["violations"] == []
    assert found["algorithms"]["outputs_equal"] and found["algorithms"]["cycles_equal"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["squeezenet", "lightcnn9"])
def test_larger_networks_run_layer_by_layer_in_the_models_cycles(name: str) -> None:
    found = layer_by_layer(name)
    assert found["outputs_equal"] and found["agrees"] and found["violations"] == []
    assert found["algorithms"]["cycles_equal"] and found["algorithms"]["left_out"] == []


def test_first_frames_alone_are_compared() -> None:
    network = Net((5, 5), 3).convolution(4).network()
    configuration = configure(network, array(), allocated(network), "calculus")
    data = seeded(configuration, 2, 0)
    made = reference(configuration, data)
    made[0][1] += 1
    found = compared(network, configuration, data, made)
    assert found is not None and found["outputs_equal"] and np.any(made[0][0] != made[0][1])
