"""Exercises of the lesson on tiling; the references walk through all tiles and orders."""

from __future__ import annotations

from functools import cache
from itertools import permutations, product

from docs.lessons.exercise.exercise import Exercise, equal_to

MATRICES = ((0, 2), (2, 1), (0, 1))
"""Loops that index A, B and O."""


def walked_words(extents: list[int], tiles: list[int], order: str) -> int:
    """Move tiles as the loops over tiles run, and count; a last tile may be smaller."""
    starts = [range(0, extent, tile) for extent, tile in zip(extents, tiles, strict=True)]
    places = ["IJK".index(loop) for loop in order]
    held: list[tuple[int, ...] | None] = [None, None, None]
    written: set[tuple[int, ...]] = set()
    words = 0
    for at in product(*(starts[place] for place in places)):
        corner = dict(zip(places, at, strict=True))
        for matrix, loops in enumerate(MATRICES):
            tile = tuple(corner[loop] for loop in loops)
            if held[matrix] == tile:
                continue
            held[matrix] = tile
            area = 1
            for loop in loops:
                area *= min(tiles[loop], extents[loop] - corner[loop])
            words += area
            if matrix == 2:
                words += area * (tile in written)
                written.add(tile)
    return words


@cache
def least_words(extents: tuple[int, ...], words: int, perfect: bool) -> int:
    """The least over all tiles that fit and all orders."""
    sizes = [[t for t in range(1, extent + 1) if extent % t == 0 or not perfect] for extent in extents]
    found = [
        walked_words(list(extents), list(tiles), "".join(order))
        for tiles in product(*sizes)
        if sum(tiles[a] * tiles[b] for a, b in MATRICES) <= words
        for order in permutations("IJK")
    ]
    return min(found, default=-1)


def least_perfect(extents: list[int], words: int) -> int:
    return least_words(tuple(extents), words, True)


def least_ragged(extents: list[int], words: int) -> int:
    return least_words(tuple(extents), words, False)


EXERCISES = (
    Exercise(
        "exercise_1",
        (
            ([24, 16, 36], [12, 8, 1], "JIK"),
            ([24, 16, 36], [12, 8, 1], "KJI"),
            ([24, 16, 36], [4, 4, 36], "IJK"),
            ([8, 6, 4], [8, 3, 4], "JIK"),
        ),
        equal_to(walked_words),
    ),
    Exercise(
        "exercise_2",
        (([8, 6, 12], 40), ([8, 6, 12], 3), ([8, 6, 12], 2), ([4, 12, 3], 20)),
        equal_to(least_perfect),
    ),
    Exercise("exercise_3", (([7, 5, 11], 40), ([7, 5, 11], 12), ([5, 3, 2], 2)), equal_to(least_ragged)),
)
