"""Exercises of the lesson on algorithm selection; the references count passes, walk paths, enumerate along a front."""

from __future__ import annotations

from itertools import product
from random import Random

from docs.lessons.exercise.exercise import Exercise, equal_to

Edge = tuple[int, int, list[list[int]]]


def passes(rows: int, columns: int, array: list[int]) -> int:
    return len(range(0, rows, array[0])) * len(range(0, columns, array[1]))


def algorithm_cycles(layer: list[int], array: list[int]) -> list[int]:
    """Blocks of two operands that the array holds, times what streams by."""
    side, window, inputs, outputs = layer

    def best(a: int, b: int, c: int) -> int:
        return min(
            passes(rows, columns, array) * rest for rows, columns, rest in [(a, c, b), (b, c, a), (b, a, c)]
        )

    pixels, positions = side * side, window * window
    return [
        best(pixels, positions * inputs, outputs),
        positions * best(pixels, inputs, outputs) if window > 1 else -1,
        16 * best(pixels // 4, inputs, outputs) if window == 3 else -1,
    ]


def left_over(vertices: int, edges: list[list[int]]) -> int:
    """Neighbours are those whom a path through eliminated vertices reaches."""
    near: dict[int, set[int]] = {v: set() for v in range(vertices)}
    for u, v in edges:
        near[u].add(v)
        near[v].add(u)
    gone: set[int] = set()

    def reached(start: int) -> set[int]:
        seen, found, waiting = {start}, set(), [start]
        while waiting:
            for v in near[waiting.pop()] - seen:
                seen.add(v)
                if v in gone:
                    waiting.append(v)
                else:
                    found.add(v)
        return found

    while True:
        more = next((v for v in near if v not in gone and len(reached(v)) <= 2), None)
        if more is None:
            return vertices - len(gone)
        gone.add(more)


def least_cost(costs: list[list[int]], edges: list[Edge]) -> int:
    """Vertex by vertex in the order given, with the least for all choices of those that still have later neighbours."""
    last = {v: v for v in range(len(costs))}
    for u, v, _ in edges:
        last[min(u, v)] = max(last[min(u, v)], u, v)
    front: list[int] = []
    least: dict[tuple[int, ...], int] = {(): 0}
    for v, own in enumerate(costs):
        kept = [u for u in [*front, v] if last[u] > v]
        following: dict[tuple[int, ...], int] = {}
        for (taken, so_far), choice in product(least.items(), range(len(own))):
            at = {**dict(zip(front, taken, strict=True)), v: choice}
            total = so_far + own[choice]
            total += sum(matrix[at[a]][at[b]] for a, b, matrix in edges if v == max(a, b))
            key = tuple(at[u] for u in kept)
            following[key] = min(total, following.get(key, total))
        front, least = kept, following
    return min(least.values())


def instance(seed: int, pairs: list[tuple[int, int]], choices: int = 3) -> tuple[list[list[int]], list[Edge]]:
    """Random costs on the graph of ``pairs``."""
    random = Random(seed)
    vertices = 1 + max(max(pair) for pair in pairs)
    costs = [[random.randint(0, 50) for _ in range(choices)] for _ in range(vertices)]
    return costs, [
        (u, v, [[random.randint(-20, 60) for _ in range(choices)] for _ in range(choices)]) for u, v in pairs
    ]


DIAMOND = [(0, 1), (0, 2), (1, 3), (2, 3)]
LADDER = [edge for n in range(0, 78, 2) for edge in ((n, n + 1), (n, n + 2), (n + 1, n + 3))]
KNOTS = [(5 * k + a, 5 * k + b) for k in range(4) for a in range(4) for b in range(a + 1, 4)]
CHAIN_OF_KNOTS = [
    *KNOTS,
    *((5 * k + 3, 5 * k + 4) for k in range(4)),
    *((5 * k + 4, 5 * k + 5) for k in range(3)),
]
WHEEL = [*((0, v) for v in range(1, 16)), *((v, v + 1) for v in range(1, 15)), (1, 15)]

EXERCISES = (
    Exercise(
        "exercise_1",
        (
            ([28, 3, 8, 16], [12, 20]),
            ([28, 5, 16, 8], [12, 20]),
            ([28, 1, 56, 16], [12, 20]),
            ([14, 3, 480, 192], [95, 64]),
            ([2, 7, 1, 1], [4, 4]),
        ),
        equal_to(algorithm_cycles),
    ),
    Exercise(
        "exercise_2",
        (
            (4, [list(pair) for pair in DIAMOND]),
            (5, [[0, 1], [1, 0], [0, 1], [2, 3]]),
            (4, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]),
            (80, [list(pair) for pair in LADDER]),
            (20, [list(pair) for pair in CHAIN_OF_KNOTS]),
            (7, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3], [3, 4], [4, 5], [5, 0], [5, 6]]),
        ),
        equal_to(left_over),
    ),
    Exercise(
        "exercise_3",
        (
            instance(1, DIAMOND),
            instance(2, LADDER),
            instance(3, WHEEL),
            instance(4, CHAIN_OF_KNOTS),
        ),
        equal_to(least_cost),
    ),
)
