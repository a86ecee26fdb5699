"""Whole networks by control sequence equal whole networks by onnxruntime's convolution."""

from __future__ import annotations

import numpy as np
import pytest

from mapper.models.algorithm_selection.choice import Algorithm, Choice
from mapper.models.algorithm_selection.control.sequence import Control, control
from mapper.models.algorithm_selection.number.seeded import seeded_numbers
from mapper.sim.algorithm_selection.network import Overlay, reference, seeded_inputs
from mapper.workloads.network.network_layer import LayerNetwork
from mapper.workloads.source import load_layers


def under(network: LayerNetwork, algorithm: Algorithm) -> Control:
    """``algorithm`` wherever it can be, im2col elsewhere."""
    choices = {}
    for layer in network.layers:
        if layer.work not in ("convolution", "fully_connected"):
            continue
        chosen: Algorithm = "im2col"
        if layer.work == "convolution" and max(layer.window.kernel) > 1:
            plain = layer.window.strides == (1, 1) and layer.window.kernel[0] == layer.window.kernel[1]
            chosen = algorithm if algorithm == "kn2row" or plain else "im2col"
        choices[layer.name] = Choice(chosen, "NS")
    return control(network, (4, 4), choices, {})


def check(network: LayerNetwork, sequence: Control) -> None:
    numbers, inputs = seeded_numbers(network, 3), seeded_inputs(network, 3)
    overlay = Overlay(network, sequence, numbers, inputs)
    assert not [run.step.name for run in overlay.run() if run.lost]
    for name, expected in reference(network, numbers, inputs).items():
        assert np.array_equal(overlay.results[name], expected), name


@pytest.mark.parametrize("algorithm", ["im2col", "kn2row", "winograd", "winograd-4x4"])
@pytest.mark.parametrize("name", ["lenet5", "cifar10"])
def test_small_networks_equal_their_reference(name: str, algorithm: Algorithm) -> None:
    network = load_layers(name)
    check(network, under(network, algorithm))


def test_googlenet_equals_its_reference() -> None:
    network = load_layers("googlenet")
    check(network, under(network, "winograd"))


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["im2col", "kn2row", "winograd"])
@pytest.mark.parametrize(
    "name",
    [
        "googlenet",
        "googlenet-224",
        "inception-v2",
        "inception-v4",
        "resnet50",
        "squeezenet",
        "densenet121",
        "alexnet",
        "lightcnn9",
        "shufflenet",
    ],
)
def test_networks_equal_their_reference(name: str, algorithm: Algorithm) -> None:
    network = load_layers(name)
    check(network, under(network, algorithm))
