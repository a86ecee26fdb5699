"""The cube rule for treewidth 3 (Arnborg and Proskurowski), and the neighbours of a vertex while others go."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from mapper.models.compiled import compiled

Array = NDArray[Any]


def _neighbours(at: int, first: Array, to: Array, following: Array, gone: Array, near: Array) -> int:
    """Fills in the neighbours of a vertex that are still there; the others leave its list. Their number."""
    count = 0
    last = -1
    half = first[at]
    while half != -1:
        if gone[to[half]]:
            if last == -1:
                first[at] = following[half]
            else:
                following[last] = following[half]
        else:
            near[count] = to[half]
            count += 1
            last = half
        half = following[half]
    return count


def _outer(
    centre: int, at: int, others: Array, first: Array, to: Array, following: Array, gone: Array, near: Array
) -> bool:
    """The two neighbours other than ``centre`` of a vertex of degree 3, into ``others``."""
    count = neighbours(at, first, to, following, gone, near)
    found = 0
    for i in range(count):
        if near[i] != centre and found < 2:
            others[found] = near[i]
            found += 1
    return found == 2


def _cube(
    at: int, degree: Array, first: Array, to: Array, following: Array, gone: Array, near: Array, other_near: Array,
    corner: Array,
) -> int:  # fmt: skip
    """A vertex of degree 3 that may go because a cube stands around ``at``, whose three neighbours are ``near``, or
    around one of these; -1 if none does. ``other_near`` [V] and ``corner`` [3, 2] are scratch."""
    for i in range(4):
        centre = at if i == 3 else near[i]
        if degree[centre] != 3:
            continue
        neighbours(centre, first, to, following, gone, other_near)
        x, y, z = other_near[0], other_near[1], other_near[2]
        if degree[x] != 3 or degree[y] != 3 or degree[z] != 3:
            continue
        good = True
        for j in range(3):
            around = x if j == 0 else (y if j == 1 else z)
            good = good and outer(centre, around, corner[j], first, to, following, gone, other_near)
        if not good:
            continue
        # Each two of the three share one outer corner, and the corners are three.
        shared = 0
        for j in range(3):
            for k in range(j):
                equal = 0
                for p in range(2):
                    for q in range(2):
                        equal += corner[j, p] == corner[k, q]
                shared += equal == 1
        common = -1
        for p in range(2):
            corner_at = corner[0, p]
            if (corner_at == corner[1, 0] or corner_at == corner[1, 1]) and (
                corner_at == corner[2, 0] or corner_at == corner[2, 1]
            ):
                common = corner_at
        if shared == 3 and common == -1:
            found: int = x
            return found
    return -1


neighbours = compiled(_neighbours)
outer = compiled(_outer)
cube = compiled(_cube)
