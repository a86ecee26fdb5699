"""What the built-in kernels compute, written in Python beside their C: nothing here is derived from a graph."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.workloads.graph.kernel import Array, Kernel

Memory = dict[str, npt.NDArray[Any]]
LARGEST_INTEGER = 1 << 12


def seeded_memory(kernel: Kernel, seed: int) -> Memory:
    """Words for every array of ``kernel``: integers of 13 bits with sign (of all their bits where they have fewer),
    floats in [-1, 1); the same for the same seed."""
    return seeded_arrays(kernel.arrays, seed)


def seeded_arrays(arrays: Iterable[Array], seed: int) -> Memory:
    """The same for ``arrays``."""
    random = np.random.default_rng(seed)
    memory: Memory = {}
    for array in arrays:
        kind = np.dtype(array.kind)
        if kind.kind == "f":
            memory[array.name] = random.uniform(-1.0, 1.0, array.words).astype(kind)
        else:
            bounds = np.iinfo(kind)
            low, high = max(-LARGEST_INTEGER, bounds.min), min(LARGEST_INTEGER - 1, bounds.max)
            memory[array.name] = random.integers(low, high + 1, array.words).astype(kind)
    return memory


def within(words: npt.NDArray[Any], most: int) -> npt.NDArray[Any]:
    """The same words, integers from 0 to ``most``, which is one less than a power of two."""
    return words if words.dtype.kind == "f" else words & np.asarray(most, words.dtype)


def reference(name: str, memory: Memory) -> Memory:
    """The memory after the built-in kernel ``name`` has run on ``memory``, which is left as it is.

    Raises: KeyError if there is no such kernel.
    """
    after = {array: words.copy() for array, words in memory.items()}
    REFERENCES[name](after)
    return after


def _gemm(memory: Memory) -> None:
    a, b = memory["a"].reshape(16, 16), memory["b"].reshape(16, 16)
    total = np.float32(0)
    for k in range(16):
        total = total + a[0, k] * b[k, 0]
    memory["c"][0] = total


def _fir(memory: Memory) -> None:
    x, taps = memory["x"], np.array([0.125, 0.375, 0.375, 0.125], np.float32)
    total = taps[0] * x[0:64]
    for tap in range(1, 4):
        total = total + taps[tap] * x[tap : tap + 64]
    memory["y"][:] = total


def _dot(memory: Memory) -> None:
    memory["product"][0] = np.cumsum(memory["a"] * memory["b"], dtype=np.float32)[-1]


def _gemv(memory: Memory) -> None:
    row = memory["a"].reshape(16, 32)[0].astype(np.int64)
    memory["y"][0] = np.int64(memory["y"][0] + row @ memory["x"].astype(np.int64)).astype(np.int32)


def _conv3x3(memory: Memory) -> None:
    image = memory["image"].reshape(10, 34).astype(np.int64)
    weights = np.array([[-1, -2, -1], [-2, 16, -2], [-1, -2, -1]])
    for j in range(32):
        memory["out"][j] = (weights * image[0:3, j : j + 3]).sum() >> 2


def _histogram(memory: Memory) -> None:
    classes = (memory["x"] // 16) % 16
    memory["count"] += np.bincount(classes, minlength=16).astype(np.int32)


def _bitcount(memory: Memory) -> None:
    for i, word in enumerate(memory["x"]):
        memory["bits"][i] = (int(word) % (1 << 32)).bit_count()


def _isqrt(memory: Memory) -> None:
    # After k + 1 steps the k + 1 leading bits of the root are known; they stand where the next product needs them.
    root = math.isqrt(1234567890)
    for k in range(16):
        left = 15 - k
        memory["root"][k] = (root >> left) << (2 * left)


def _saturate(memory: Memory) -> None:
    scaled = np.floor_divide(memory["x"].astype(np.int64) * 77 + 128, 256) + 3
    memory["y"][:] = np.clip(scaled, 0, 255)


def _hashround(memory: Memory) -> None:
    state = 2166136261
    for i, word in enumerate(memory["x"]):
        state = ((state ^ (int(word) % (1 << 32))) * 16777619) % (1 << 32)
        state = (state * (1 << 13) + state // (1 << 19)) % (1 << 32)
        memory["state"][i] = np.uint32(state).astype(np.int32)


def _butterfly(memory: Memory) -> None:
    re, im, wr, wi = memory["re"], memory["im"], memory["wr"], memory["wi"]
    lower_re, lower_im = re[:32].copy(), im[:32].copy()
    turned_re = wr * re[32:] - wi * im[32:]
    turned_im = wr * im[32:] + wi * re[32:]
    re[:32], re[32:] = lower_re + turned_re, lower_re - turned_re
    im[:32], im[32:] = lower_im + turned_im, lower_im - turned_im


def _stencil(memory: Memory) -> None:
    u, quarter, half = memory["u"], np.float32(0.25), np.float32(0.5)
    for i in range(1, 65):
        u[i] = quarter * u[i - 1] + half * u[i] + quarter * u[i + 1]


REFERENCES: dict[str, Callable[[Memory], None]] = {
    "gemm": _gemm,
    "fir": _fir,
    "dot": _dot,
    "gemv": _gemv,
    "conv3x3": _conv3x3,
    "histogram": _histogram,
    "bitcount": _bitcount,
    "isqrt": _isqrt,
    "saturate": _saturate,
    "hashround": _hashround,
    "butterfly": _butterfly,
    "stencil": _stencil,
}
"""Per built-in kernel what it does to its memory, in place."""
