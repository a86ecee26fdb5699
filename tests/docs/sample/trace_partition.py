"""Sample solutions of the lesson on trace partitioning."""

from __future__ import annotations


def exercise_1(steps: list[list[int]]) -> int:
    port = end = 0
    there: list[int] = []
    saved: list[int] = []
    for load, _, _ in steps[:2]:
        port += load
        there.append(port if load else 0)
    for k, (_, compute, store) in enumerate(steps):
        end = max(end, there[k], saved[k - 2] if k >= 2 else 0) + compute
        port = max(port, end) + store if store else port
        saved.append(port if store else end)
        for load, _, _ in steps[k + 2 : k + 3]:
            port = max(port, end) + load if load else port
            there.append(port if load else 0)
    return max(port, end)


def exercise_2(layer: list[int], rows: int, channels: int, order: str) -> list[int]:
    side, window, inputs, outputs = layer
    row_tiles, channel_tiles = -(-side // rows), -(-outputs // channels)
    beyond = window // 2
    maps = sum(
        (min(side, start + rows + beyond, side + beyond) - max(0, start - beyond)) * side * inputs
        for start in range(0, side, rows)
    )
    weights = outputs * window**2 * inputs
    if order == "maps" and channel_tiles > 2:
        weights *= row_tiles
    if order == "weights" and row_tiles > 2:
        maps *= channel_tiles
    return [maps + weights, side * side * outputs]


def exercise_3(layers: list[list[list[int]]], most: int) -> int:
    reached = {(0, 0): 0}
    for options in layers:
        following: dict[tuple[int, int], int] = {}
        for (kept, used), so_far in reached.items():
            for cycles, first, last in options:
                if first == kept and used + last <= most:
                    state = (last, used + last)
                    following[state] = min(so_far + cycles, following.get(state, so_far + cycles))
        reached = following
    return min((cycles for (kept, _), cycles in reached.items() if not kept), default=-1)
