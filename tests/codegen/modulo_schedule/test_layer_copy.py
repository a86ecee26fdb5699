"""The C of im2col, im2row, padding and cut rows lays words out as the reference does, and whole layers run on it."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mapper.codegen.modulo_schedule.copy_program import copies_after, copies_before
from mapper.codegen.modulo_schedule.nest_program import nest_words
from mapper.models.modulo_schedule.network.algorithm import IM2ROW, Algorithm
from mapper.workloads.network.network_layer import NetworkLayer
from mapper.workloads.reference.layer import layer_results
from tests.codegen.modulo_schedule.layer_program import (
    OPTIONS,
    drawn,
    machine,
    padded,
    program_of,
    same_bits,
    weights_of,
)
from tests.codegen.modulo_schedule.small_layer import (
    Words,
    convolution_layer,
    driven,
    im2col,
    im2row,
    pitch_of,
    pool_layer,
    weights_by_column,
    window_of,
)
from tests.codegen.modulo_schedule.test_layer_code import CONVOLUTIONS, POOLS

UNEVEN = {
    **CONVOLUTIONS,
    "7x7 by steps of 2": convolution_layer((1, 2, 9, 12), 2, window_of(7, 2, 3)),
    "3x3 with wide pads": convolution_layer((1, 2, 4, 5), 2, window_of(3, pad=2)),
}
COPIED = {name: layer for name, layer in UNEVEN.items() if name != "1x1"}


class Copies:
    """Functions that copy words, compiled."""

    def __init__(self, texts: dict[str, str], folder: Path) -> None:
        for name, text in texts.items():
            (folder / f"{name}.c").write_text(text, encoding="ascii")
        command = ["cc", *OPTIONS, "-o", "copies.so", *(f"{name}.c" for name in texts)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        self.library = ctypes.CDLL(str(folder / "copies.so"))

    def run(self, name: str, source: Words, words: int) -> Words:
        """What the function writes into so many words that were NaN, with one after them that must stay so."""
        whole = np.full(words + 1, np.nan, np.float32)
        given = np.ascontiguousarray(source)
        self.library[name](given.ctypes.data_as(ctypes.c_void_p), whole.ctypes.data_as(ctypes.c_void_p))
        assert np.isnan(whole[-1])
        return np.ascontiguousarray(whole[:-1])


def groups_of(layer: NetworkLayer, data: Words) -> Sequence[tuple[int, int, Words]]:
    """Every repeat: image, group and its channels, not padded."""
    groups = layer.window.groups
    return [
        (image, group, part)
        for image, whole in enumerate(data)
        for group, part in enumerate(np.split(whole, groups))
    ]


@pytest.mark.parametrize("name", COPIED)
def test_words_lie_as_the_reference_lays_them(name: str, tmp_path: Path) -> None:
    layer = COPIED[name]
    data = drawn(layer.inputs[0].shape, 5)
    rows, columns = layer.output_shape[2:]
    for place, algorithm in enumerate(driven(layer, machine())):
        folder = tmp_path / str(place)
        folder.mkdir()
        ((function, text),) = copies_before(layer, algorithm).items()
        copies = Copies({function: text}, folder)
        for image, group, part in groups_of(layer, data):
            whole = np.split(padded(layer, data, 0.0)[image], layer.window.groups)[group]
            if algorithm.name == IM2ROW:
                words = nest_words(algorithm.nests[1])["b"]
                wanted = im2row(whole, layer.window, rows, pitch_of(algorithm, rows), words)
                # What no window covers is nobody's word: the reference leaves it open, the C makes it 0.
                wanted = np.nan_to_num(wanted, nan=0.0)
            else:
                wanted = im2col(whole, layer.window, rows, columns).reshape(-1)
            assert same_bits(copies.run(function, part, wanted.size), wanted), (algorithm.name, image, group)


@pytest.mark.parametrize("name", COPIED)
def test_a_whole_layer_runs_from_its_input_to_its_output(name: str, tmp_path: Path) -> None:
    layer = COPIED[name]
    data, weights = drawn(layer.inputs[0].shape, 3), weights_of(layer)
    for place, algorithm in enumerate(driven(layer, machine())):
        folder = tmp_path / str(place)
        folder.mkdir()
        order: Any = "optcgra" if algorithm.name == IM2ROW else "gemm"
        (wanted,) = layer_results(layer, (data,), weights, order)
        assert same_bits(_run(layer, algorithm, data, weights, folder), wanted), algorithm.name


def _run(
    layer: NetworkLayer, algorithm: Algorithm, data: Words, weights: dict[str, Words], folder: Path
) -> Words:
    program, after = program_of(algorithm, 1, folder), copies_after(layer, algorithm)
    ((function, text),) = copies_before(layer, algorithm).items()
    copies = Copies({function: text, **after}, folder)
    (images, filters, rows, columns), groups = layer.output_shape, layer.window.groups
    sums, laid = nest_words(algorithm.nests[1])["c"], nest_words(algorithm.nests[1])["b"]
    laid = max(laid, pitch_words(layer, algorithm))
    bias = np.split(weights.get("b", np.zeros(filters, np.float32)), groups)
    result = np.empty((images, groups, filters // groups * rows * columns), np.float32)
    for image, group, part in groups_of(layer, data):
        kernel = np.split(weights["w"], groups)[group]
        factors = weights_by_column(kernel) if algorithm.name == IM2ROW else np.ascontiguousarray(kernel)
        output = np.full(sums, np.nan, np.float32)
        buffer = copies.run(function, part, laid)
        program.run({"a": factors, "b": buffer, "bias": bias[group], "c": output})
        result[image, group] = copies.run("cut", output, result.shape[2]) if after else output
    return result.reshape(layer.output_shape)


def pitch_words(layer: NetworkLayer, algorithm: Algorithm) -> int:
    """Words that im2row lays out for one repeat, without the ones after the last row; 0 for im2col."""
    return algorithm.words["buffer"] // algorithm.nests[1].repeats if algorithm.name == IM2ROW else 0


@pytest.mark.parametrize("name", [name for name in POOLS if "padd" in name or "rounded" in name])
def test_pools_find_their_planes_padded(name: str, tmp_path: Path) -> None:
    layer = POOLS[name]
    data = drawn(layer.inputs[0].shape, 2)
    wanted = np.ascontiguousarray(padded(layer, data, -np.inf if layer.work == "max_pool" else 0.0))
    for algorithm in driven(layer, machine()):
        (text,) = copies_before(layer, algorithm).values()
        found = Copies({"pad": text}, tmp_path).run("pad", data, wanted.size)
        assert same_bits(found.reshape(wanted.shape), wanted)


def test_what_lies_as_it_is_read_is_not_copied() -> None:
    for layer in (UNEVEN["1x1"], pool_layer("MaxPool", (1, 3, 6, 4), window_of(2, 2))):
        for algorithm in driven(layer, machine()):
            assert copies_before(layer, algorithm) == copies_after(layer, algorithm) == {}
