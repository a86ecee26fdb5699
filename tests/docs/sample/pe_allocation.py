"""Sample solutions of the lesson on PE allocation."""

from __future__ import annotations

from itertools import combinations


def exercise_1(layer: list[int], pes: int) -> int:
    filters, depth, window, positions = layer
    return positions * -(-filters // pes) * -(-depth // 2) * window


def exercise_2(filters: int, most: int) -> list[int]:
    found = []
    pes = 1
    while pes <= min(most, filters):
        found.append(pes)
        share = -(-filters // pes)
        if share == 1:
            break
        pes = -(-filters // (share - 1))
    return found


def exercise_3(layers: list[list[int]], array: int) -> int:
    found = []
    for pair in [(), *combinations(range(len(layers)), 2)]:
        shared = sum(exercise_1(layers[i], 1) for i in pair)
        rest = [layer for i, layer in enumerate(layers) if i not in pair]
        pes = [1] * len(rest)
        left = array - len(rest) - (1 if pair else 0)
        if left < 0:
            continue
        while rest:
            slowest = max(range(len(rest)), key=lambda i: exercise_1(rest[i], pes[i]))
            filters = rest[slowest][0]
            more = next(
                (
                    p
                    for p in range(pes[slowest] + 1, filters + 1)
                    if -(-filters // p) < -(-filters // pes[slowest])
                ),
                None,
            )
            if more is None or more - pes[slowest] > left:
                break
            left -= more - pes[slowest]
            pes[slowest] = more
        found.append(max([shared, *(exercise_1(layer, p) for layer, p in zip(rest, pes, strict=True))]))
    return min(found, default=-1)
