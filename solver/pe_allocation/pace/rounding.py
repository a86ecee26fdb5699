"""From a solution of the linear program to an allocation: PEs in whole numbers, then paces for them."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from mapper.solver.pe_allocation.pace.node import Node, Paces, Steps
from mapper.solver.pe_allocation.pace.relaxation import Relaxation, Relaxed
from mapper.solver.pe_allocation.pace.weight import Weights, weights_of

CLOSE = 1e-6
MOST_REFUSED = 12
"""Moves that did not pay, after which an allocation is left as it is."""


def latency_of(relaxation: Relaxation, paces: Sequence[int]) -> int:
    """Cycles of a frame at these paces."""
    begun = [0] * len(paces)
    for start in relaxation.starts:
        lag = begun[start.feed] + start.wait + start.a * paces[start.feed] - start.b * paces[start.layer]
        begun[start.layer] = max(begun[start.layer], lag)
    each = zip(begun, paces, relaxation.positions, relaxation.drains, strict=True)
    return max(begin + pace * count + wait for begin, pace, count, wait in each)


@dataclass(frozen=True)
class Rounded:
    """The number of each layer's step, paces, and their latency."""

    steps: tuple[int, ...]
    paces: Paces
    latency: int


def fractional(relaxed: Relaxed, node: Node, steps: Sequence[Steps]) -> list[tuple[float, int, int]]:
    """Layers whose PEs the solution underestimates: by how many, which, and the last pace of the step it is on."""
    found = []
    for at, one in enumerate(steps):
        kept = one.within(node.low[at], node.high[at])
        reached = _reached(one, kept, relaxed.paces[at])
        short = float(one.pes[reached]) - relaxed.prices[at]
        if short > CLOSE and reached + 1 < kept.stop:
            after = one.paces[reached + 1] - 1
            found.append((short, at, one.paces[reached] if one.single else after))
    return sorted(found, reverse=True)


def _reached(one: Steps, kept: range, pace: float) -> int:
    """The step that a pace is on, or the first."""
    return min(max(bisect_right(one.paces, pace + CLOSE) - 1, kept.start), kept.stop - 1)


def rounded(
    relaxation: Relaxation,
    relaxed: Relaxed,
    node: Node,
    steps: Sequence[Steps],
    weights: Weights,
    most_pes: int,
) -> Rounded | None:
    """An allocation near ``relaxed``: layers between two steps take the slower one, and those that gain most a PE the
    faster one while PEs are left. Paces are those that the linear program then finds, rounded."""
    taken: list[int] = []
    faster: list[tuple[float, int, int]] = []
    for at, one in enumerate(steps):
        kept = one.within(node.low[at], node.high[at])
        reached = _reached(one, kept, relaxed.paces[at])
        later = reached
        if float(one.pes[reached]) - relaxed.prices[at] > CLOSE and reached + 1 < kept.stop:
            later = reached + 1
            more = int(one.pes[reached] - one.pes[later])
            lost = weights.layers[at] * (one.paces[later] - relaxed.paces[at])
            faster.append((lost / max(1, more), at, reached))
        taken.append(later)
    spare = most_pes - sum(int(one.pes[number]) for one, number in zip(steps, taken, strict=True))
    for _, at, reached in sorted(faster, reverse=True):
        more = int(steps[at].pes[reached] - steps[at].pes[taken[at]])
        if more <= spare:
            spare -= more
            taken[at] = reached
    if spare < 0:
        return None
    return paced(relaxation, tuple(taken), node, steps)


def paced(
    relaxation: Relaxation, taken: tuple[int, ...], node: Node, steps: Sequence[Steps]
) -> Rounded | None:
    """The best paces found for given steps; None if a layer's range has none."""
    low = tuple(one.paces[number] for one, number in zip(steps, taken, strict=True))
    high = tuple(
        pace if one.single else max(pace, most) for one, pace, most in zip(steps, low, node.high, strict=True)
    )
    relaxed = relaxation.solve(Node(low, high, 0), dict(enumerate(taken)))
    tried = [low]
    if relaxed is not None:
        for rounding in (_up, math.floor, round):
            tried.append(
                tuple(
                    min(max(rounding(pace), least), most)
                    for pace, least, most in zip(relaxed.paces, low, high, strict=True)
                )
            )
    best = min(tried, key=lambda paces: latency_of(relaxation, paces))
    return Rounded(taken, best, latency_of(relaxation, best))


def _up(pace: float) -> int:
    return math.ceil(pace - CLOSE)


def improved(
    relaxation: Relaxation, found: Rounded, node: Node, steps: Sequence[Steps], most_pes: int
) -> Rounded:
    """The allocation after moves that pay: the multipliers of its own linear program say what a layer's pace is worth,
    so that PEs go from layers that lose little a PE to one that gains much. What does not pay is tried once."""
    refused: set[tuple[int, int]] = set()
    while len(refused) < MOST_REFUSED:
        move = _move(relaxation, found, node, steps, most_pes, refused)
        if move is None:
            break
        at, taken = move
        made = None if taken is None else paced(relaxation, taken, node, steps)
        if made is not None and made.latency < found.latency:
            found = made
            refused.clear()
        else:
            refused.add((at, found.steps[at]))
    return found


def _move(
    relaxation: Relaxation,
    found: Rounded,
    node: Node,
    steps: Sequence[Steps],
    most_pes: int,
    refused: set[tuple[int, int]],
) -> tuple[int, tuple[int, ...] | None] | None:
    """The layer that would gain most a PE, and the steps with it one faster and others slower that pay for it (None:
    they cannot); None if no layer gains."""
    weights = weights_of_steps(relaxation, found, node, steps, most_pes)
    best: tuple[float, int] | None = None
    for at, one in enumerate(steps):
        number = found.steps[at]
        if weights[at] <= 0 or number == 0 or (at, number) in refused:
            continue
        gain = weights[at] * (found.paces[at] - one.paces[number - 1])
        best = max(best or (0.0, -1), (gain / max(1, int(one.pes[number - 1] - one.pes[number])), at))
    if best is None or best[1] < 0:
        return None
    at = best[1]
    taken = list(found.steps)
    taken[at] -= 1
    short = sum(int(one.pes[number]) for one, number in zip(steps, taken, strict=True)) - most_pes
    while short > 0:
        cheapest: tuple[float, int] | None = None
        for other, one in enumerate(steps):
            number = taken[other]
            if other == at or number + 1 >= len(one.paces) or one.paces[number + 1] > node.high[other]:
                continue
            loss = weights[other] * max(0, one.paces[number + 1] - found.paces[other])
            saved = int(one.pes[number] - one.pes[number + 1])
            cost = (loss / min(saved, short), other)
            cheapest = cost if cheapest is None else min(cheapest, cost)
        if cheapest is None:
            return at, None
        other = cheapest[1]
        short -= int(steps[other].pes[taken[other]] - steps[other].pes[taken[other] + 1])
        taken[other] += 1
    return at, tuple(taken)


def weights_of_steps(
    relaxation: Relaxation, found: Rounded, node: Node, steps: Sequence[Steps], most_pes: int
) -> list[float]:
    """What a cycle of each layer's pace costs in latency, where the steps are those of ``found``."""
    low = tuple(one.paces[number] for one, number in zip(steps, found.steps, strict=True))
    high = tuple(map(max, low, node.high))
    relaxed = relaxation.solve(Node(low, high, 0), dict(enumerate(found.steps)))
    if relaxed is None:
        return [0.0] * len(steps)
    weights = weights_of(relaxed, relaxation, high, most_pes)
    return [weight / max(1, weights.total) for weight in weights.layers]
