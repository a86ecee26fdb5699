"""Which maps stay on the chip of the generated overlay from a layer to the next [Meng2021, sec. 5, step 5]."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

LONGEST = 0xFFFF
"""Rows of a matrix in a buffer."""


def staying(
    reads: Iterable[int], matrices: Mapping[int, tuple[int, int]], depth: int, banks: int
) -> set[int]:
    """Of the layers (by position) that may read the map of the layer right before them from the tensor buffer, those
    that do: in order, wherever the map fits beside the one that the layer before reads there, if it does. ``matrices``:
    positions and channels of the maps by reader; ``depth``: words of each of the ``banks``."""
    found: set[int] = set()
    words = {at: map_words(*matrices[at], banks) for at in reads}
    for at in sorted(words):
        beside = words[at - 1] if at - 1 in found else 0
        if words[at] + beside <= depth and matrices[at][0] <= LONGEST:
            found.add(at)
    return found


def map_words(positions: int, channels: int, banks: int) -> int:
    """Words of a bank that a map takes: rows are positions, columns channels."""
    return positions * -(-channels // banks)
