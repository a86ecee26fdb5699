"""The C of Winograd's convolution, compiled and run, computes it bit by bit, and that is the convolution, rounded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mapper.models.modulo_schedule.network.algorithm import Algorithm
from mapper.models.modulo_schedule.network.way.layer import algorithms
from mapper.models.modulo_schedule.network.winograd import WINOGRAD, Tiling, tiling
from mapper.models.modulo_schedule.program.constant import constants_of
from mapper.sim.modulo_schedule.network.reference import layer_reference
from mapper.workloads.network.network_layer import NetworkLayer
from mapper.workloads.reference.layer import layer_results
from tests.codegen.modulo_schedule.layer_program import (
    Program,
    drawn,
    machine,
    program_of,
    same_bits,
    weights_of,
)
from tests.codegen.modulo_schedule.small_layer import Words, activation, convolution_layer, window_of

LAYERS = {
    "whole tiles, no padding": convolution_layer(
        (1, 2, 6, 6), 3, window_of(3), activation("Clip", min=-0.5, max=1.0)
    ),
    "tiles cut short on both sides": convolution_layer((1, 3, 7, 9), 5, window_of(3, pad=1)),
    "groups, images and an activation": convolution_layer(
        (2, 4, 5, 6), 6, window_of(3, pad=1, groups=2), activation("LeakyRelu", alpha=0.1)
    ),
    "5x5": convolution_layer((1, 2, 8, 7), 3, window_of(5, pad=2)),
    "5x5 without bias": convolution_layer((1, 3, 8, 8), 2, window_of(5), activation("Relu"), bias=False),
    "more channels than sums start with": convolution_layer((1, 11, 5, 4), 3, window_of(3, pad=1)),
    "an output of one word": convolution_layer((1, 2, 3, 3), 4, window_of(3)),
}


def of_tiles(layer: NetworkLayer) -> list[tuple[Algorithm, Tiling]]:
    """Winograd's algorithms of a layer."""
    return [
        (one, cut)
        for one in algorithms(layer, machine())
        if one.name in WINOGRAD and (cut := tiling(layer, WINOGRAD[one.name])) is not None
    ]


def run_points(program: Program, cut: Tiling, memory: dict[str, Words]) -> None:
    """Every nest in order, the products once for each point."""
    words, steps = cut.words, {"a": cut.filters * cut.channels, "b": cut.channels * cut.count}
    for nest in program.algorithm.nests:
        if nest.repeats == cut.repeats:
            program.run_nest(nest, memory)
            continue
        for u, v in np.ndindex(words, words):
            at = {name: (v * words + u) * step for name, step in steps.items()}
            at |= {
                name: (u * words + v) * cut.filters * step for name, step in (("c", cut.count), ("bias", 1))
            }
            program.run_nest(nest, {name: memory[name][first:] for name, first in at.items()})


def convolved(layer: NetworkLayer, algorithm: Algorithm, cut: Tiling, data: Words, program: Program) -> Words:
    """The layer by its compiled nests, one repeat for each image and group."""
    groups = layer.window.groups
    constants = constants_of(layer, algorithm, weights_of(layer))
    parts = {name: np.split(constants[name], groups) for name in ("a", "bias")}
    made = []
    for image in data:
        for group, given in enumerate(np.split(image, groups)):
            memory = {name: np.full(size, np.nan, np.float32) for name, size in cut.buffers.items()}
            memory |= {name: part[group] for name, part in parts.items()}
            memory |= {"in": np.ascontiguousarray(given).reshape(-1), "zero": constants["zero"]}
            memory["out"] = np.full(cut.filters * cut.outputs[0] * cut.outputs[1], np.nan, np.float32)
            run_points(program, cut, memory)
            made.append(memory["out"])
    return np.stack(made).reshape(layer.output_shape)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", LAYERS)
def test_tiles_are_transformed_multiplied_and_added_as_the_reference_does(
    name: str, seed: int, tmp_path: Path
) -> None:
    layer = LAYERS[name]
    data, found = drawn(layer.inputs[0].shape, seed), of_tiles(layer)
    assert found
    for algorithm, cut in found:
        folder = tmp_path / algorithm.name
        folder.mkdir()
        (wanted,) = layer_reference(layer, (data,), weights_of(layer), algorithm.name)
        own = convolved(layer, algorithm, cut, data, program_of(algorithm, seed, folder))
        assert same_bits(own, wanted), algorithm.name


@pytest.mark.parametrize("name", LAYERS)
def test_the_reference_of_tiles_is_the_convolution_but_for_rounding(name: str) -> None:
    layer = LAYERS[name]
    data = drawn(layer.inputs[0].shape, 3)
    (plain,) = layer_results(layer, (data,), weights_of(layer))
    for algorithm, _ in of_tiles(layer):
        (own,) = layer_reference(layer, (data,), weights_of(layer), algorithm.name)
        assert np.allclose(own, plain, rtol=1e-4, atol=1e-4), algorithm.name
        assert not same_bits(own, plain)


def test_tiles_are_for_square_kernels_of_three_and_five_that_move_by_one() -> None:
    assert [one.name for one, _ in of_tiles(LAYERS["whole tiles, no padding"])] == [
        "winograd",
        "winograd-4x4",
    ]
    assert [one.name for one, _ in of_tiles(LAYERS["5x5"])] == ["winograd"]
    for window in (window_of(3, 2, 1), window_of(3, dilation=2), window_of(1), window_of(7, pad=3)):
        assert not of_tiles(convolution_layer((1, 2, 8, 8), 3, window))
