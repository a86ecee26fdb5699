"""Open hash tables of pairs of vertices, for compiled code: which pairs are joined, and who waits for one to be."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mapper.models.compiled import compiled

Array = NDArray[Any]


def _slot(keys: Array, key: int) -> int:
    """Where ``key`` is in an open table of a power of two slots (-1: free), or where it would go."""
    mask = len(keys) - 1
    mixed = key * 0x9E3779B97F4A7C1
    at = (mixed ^ (mixed >> 29)) & mask
    while keys[at] != -1 and keys[at] != key:
        at = (at + 1) & mask
    return at


def _grown(keys: Array, values: Array) -> tuple[Array, Array]:
    """The same table with twice the slots."""
    wider = np.full(2 * len(keys), -1, np.int64)
    held = np.empty(2 * len(keys), np.int64)
    for old in range(len(keys)):
        if keys[old] != -1:
            at = slot(wider, keys[old])
            wider[at] = keys[old]
            held[at] = values[old]
    return wider, held


def _key(vertices: int, one: int, other: int) -> int:
    return min(one, other) * vertices + max(one, other)


def _joined(keys: Array, vertices: int, one: int, other: int) -> bool:
    key: int = pair_key(vertices, one, other)
    found: bool = keys[slot(keys, key)] == key
    return found


slot = compiled(_slot)
grown = compiled(_grown)
pair_key = compiled(_key)
joined = compiled(_joined)
