"""The C of mapped layers, compiled and run, computes the layers bit by bit."""

from __future__ import annotations

import ctypes
import json
import math
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mapper.arch.cgra import CgraMachine
from mapper.arch.source import load_machine
from mapper.codegen.modulo_schedule import read_configuration
from mapper.codegen.modulo_schedule.layer import generate_layer
from mapper.codegen.modulo_schedule.nest_program import nest_program, nest_words
from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.models.modulo_schedule.network.algorithm import IM2ROW, Algorithm, algorithms
from mapper.models.modulo_schedule.network.mapping import LayerMapping, LoopMapping, kernel_of
from mapper.models.modulo_schedule.network.nest import Box, Nest, tile_is_exact
from mapper.solver.method import Effort
from mapper.solver.modulo_schedule.network.loop_schedule import loop_schedule
from mapper.workloads.document import InputError
from mapper.workloads.layer_reference import layer_results
from mapper.workloads.network_layer import NetworkLayer
from tests.codegen.small_layer import (
    Words,
    activation,
    convolution_layer,
    drawn_cover,
    im2col,
    im2row,
    layer_of,
    pitch_of,
    pool_layer,
    product_layer,
    product_of_two,
    weights_by_column,
    window_of,
)

OPTIONS = [
    "-std=c11", "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
]  # fmt: skip


def machine() -> CgraMachine:
    found = load_machine("srp-4x4")[0]
    assert isinstance(found, CgraMachine)
    return found


class Program:
    """The nests of an algorithm as compiled functions."""

    def __init__(self, algorithm: Algorithm, covers: Sequence[Sequence[Box]], folder: Path) -> None:
        assert shutil.which("cc"), "no C compiler found: install one (gcc or clang) that answers to `cc`"
        self.algorithm = algorithm
        for nest, boxes in zip(algorithm.nests, covers, strict=True):
            assert tile_is_exact(nest, tuple(boxes))
            (folder / f"{nest.name}.c").write_text(nest_program(nest, boxes), encoding="ascii")
        sources = [f"{nest.name}.c" for nest in algorithm.nests]
        command = ["cc", *OPTIONS, "-o", "layer.so", *sources, "-lm"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        self.library = ctypes.CDLL(str(folder / "layer.so"))

    def run(self, memory: dict[str, Words]) -> None:
        """Every nest in order on ``memory``, which has at least the words that a nest says it touches."""
        for nest in self.algorithm.nests:
            arrays = []
            for name, words in nest_words(nest).items():
                assert memory[name].dtype == np.float32 and memory[name].flags.c_contiguous
                assert memory[name].size >= words, (nest.name, name)
                arrays.append(memory[name].ctypes.data_as(ctypes.c_void_p))
            self.library[f"{nest.name}_all"](*arrays)


def chosen_covers(algorithm: Algorithm, seed: int) -> list[tuple[Box, ...]]:
    """A cover of every nest, each with one of the loops that may run innermost."""
    covers = []
    for nest in algorithm.nests:
        loops = list(nest.innermost())
        covers.append(drawn_cover(nest, loops[seed % len(loops)], seed))
    return covers


def program_of(algorithm: Algorithm, seed: int, folder: Path) -> Program:
    return Program(algorithm, chosen_covers(algorithm, seed), folder)


def drawn(shape: tuple[int, ...], seed: int) -> Words:
    """Numbers whose sums and products are rounded."""
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def weights_of(layer: NetworkLayer) -> dict[str, Words]:
    return {name: drawn(shape, 7 + place) for place, (name, shape) in enumerate(layer.operator.weights)}


def padded(layer: NetworkLayer, data: Words, fill: float) -> Words:
    pads = layer.window.covering_pads(data.shape[2:], layer.output_shape[2:])
    return np.pad(data, ((0, 0), (0, 0), *pads), constant_values=fill)


def same_bits(own: Words, wanted: Words) -> bool:
    return own.shape == wanted.shape and np.array_equal(own.view(np.uint32), wanted.view(np.uint32))


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
    for algorithm in algorithms(layer, machine()):
        folder = tmp_path / algorithm.name
        folder.mkdir()
        order: Any = "optcgra" if algorithm.name == IM2ROW else "gemm"
        (wanted,) = layer_results(layer, (data,), weights_of(layer), order)
        assert same_bits(convolved(layer, algorithm, data, seed, folder), wanted), algorithm.name


def test_small_windows_slide_and_large_or_holed_ones_are_products() -> None:
    sliding = [name for name, layer in CONVOLUTIONS.items() if len(algorithms(layer, machine())) == 2]
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
    (algorithm,) = algorithms(layer, machine())
    start = -np.inf if layer.work == "max_pool" else 0.0
    output = np.full(layer.output_shape, np.nan, np.float32)
    given = np.ascontiguousarray(padded(layer, data, start))
    program_of(algorithm, seed, tmp_path).run(
        {"in": given, "out": output, "start": np.full(1, start, np.float32)}
    )
    (wanted,) = layer_results(layer, (data,), {})
    assert same_bits(output, wanted)


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


@pytest.mark.parametrize("place", [0, 1])
def test_every_loop_of_a_nest_gets_a_remainder_box(place: int) -> None:
    nest: Nest = algorithms(CONVOLUTIONS["3x3"], machine())[place].nests[1]
    covers = [drawn_cover(nest, nest.names[-1], seed) for seed in range(3)]
    for axis in range(3):
        assert any(box.start[axis] > 0 for boxes in covers for box in boxes)


def scheduled() -> tuple[LayerProblem, LayerMapping]:
    """A layer of one nest in two boxes."""
    problem = LayerProblem(ELEMENTWISE["relu"], machine())
    (algorithm,) = problem.choices
    (nest,) = algorithm.nests
    loops = []
    for box in (Box((0,), (117,), (3,), "p"), Box((117,), (3,), (1,), "p")):
        schedule = loop_schedule(kernel_of(nest, box), problem.machine, Effort()).mapping
        assert schedule is not None
        loops.append(LoopMapping(0, box, None, schedule))
    return problem, LayerMapping(algorithm.name, tuple(loops))


def test_a_layer_becomes_one_file_of_c_and_the_words_of_every_kernel() -> None:
    problem, mapping = scheduled()
    files = generate_layer(problem, mapping)
    made = ("configuration.json", "listing.txt", "schedule.svg")
    assert list(files) == ["activation.c", *(f"activation.{box}.{name}" for box in (0, 1) for name in made)]
    for number, loop in enumerate(mapping.loops):
        document = json.loads(files[f"activation.{number}.configuration.json"])
        assert read_configuration(document, "test").trip_count == (39, 3)[number]
        assert f"static void activation_{number}(" in files["activation.c"]
        assert read_configuration(document, "test").ii == loop.schedule.ii


def test_an_algorithm_that_the_layer_does_not_have_is_an_error() -> None:
    problem, mapping = scheduled()
    with pytest.raises(InputError, match="algorithm"):
        generate_layer(problem, replace(mapping, algorithm="gemm"))
