"""What multipliers show of a node, in integers.

Each row of the linear program times a number that is not negative, added up, says that

    S L >= sum_i (c_i z_i + m p_i) - m P + D,

S being the sum of the multipliers of ends, m that of the PEs, c_i what is left of z_i, and D the drains times the
multipliers of their rows. Starts cancel: what leaves a
layer's start is made no less than what enters it, and a start that is not negative is then left out. The right side
falls apart into layers, so that its least value is found layer by layer and step by step. Multipliers are rounded to
integers before; any are valid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mapper.solver.pe_allocation.pace.node import BEYOND, Node, StepTable
from mapper.solver.pe_allocation.pace.relaxation import Relaxation, Relaxed

BITS = 60
"""Every product counted has fewer bits."""
FINEST = 40
SPARE_BITS = 3
"""Products have so many bits more than a time, as a rule."""


@dataclass(frozen=True)
class Weights:
    """S, the c_i, m and D."""

    total: int
    layers: tuple[int, ...]
    pes: int
    fixed: int = 0


def weights_of(relaxed: Relaxed, relaxation: Relaxation, high: Sequence[int], most_pes: int) -> Weights:
    """The multipliers of a solution as integers, as fine as products of 64 bits allow."""
    positions = relaxation.positions
    longest = max(pace * count for pace, count in zip(high, positions, strict=True))
    fine = max(0, min(FINEST, BITS - SPARE_BITS - longest.bit_length()))
    while True:
        found = _rounded(relaxed, relaxation, 1 << fine)
        largest = max(abs(weight) * pace for weight, pace in zip(found.layers, high, strict=True))
        beyond = max(largest, found.pes * most_pes).bit_length() - BITS
        if beyond < 0:
            return found
        if fine == 0:
            return Weights(0, (0,) * len(positions), 0)
        fine = max(0, fine - beyond - 1)


def _rounded(relaxed: Relaxed, relaxation: Relaxation, scale: int) -> Weights:
    positions = relaxation.positions
    ends = [round(scale * times) for times in relaxed.ends]
    leaving = list(ends)
    layers = [times * count for times, count in zip(ends, positions, strict=True)]
    # Lines come layer by layer, so that from the last one on all that leaves a layer is known when it is entered.
    left, at = 0, len(positions)
    fixed = sum(times * wait for times, wait in zip(ends, relaxation.drains, strict=True))
    for start, times in zip(reversed(relaxation.starts), reversed(relaxed.starts), strict=True):
        if start.layer != at:
            at, left = start.layer, leaving[start.layer]
        taken = min(left, round(scale * times))
        left -= taken
        fixed += taken * start.wait
        leaving[start.feed] += taken
        layers[start.feed] += start.a * taken
        layers[at] -= start.b * taken
    return Weights(sum(ends), tuple(layers), round(scale * relaxed.pes), fixed)


@dataclass(frozen=True)
class Weighed:
    """The latency of a node is at least ``bound``; the node ``left`` has all of its latencies below the value it was
    weighed for (None: there are none)."""

    bound: int
    left: Node | None


def weighed(node: Node, table: StepTable, weights: Weights, most_pes: int, below: int) -> Weighed:
    """What ``weights`` show of ``node``: its bound, and which steps of layers lead to no latency less than ``below``,
    given the least of all others."""
    if weights.total == 0:
        return Weighed(node.bound, node)
    among = table.open_steps(node)
    by_layer = np.array(weights.layers, dtype=np.int64)[table.layer]
    first = np.maximum(table.paces, np.array(node.low)[table.layer])
    last = np.minimum(table.after - 1, np.array(node.high)[table.layer])
    # Steps that no pace is on may count to more than fits; they are left out.
    paces = np.where(among, np.where(by_layer >= 0, first, last), 0)
    prices = paces * by_layer + table.pes * weights.pes
    least = table.least(prices, among)
    total = sum(least.tolist()) - weights.pes * most_pes + weights.fixed
    bound = max(node.bound, -(-total // weights.total))
    room = weights.total * (below - 1) - total
    if room < 0:
        return Weighed(max(bound, below), None)
    fitting = among & (prices - least[table.layer] <= min(room, BEYOND))
    return Weighed(bound, table.kept(node, fitting, bound))
