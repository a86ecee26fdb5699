"""What multipliers show of a node, in integers.

Each row of the linear program times a number that is not negative, added up, says that

    S L >= sum_i (c_i z_i + m p_i) - m P,

S being the sum of the multipliers of ends, m that of the PEs, and c_i what is left of z_i. Starts cancel: what leaves a
layer's start is made no less than what enters it, and a start that is not negative is then left out. The right side
falls apart into layers, so that its least value is found layer by layer and step by step. Multipliers are rounded to
integers before; any are valid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mapper.solver.pe_allocation.pace.node import Node, Numbers, Steps
from mapper.solver.pe_allocation.pace.relaxation import Relaxed, Start

BITS = 60
"""Every product counted has fewer bits."""
FINEST = 40


@dataclass(frozen=True)
class Weights:
    """S, the c_i and m."""

    total: int
    layers: tuple[int, ...]
    pes: int


def weights_of(
    relaxed: Relaxed, starts: Sequence[Start], positions: Sequence[int], high: Sequence[int], most_pes: int
) -> Weights:
    """The multipliers of a solution as integers, as fine as products of 64 bits allow."""
    fine = FINEST
    while True:
        found = _rounded(relaxed, starts, positions, 1 << fine)
        largest = max(abs(weight) * pace for weight, pace in zip(found.layers, high, strict=True))
        beyond = max(largest, found.pes * most_pes).bit_length() - BITS
        if beyond < 0:
            return found
        if fine == 0:
            return Weights(0, (0,) * len(positions), 0)
        fine = max(0, fine - beyond - 1)


def _rounded(relaxed: Relaxed, starts: Sequence[Start], positions: Sequence[int], scale: int) -> Weights:
    ends = [round(scale * times) for times in relaxed.ends]
    leaving = list(ends)
    layers = [times * count for times, count in zip(ends, positions, strict=True)]
    # Lines come layer by layer, so that from the last one on all that leaves a layer is known when it is entered.
    left, at = 0, len(positions)
    for start, times in zip(reversed(starts), reversed(relaxed.starts), strict=True):
        if start.layer != at:
            at, left = start.layer, leaving[start.layer]
        taken = min(left, round(scale * times))
        left -= taken
        leaving[start.feed] += taken
        layers[start.feed] += start.a * taken
        layers[at] -= start.b * taken
    return Weights(sum(ends), tuple(layers), round(scale * relaxed.pes))


@dataclass(frozen=True)
class Weighed:
    """The latency of a node is at least ``bound``; the node ``left`` has all of its latencies below the value it was
    weighed for (None: there are none)."""

    bound: int
    left: Node | None


def weighed(node: Node, steps: Sequence[Steps], weights: Weights, most_pes: int, below: int) -> Weighed:
    """What ``weights`` show of ``node``: its bound, and which steps of layers lead to no latency less than ``below``,
    given the least of all others."""
    if weights.total == 0:
        return Weighed(node.bound, node)
    priced: list[tuple[range, Numbers]] = []
    total = -weights.pes * most_pes
    for at, one in enumerate(steps):
        kept = one.within(node.low[at], node.high[at])
        first, last = one.ends(kept, node.low[at], node.high[at])
        paces = first if weights.layers[at] >= 0 else last
        prices = paces * weights.layers[at] + one.pes[kept.start : kept.stop] * weights.pes
        priced.append((kept, prices))
        total += int(prices.min())
    bound = max(node.bound, -(-total // weights.total))
    room = weights.total * (below - 1) - total
    if room < 0:
        return Weighed(max(bound, below), None)
    low, high = list(node.low), list(node.high)
    for at, (kept, prices) in enumerate(priced):
        fitting = np.flatnonzero(prices - prices.min() <= min(room, 1 << 62))
        one, first, last = steps[at], kept.start + int(fitting[0]), kept.start + int(fitting[-1])
        low[at] = max(low[at], one.paces[first])
        if one.single:
            high[at] = one.paces[last]
        elif last + 1 < kept.stop:
            high[at] = min(high[at], one.paces[last + 1] - 1)
    return Weighed(bound, Node(tuple(low), tuple(high), bound))
