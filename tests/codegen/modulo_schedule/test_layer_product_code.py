"""The C of products and of what works on single elements, compiled and run, computes them bit by bit."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from mapper.models.modulo_schedule.network.way.layer import algorithms
from mapper.workloads.reference.layer import layer_results
from tests.codegen.modulo_schedule.layer_program import drawn, machine, program_of, same_bits, weights_of
from tests.codegen.modulo_schedule.small_layer import (
    Words,
    activation,
    convolution_layer,
    layer_of,
    product_layer,
    product_of_two,
    window_of,
)

SHAPE = (2, 3, 4, 5)
ELEMENTWISE = {
    "sum": layer_of("elementwise", "Add", SHAPE, SHAPE),
    "sum and relu": layer_of("elementwise", "Add", SHAPE, SHAPE, merged=activation("Relu")),
    "difference": layer_of("elementwise", "Sub", SHAPE, SHAPE),
    "product": layer_of("elementwise", "Mul", SHAPE, SHAPE),
    "larger": layer_of("elementwise", "Max", SHAPE, SHAPE),
    "relu": layer_of("activation", "Relu", SHAPE, SHAPE),
    "leaky": layer_of("activation", "LeakyRelu", SHAPE, SHAPE, attributes=(("alpha", 0.2),)),
    "clipped": layer_of("activation", "Clip", SHAPE, SHAPE, attributes=(("min", 0.0), ("max", 0.75))),
}


@pytest.mark.parametrize(("rows", "seed"), [(1, 0), (3, 1), (3, 2)])
def test_a_fully_connected_layer_adds_along_its_depth(rows: int, seed: int, tmp_path: Path) -> None:
    layer = product_layer(rows, 13, 7, activation("Relu"))
    data, weights = drawn((rows, 13), seed), weights_of(layer)
    (algorithm,) = algorithms(layer, machine())
    output = np.full((rows, 7), np.nan, np.float32)
    program_of(algorithm, seed, tmp_path).run(
        {"a": weights["w"], "b": data, "bias": weights["b"], "c": output}
    )
    (wanted,) = layer_results(layer, (data,), weights)
    assert same_bits(output, wanted)


@pytest.mark.parametrize(("first", "second"), [((3, 5, 7), (3, 7, 4)), ((7,), (7, 4)), ((5, 7), (7,))])
def test_a_product_of_two_matrices_takes_them_as_they_lie(
    first: tuple[int, ...], second: tuple[int, ...], tmp_path: Path
) -> None:
    shape = np.matmul(np.zeros(first), np.zeros(second)).shape
    layer = product_of_two(first, second, shape)
    left, right = drawn(first, 1), drawn(second, 2)
    (algorithm,) = algorithms(layer, machine())
    repeats = algorithm.nests[1].repeats
    output = np.full((repeats, math.prod(shape) // repeats), np.nan, np.float32)
    program = program_of(algorithm, 1, tmp_path)
    for number in range(repeats):
        a, b = (part.reshape(repeats, -1)[number].copy() for part in (left, right))
        start = np.zeros(algorithm.nests[0].extents["i"], np.float32)
        program.run({"a": a, "b": b, "bias": start, "c": output[number]})
    (wanted,) = layer_results(layer, (left, right), {})
    assert same_bits(output.reshape(shape), wanted)


@pytest.mark.parametrize("turned", [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_a_product_of_turned_matrices_takes_them_as_they_lie(turned: tuple[int, int], tmp_path: Path) -> None:
    first, second = (5, 7)[:: 1 - 2 * turned[0]], (7, 4)[:: 1 - 2 * turned[1]]
    layer = product_of_two(
        first, second, (5, 4), "Gemm", transA=turned[0], transB=turned[1], alpha=1.0, beta=1.0
    )
    left, right = drawn(first, 1), drawn(second, 2)
    (algorithm,) = algorithms(layer, machine())
    output = np.full((5, 4), np.nan, np.float32)
    start = np.zeros(5, np.float32)
    program_of(algorithm, 2, tmp_path).run({"a": left, "b": right, "bias": start, "c": output})
    (wanted,) = layer_results(layer, (left, right), {})
    assert same_bits(output, wanted)


def test_a_leaky_slope_beyond_1_is_left_to_vliw_mode() -> None:
    steep = layer_of("activation", "LeakyRelu", SHAPE, SHAPE, attributes=(("alpha", 1.5),))
    (algorithm,) = algorithms(steep, machine())
    assert algorithm.nests == () and algorithm.elements == math.prod(SHAPE)
    merged = convolution_layer((1, 2, 4, 5), 3, window_of(3), activation("LeakyRelu", alpha=1.5))
    for algorithm in algorithms(merged, machine()):
        assert algorithm.nests[-1].name != "activation"
        assert algorithm.elements == math.prod(merged.output_shape)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elements_are_computed_one_by_one(name: str, tmp_path: Path) -> None:
    layer = ELEMENTWISE[name]
    given = tuple(drawn(SHAPE, place) for place, _ in enumerate(layer.inputs))
    (algorithm,) = algorithms(layer, machine())
    output = np.full(SHAPE, np.nan, np.float32)
    memory = dict(zip(("in", "other"), given, strict=False)) | {"out": output}
    program_of(algorithm, 1, tmp_path).run(memory)
    (wanted,) = layer_results(layer, given, {})
    assert same_bits(output, wanted)


def test_a_normalisation_multiplies_and_adds_per_channel(tmp_path: Path) -> None:
    names = ("scale", "shift", "mean", "variance")
    weights = {name: np.abs(drawn((3,), place)) for place, name in enumerate(names)}
    shapes = tuple((name, (3,)) for name in names)
    layer = layer_of(
        "batch_normalization", "BatchNormalization", SHAPE, SHAPE, shapes, attributes=(("epsilon", 1e-5),)
    )
    data = drawn(SHAPE, 4)
    (algorithm,) = algorithms(layer, machine())
    deviation: Words = np.sqrt(weights["variance"] + np.float32(1e-5), dtype=np.float32)
    factor: Words = np.divide(weights["scale"], deviation, dtype=np.float32)
    shift: Words = np.subtract(weights["shift"], weights["mean"] * factor, dtype=np.float32)
    output = np.full(SHAPE, np.nan, np.float32)
    program = program_of(algorithm, 2, tmp_path)
    for image in range(SHAPE[0]):
        program.run({"in": data[image].copy(), "factor": factor, "shift": shift, "out": output[image]})
    (wanted,) = layer_results(layer, (data,), weights)
    assert same_bits(output, wanted)
