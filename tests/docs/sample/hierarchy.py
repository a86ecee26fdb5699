"""Sample solution of the lesson on hierarchies: formulas instead of walks."""

from __future__ import annotations

from itertools import permutations, product
from math import prod

OWN = {"A": "IK", "B": "KJ", "O": "IJ"}


def exercise_1(bounds: list[int], tiles: list[int], order: str, keep: str) -> int:
    count = {loop: bound // size for loop, bound, size in zip("IJK", bounds, tiles, strict=True)}
    size = dict(zip("IJK", tiles, strict=True))
    words = 0
    for matrix, own in OWN.items():
        moved = prod(bounds)
        if matrix in keep:
            turning = [loop for loop in order if count[loop] > 1]
            while turning and turning[-1] not in own:
                turning.pop()
            moved = prod(size[loop] for loop in own) * prod(count[loop] for loop in turning)
        words += moved * (2 if matrix == "O" else 1)
    return words


def least(bounds: list[int], words: int, keeps: list[str]) -> int:
    sizes = [[size for size in range(1, bound + 1) if bound % size == 0] for bound in bounds]
    found = []
    for keep, tiles in product(keeps, product(*sizes)):
        size = dict(zip("IJK", tiles, strict=True))
        if sum(prod(size[loop] for loop in OWN[matrix]) for matrix in keep) <= words:
            found += [exercise_1(bounds, list(tiles), "".join(order), keep) for order in permutations("IJK")]
    return min(found, default=-1)


def exercise_2(bounds: list[int], words: int) -> int:
    return least(bounds, words, ["", "A", "B", "O", "AB", "AO", "BO", "ABO"])


def exercise_3(bounds: list[int], words: int) -> int:
    kept = least(bounds, words, ["ABO"])
    return -1 if kept < 0 else kept - exercise_2(bounds, words)
