"""Exercises of the lesson on hierarchies; the references walk through all tiles, orders and choices of what is kept."""

from __future__ import annotations

from functools import cache
from itertools import chain, combinations, permutations, product

from docs.lessons.exercise.exercise import Exercise, equal_to

MATRICES = {"A": (0, 2), "B": (2, 1), "O": (0, 1)}
"""Loops that index each matrix."""


def walked_words(bounds: list[int], tiles: list[int], order: str, keep: str) -> int:
    """Move tiles as the loops over tiles run, and count; what is not kept moves a word in each iteration."""
    places = ["IJK".index(loop) for loop in order]
    held: dict[str, tuple[int, ...]] = {}
    words = 0
    for at in product(*(range(0, bounds[place], tiles[place]) for place in places)):
        corner = dict(zip(places, at, strict=True))
        for matrix, loops in MATRICES.items():
            both_ways = 2 if matrix == "O" else 1
            if matrix not in keep:
                words += both_ways * tiles[0] * tiles[1] * tiles[2]
                continue
            tile = tuple(corner[loop] for loop in loops)
            if held.get(matrix) != tile:
                held[matrix] = tile
                words += both_ways * tiles[loops[0]] * tiles[loops[1]]
    return words


@cache
def least_words(bounds: tuple[int, ...], words: int, keeps: tuple[str, ...]) -> int:
    """The least over all tiles that fit, orders, and these choices; -1 if none fits."""
    sizes = [[size for size in range(1, bound + 1) if bound % size == 0] for bound in bounds]
    found = [
        walked_words(list(bounds), list(tiles), "".join(order), keep)
        for keep in keeps
        for tiles in product(*sizes)
        if sum(tiles[MATRICES[one][0]] * tiles[MATRICES[one][1]] for one in keep) <= words
        for order in permutations("IJK")
    ]
    return min(found, default=-1)


def least_bypassing(bounds: list[int], words: int) -> int:
    every = tuple("".join(one) for one in chain.from_iterable(combinations("ABO", n) for n in range(4)))
    return least_words(tuple(bounds), words, every)


def price_of_keeping(bounds: list[int], words: int) -> int:
    kept = least_words(tuple(bounds), words, ("ABO",))
    return -1 if kept < 0 else kept - least_bypassing(bounds, words)


EXERCISES = (
    Exercise(
        "exercise_1",
        (
            ([4, 6, 8], [2, 3, 1], "IJK", "ABO"),
            ([4, 6, 8], [2, 3, 1], "KJI", "AO"),
            ([4, 6, 8], [4, 1, 8], "IJK", "A"),
            ([4, 6, 8], [1, 1, 1], "JIK", ""),
        ),
        equal_to(walked_words),
    ),
    Exercise(
        "exercise_2",
        (([4, 4, 6], 12), ([4, 4, 6], 3), ([4, 4, 6], 0), ([2, 9, 4], 7)),
        equal_to(least_bypassing),
    ),
    Exercise(
        "exercise_3",
        (([4, 4, 6], 12), ([4, 4, 6], 3), ([4, 4, 6], 2), ([2, 9, 4], 7)),
        equal_to(price_of_keeping),
    ),
)
