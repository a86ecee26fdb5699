"""Nests of layers as compiled functions, and numbers to run them on."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mapper.arch.cgra import CgraMachine
from mapper.arch.source import load_machine
from mapper.codegen.modulo_schedule.nest_program import nest_program, nest_words
from mapper.models.modulo_schedule.network.algorithm import Algorithm
from mapper.models.modulo_schedule.network.nest import Box, Nest, tile_is_exact
from mapper.workloads.network.network_layer import NetworkLayer
from tests.codegen.modulo_schedule.small_layer import (
    Words,
    drawn_cover,
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
            self.run_nest(nest, memory)

    def run_nest(self, nest: Nest, memory: dict[str, Words]) -> None:
        """One repeat of a nest."""
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
