"""Exercises of the lesson on modulo scheduling; the references walk circles, replay registers and enumerate slots."""

from __future__ import annotations

from itertools import pairwise, product

from docs.lessons.exercise.exercise import Exercise, equal_to

Edge = list[int]
MOST_INTERVAL = 6


def least_bound(operations: int, edges: list[Edge], pes: int) -> int:
    """MII, with every simple circle walked."""
    bound = len(range(0, operations, pes))

    def walk(start: int, at: int, seen: list[int], distance: int) -> None:
        nonlocal bound
        for u, v, d in edges:
            if u != at:
                continue
            if v == start:
                bound = max(bound, -(-len(seen) // (distance + d)))
            elif v > start and v not in seen:
                walk(start, v, [*seen, v], distance + d)

    for start in range(operations):
        walk(start, start, [start], 0)
    return bound


def wrong_reads(issue: list[int], edges: list[Edge], interval: int, iterations: int = 12) -> list[int]:
    """Run the registers cycle by cycle; each remembers which iteration wrote it."""
    last = max(issue) + iterations * interval
    registers: list[int | None] = [None] * len(issue)
    wrong = set()
    for cycle in range(min(issue), last + 1):
        now = {
            o: (cycle - time) // interval
            for o, time in enumerate(issue)
            if (cycle - time) % interval == 0 and cycle >= time
        }
        for position, (u, v, d) in enumerate(edges):
            # What an iteration reads of the time before the loop is not at stake.
            if v in now and now[v] >= d and registers[u] != now[v] - d:
                wrong.add(position)
        for o, iteration in now.items():
            registers[o] = iteration
    return sorted(wrong)


def least_interval(operations: int, edges: list[Edge], pes: int) -> int:
    """Every assignment of slots, and for each whether stages exist."""
    for interval in range(1, MOST_INTERVAL + 1):
        for slots in product(range(interval), repeat=operations):
            if all(slots.count(slot) <= pes for slot in set(slots)) and stages_exist(slots, edges, interval):
                return interval
    return -1


def stages_exist(slots: tuple[int, ...], edges: list[Edge], interval: int) -> bool:
    """All-pairs bounds on differences of stages, closed by every intermediate operation."""
    count = len(slots)
    least: list[list[float]] = [[0 if a == b else float("-inf") for b in range(count)] for a in range(count)]
    for u, v, d in edges:
        # 1 <= slot_v - slot_u + (k_v - k_u + d) * interval <= interval
        ahead = slots[v] - slots[u]
        least[u][v] = max(least[u][v], -((ahead - 1) // interval) - d)
        least[v][u] = max(least[v][u], -((interval - ahead) // interval) + d)
    for middle, a, b in product(range(count), repeat=3):
        least[a][b] = max(least[a][b], least[a][middle] + least[middle][b])
    return all(least[o][o] <= 0 for o in range(count))


def chain(*operations: int) -> list[Edge]:
    return [[u, v, 0] for u, v in pairwise(operations)]


RUNNING = [*chain(0, 1, 2, 3, 4, 5), [2, 2, 1], [0, 4, 0]]

EXERCISES = (
    Exercise(
        "exercise_1",
        (
            (6, RUNNING, 4),
            (4, [*chain(0, 1, 2, 3), [3, 0, 1]], 4),
            (5, [*chain(0, 1, 2, 3, 4), [4, 0, 2], [2, 1, 1]], 16),
            (9, [], 2),
        ),
        equal_to(least_bound),
    ),
    Exercise(
        "exercise_2",
        (
            ([0, 1, 2, 4, 5, 7], RUNNING, 2),
            ([0, 1, 2, 3, 4, 5], RUNNING, 4),
            ([3, 1, 1], [[0, 1, 1], [1, 2, 0], [2, 0, 2]], 2),
        ),
        equal_to(wrong_reads),
    ),
    Exercise(
        "exercise_3",
        (
            (6, RUNNING, 4),
            (5, [[0, 1, 0], [0, 2, 0], [0, 3, 0], [0, 4, 0], [1, 4, 0]], 2),
            (3, [[0, 1, 0], [1, 2, 0], [2, 0, 1]], 3),
            (2, [[0, 1, 0], [0, 1, 1]], 2),
        ),
        equal_to(least_interval),
    ),
)
