"""Sample solutions of the lesson on tiling."""

from __future__ import annotations

from itertools import product


def moved(extents: list[int], counts: list[int], inner: int | None) -> int:
    rows, columns, depth = extents
    visits = [1 if loop == inner else count for loop, count in enumerate(counts)]
    return rows * depth * visits[1] + depth * columns * visits[0] + rows * columns * (2 * visits[2] - 1)


def exercise_1(extents: list[int], tiles: list[int], order: str) -> int:
    counts = [extent // tile for extent, tile in zip(extents, tiles, strict=True)]
    running = [loop for loop in order if counts["IJK".index(loop)] > 1]
    return moved(extents, counts, "IJK".index(running[-1]) if running else None)


def least(extents: list[int], words: int, sizes: list[list[int]]) -> int:
    found: list[int] = []
    for a, b, c in product(*sizes):
        if a * c + c * b + a * b <= words:
            counts = [-(-extent // tile) for extent, tile in zip(extents, (a, b, c), strict=True)]
            found.extend(moved(extents, counts, inner) for inner in range(3))
    return min(found, default=-1)


def exercise_2(extents: list[int], words: int) -> int:
    return least(extents, words, [[t for t in range(1, e + 1) if e % t == 0] for e in extents])


def exercise_3(extents: list[int], words: int) -> int:
    return least(extents, words, [list(range(1, e + 1)) for e in extents])
