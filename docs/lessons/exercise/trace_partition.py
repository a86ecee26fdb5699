"""Exercises of the lesson on trace partitioning; the references run a port cycle by cycle, walk tiles and enumerate."""

from __future__ import annotations

from collections import deque
from itertools import product
from random import Random

from docs.lessons.exercise.exercise import Exercise, equal_to

Step = list[int]
Option = list[int]
LARGEST = 1 << 60


def cycles_run(steps: list[Step]) -> int:
    """A controller, a port that moves a word a cycle, and units; a cycle at a time."""
    queue: deque[tuple[str, int]] = deque()
    left = {("load", k): step[0] for k, step in enumerate(steps)} | {
        ("store", k): step[2] for k, step in enumerate(steps)
    }
    queue.extend(("load", k) for k in (0, 1) if k < len(steps))
    at, busy, cycle = 0, 0, 0
    while True:
        while queue and left[queue[0]] == 0:
            queue.popleft()
        if at < len(steps) and busy == 0 and left["load", at] == 0 and left.get(("store", at - 2), 0) == 0:
            busy = steps[at][1]
        if at == len(steps) and not queue:
            return cycle
        cycle += 1
        if queue:
            left[queue[0]] -= 1
        if busy:
            busy -= 1
            if busy == 0:
                queue.append(("store", at))
                if at + 2 < len(steps):
                    queue.append(("load", at + 2))
                at += 1


def words_moved(layer: list[int], rows: int, channels: int, order: str) -> list[int]:
    """Walk the steps with two places for each operand."""
    side, window, inputs, outputs = layer
    row_starts, channel_starts = range(0, side, rows), range(0, outputs, channels)
    if order == "maps":
        turns = list(product(row_starts, channel_starts))
    else:
        turns = [(row, channel) for channel, row in product(channel_starts, row_starts)]
    maps: list[int] = []
    weights: list[int] = []
    loaded = stored = 0
    for row, channel in turns:
        own = [channel + n for n in range(channels) if channel + n < outputs]
        lines = {line + n - window // 2 for line in range(row, min(row + rows, side)) for n in range(window)}
        if row not in maps:
            loaded += len(lines & set(range(side))) * side * inputs
        if channel not in weights:
            loaded += len(own) * window * window * inputs
        maps = [*(held for held in maps if held != row), row][-2:]
        weights = [*(held for held in weights if held != channel), channel][-2:]
        stored += len(own) * min(rows, side - row) * side
    return [loaded, stored]


def least_chain(layers: list[list[Option]], most: int) -> int:
    """The least sum for every way to go on from a layer, from the last layer to the first."""
    behind = {(kept, left): 0 if not kept else LARGEST for kept in (0, 1) for left in range(most + 1)}
    for options in reversed(layers):
        here = dict.fromkeys(behind, LARGEST)
        for (cycles, first, last), left in product(options, range(most + 1)):
            if last <= left:
                here[first, left] = min(here[first, left], cycles + behind[last, left - last])
        behind = here
    return behind[0, most] if behind[0, most] < LARGEST // 2 else -1


def random_layers(seed: int, count: int, options: int) -> list[list[Option]]:
    """Options of which those that keep more tend to be cheaper."""
    random = Random(seed)
    found = []
    for _ in range(count):
        situations = [[random.randint(0, 1), random.randint(0, 1)] for _ in range(options)]
        found.append([[random.randint(100, 200) - 30 * (a + b), a, b] for a, b in situations])
    return found


def random_steps(seed: int, count: int) -> list[Step]:
    random = Random(seed)
    return [
        [random.choice([0, 5, 20, 60]), random.randint(10, 50), random.choice([0, 8, 30])]
        for _ in range(count)
    ]


EXERCISES = (
    Exercise(
        "exercise_1",
        (
            ([[10, 5, 3]],),
            ([[10, 5, 3], [4, 5, 3], [4, 5, 3]],),
            ([[100, 20, 0], [0, 20, 0], [0, 20, 0], [0, 20, 40]],),
            ([[5, 1, 50], [5, 1, 50], [0, 1, 50], [5, 1, 50]],),
            (random_steps(1, 60),),
        ),
        equal_to(cycles_run),
    ),
    Exercise(
        "exercise_2",
        (
            ([16, 3, 16, 32], 4, 16, "maps"),
            ([16, 3, 32, 32], 4, 11, "weights"),
            ([16, 1, 32, 64], 8, 64, "weights"),
            ([7, 5, 3, 10], 1, 3, "maps"),
            ([7, 5, 3, 10], 3, 4, "weights"),
        ),
        equal_to(words_moved),
    ),
    Exercise(
        "exercise_3",
        (
            ([[[50, 0, 0], [30, 0, 1]], [[50, 0, 0], [45, 1, 0], [20, 1, 1]], [[50, 0, 0], [30, 1, 0]]], 2),
            ([[[50, 0, 0], [30, 0, 1]], [[50, 0, 0], [45, 1, 0], [20, 1, 1]], [[50, 0, 0], [30, 1, 0]]], 1),
            ([[[9, 0, 1]], [[9, 0, 0]]], 1),
            ([[[9, 0, 1]], [[9, 1, 0]]], 0),
            (random_layers(1, 200, 6), 200),
            (random_layers(2, 200, 6), 20),
        ),
        equal_to(least_chain),
    ),
)
