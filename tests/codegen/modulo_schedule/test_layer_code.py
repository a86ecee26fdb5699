"""The C of mapped convolutions and pools, compiled and run, computes them bit by bit."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mapper.codegen.modulo_schedule.nest_program import nest_words
from mapper.models.modulo_schedule.network.algorithm import IM2ROW, Algorithm
from mapper.models.modulo_schedule.network.nest import Nest
from mapper.workloads.network.network_layer import NetworkLayer
from mapper.workloads.reference.layer import layer_results
from tests.codegen.modulo_schedule.layer_program import (
    drawn,
    machine,
    padded,
    program_of,
    same_bits,
    weights_of,
)
from tests.codegen.modulo_schedule.small_layer import (
    Words,
    activation,
    convolution_layer,
    drawn_cover,
    driven,
    im2col,
    im2row,
    pitch_of,
    pool_layer,
    weights_by_column,
    window_of,
)


def convolved(layer: NetworkLayer, algorithm: Algorithm, data: Words, seed: int, folder: Path) -> Words:
    """The layer by its compiled nests, one repeat for each image and group."""
    program, weights = program_of(algorithm, seed, folder), weights_of(layer)
    (images, filters, rows, columns), groups = layer.output_shape, layer.window.groups
    kernels = np.split(weights["w"], groups)
    bias = np.split(weights.get("b", np.zeros(filters, np.float32)), groups)
    sliding = algorithm.name == IM2ROW
    width = pitch_of(algorithm, rows) if sliding else columns
    result = np.empty((images, groups, filters // groups, rows, width), np.float32)
    for image, whole in enumerate(padded(layer, data, 0.0)):
        for group, part in enumerate(np.split(whole, groups)):
            if sliding:
                words = nest_words(algorithm.nests[1])["b"]
                laid = im2row(part, layer.window, rows, width, words)
                factors = weights_by_column(kernels[group])
            else:
                laid = im2col(part, layer.window, rows, columns)
                factors = np.ascontiguousarray(kernels[group])
            output = np.full(filters // groups * rows * width, np.nan, np.float32)
            program.run({"a": factors, "b": laid, "bias": bias[group], "c": output})
            result[image, group] = output.reshape(-1, rows, width)
    return np.ascontiguousarray(result[..., :columns]).reshape(layer.output_shape)


CONVOLUTIONS = {
    "3x3": convolution_layer((1, 3, 7, 6), 5, window_of(3)),
    "3x3 with pads and relu": convolution_layer((2, 2, 5, 7), 3, window_of(3, pad=1), activation("Relu")),
    "3x3 by steps of 2": convolution_layer((1, 3, 9, 8), 3, window_of(3, 2, 1)),
    "3x3 of groups, no bias": convolution_layer((2, 4, 6, 5), 6, window_of(3, 1, 1, groups=2), bias=False),
    "3x3 depthwise": convolution_layer((1, 3, 5, 5), 3, window_of(3, 2, 1, groups=3)),
    "5x5": convolution_layer((1, 2, 7, 8), 3, window_of(5, pad=2)),
    "5x5 by steps of 2": convolution_layer((1, 2, 9, 11), 2, window_of(5, 2, 1)),
    "2x2 by steps of 2": convolution_layer((1, 2, 6, 7), 3, window_of(2, 2)),
    "3x3 by steps of 4": convolution_layer((1, 2, 11, 11), 3, window_of(3, 4)),
    "1x1": convolution_layer((2, 7, 3, 5), 5, window_of(1)),
    "1x1 by steps of 2": convolution_layer((1, 5, 5, 7), 3, window_of(1, 2)),
    "3x3 with holes": convolution_layer((1, 3, 7, 7), 2, window_of(3, dilation=2)),
    "leaky": convolution_layer((1, 2, 4, 5), 3, window_of(3), activation("LeakyRelu", alpha=0.1)),
    "clipped": convolution_layer((1, 2, 4, 5), 3, window_of(3), activation("Clip", min=-0.5, max=1.0)),
}


def seeded(names: Iterable[str]) -> list[Any]:
    """Every name with a seed of its own; with two more where time does not matter."""
    found = []
    for place, name in enumerate(names):
        found += [pytest.param(name, place % 3, id=name)]
        found += [
            pytest.param(name, seed, id=f"{name}, {seed}", marks=pytest.mark.slow)
            for seed in (3 + place, 4 + place)
        ]
    return found


@pytest.mark.parametrize(("name", "seed"), seeded(CONVOLUTIONS))
def test_every_algorithm_of_a_convolution_computes_it_in_its_own_order(
    name: str, seed: int, tmp_path: Path
) -> None:
    layer = CONVOLUTIONS[name]
    data = drawn(layer.inputs[0].shape, seed)
    for algorithm in driven(layer, machine()):
        folder = tmp_path / algorithm.name
        folder.mkdir()
        order: Any = "optcgra" if algorithm.name == IM2ROW else "gemm"
        (wanted,) = layer_results(layer, (data,), weights_of(layer), order)
        assert same_bits(convolved(layer, algorithm, data, seed, folder), wanted), algorithm.name


def test_small_windows_slide_and_large_or_holed_ones_are_products() -> None:
    sliding = [name for name, layer in CONVOLUTIONS.items() if len(driven(layer, machine())) == 2]
    assert sliding == [name for name in CONVOLUTIONS if not name.startswith("1x1") and "holes" not in name]


POOLS = {
    "largest of 2x2": pool_layer("MaxPool", (1, 3, 6, 5), window_of(2, 2)),
    "largest of 3x3, rounded up": pool_layer("MaxPool", (2, 2, 6, 8), window_of(3, 2, ceil=True), (3, 4)),
    "largest of 3x3, padded": pool_layer("MaxPool", (1, 2, 5, 7), window_of(3, 1, 1)),
    "largest of 5x5": pool_layer("MaxPool", (1, 2, 9, 7), window_of(5, 2, 2)),
    "mean of 2x2": pool_layer("AveragePool", (1, 3, 7, 6), window_of(2, 2)),
    "mean of 3x3, padding counted": pool_layer(
        "AveragePool", (1, 2, 5, 6), window_of(3, 1, 1, count_pads=True)
    ),
    "mean of 5x5": pool_layer("AveragePool", (1, 3, 5, 5), window_of(5)),
    "mean of 6x6 side by side": pool_layer("AveragePool", (1, 2, 7, 8), window_of(6)),
}


@pytest.mark.parametrize(("name", "seed"), seeded(POOLS))
def test_a_pool_computes_its_windows_row_by_row(name: str, seed: int, tmp_path: Path) -> None:
    layer = POOLS[name]
    data = drawn(layer.inputs[0].shape, seed)
    start = -np.inf if layer.work == "max_pool" else 0.0
    given = np.ascontiguousarray(padded(layer, data, start))
    (wanted,) = layer_results(layer, (data,), {})
    for place, algorithm in enumerate(driven(layer, machine())):
        folder = tmp_path / str(place)
        folder.mkdir()
        output = np.full(layer.output_shape, np.nan, np.float32)
        program_of(algorithm, seed, folder).run(
            {"in": given, "out": output, "start": np.full(1, start, np.float32)}
        )
        assert same_bits(output, wanted), algorithm.name


@pytest.mark.parametrize("place", [0, 1])
def test_every_loop_of_a_nest_gets_a_remainder_box(place: int) -> None:
    nest: Nest = driven(CONVOLUTIONS["3x3"], machine())[place].nests[1]
    covers = [drawn_cover(nest, nest.names[-1], seed) for seed in range(3)]
    for axis in range(3):
        assert any(box.start[axis] > 0 for boxes in covers for box in boxes)
