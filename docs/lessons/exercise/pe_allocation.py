"""Exercises of the lesson on PE allocation; the references count and enumerate."""

from __future__ import annotations

from itertools import combinations

from docs.lessons.exercise.exercise import Exercise, equal_to

Layer = list[int]


def frame_cycles(layer: Layer, pes: int) -> int:
    """Maps are dealt out to the PEs; the fullest hand decides."""
    filters, depth, window, positions = layer
    hands = [len(range(pe, filters, pes)) for pe in range(min(pes, filters))]
    pairs = len(range(0, depth, 2))
    return positions * max(hands) * pairs * window


def useful_counts(filters: int, most: int) -> list[int]:
    """From one useful count jump to the first that makes one map less the most."""
    found = [1]
    share = filters
    while share > 1:
        pes = (filters + share - 2) // (share - 1)
        share = (filters + pes - 1) // pes
        if pes > most:
            break
        found.append(pes)
    return found


def least_shared_interval(layers: list[Layer], array: int) -> int:
    """Least interval over all pairs that may share, or none; all splits of the PEs, one PE at a time."""

    def separate(own: list[Layer], pes: int) -> int | None:
        least: dict[int, int] = {0: 0}
        for layer in own:
            following: dict[int, int] = {}
            for used, interval in least.items():
                for count in range(1, pes - used + 1):
                    candidate = max(interval, frame_cycles(layer, count))
                    following[used + count] = min(candidate, following.get(used + count, candidate))
            least = following
        return min(least.values()) if least else None

    found = [separate(layers, array)]
    for a, b in combinations(range(len(layers)), 2):
        rest = separate([layer for i, layer in enumerate(layers) if i not in (a, b)], array - 1)
        if rest is not None:
            found.append(max(rest, frame_cycles(layers[a], 1) + frame_cycles(layers[b], 1)))
    known = [interval for interval in found if interval is not None]
    return min(known) if known else -1


SMALL = [[24, 1, 9, 784], [1, 24, 4, 196], [24, 24, 9, 196], [1, 24, 4, 49], [16, 24, 9, 49]]

EXERCISES = (
    Exercise(
        "exercise_1",
        (([24, 24, 9, 196], 9), ([24, 24, 9, 196], 8), ([5, 3, 1, 7], 6)),
        equal_to(frame_cycles),
    ),
    Exercise(
        "exercise_2",
        ((24, 24), (24, 7), (1, 5), (512, 512), (10**9, 10**12), (999_999_937, 10**6)),
        equal_to(useful_counts),
    ),
    Exercise(
        "exercise_3",
        (
            (SMALL, 16),
            (SMALL, 5),
            (SMALL, 4),
            (SMALL, 3),
            ([[4, 2, 1, 10]], 1),
            ([[4, 2, 1, 9], [4, 2, 1, 9]], 2),
        ),
        equal_to(least_shared_interval),
    ),
)
