"""The least product of energy and latency, with a proof.

Both are sums over the cost graph, so their product is quasiconcave over the pairs (latency, energy) that selections
have: the least one is a corner of the convex hull of the pairs, and minimises a weighted sum of the two. A shape's
corners are found one after another, each between two that are known, with whole numbers of any size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from mapper.formulations.algorithm_selection.program.cost_graph import GraphBuilder
from mapper.formulations.algorithm_selection.program.shape import shapes
from mapper.formulations.algorithm_selection.program.whole_cost import Shapes
from mapper.models.algorithm_selection.mapping import Selection
from mapper.models.limit import UnfinishedError
from mapper.solver.algorithm_selection.exact.elimination import eliminate, elimination_order, least_bounds
from mapper.solver.certificate import Stop
from mapper.solver.method import Effort
from mapper.solver.outcome import Outcome

CHUNK = 4096
SLACK = 1e-9
"""Bounds are sums in floating point; what rounding can lose stays far below this part of them."""
ROUNDED = 1e-11
"""Part of a sum of costs that rounding can lose, for up to ten thousand of them; where sums are subtracted it may be
much of what is left."""


@dataclass(frozen=True)
class Corner:
    """A selection's latency in units and energy in picojoules, and its choice per vertex."""

    units: int
    energy: int
    chosen: tuple[int, ...]

    @property
    def product(self) -> int:
        return self.units * self.energy


def least_product(
    builder: GraphBuilder, effort: Effort, known: int | float | None = None
) -> Outcome[Selection]:
    """The selection of the least product over all shapes, which is ``known`` to be no more than that; ties: less
    latency, fewer PEs, fewer rows."""
    rows, columns = shapes(builder.problem)
    if not len(rows):
        return Outcome.infeasible()
    bounds = _bounds(builder, rows, columns)
    unit = builder.machine.units_per_cycle
    best: tuple[tuple[int, int, int, int], Corner] | None = None
    stop: Stop = "complete"
    solved, least = 0, 0.0
    limit = math.inf if known is None else known * unit * (1 + SLACK)
    for at in np.argsort(bounds, kind="stable"):
        least = float(bounds[at]) * (1 - SLACK)
        if least > (limit if best is None else best[0][0]):
            break
        array = int(rows[at]), int(columns[at])
        try:
            corner = least_corner(builder, array, None if best is None else best[0][0])
        except UnfinishedError:
            stop = effort.stopped() or "time_limit"
            break
        solved += 1
        if corner is not None:
            rank = (corner.product, corner.units, array[0] * array[1], array[0])
            best = (rank, corner) if best is None or rank < best[0] else best
    if best is None:
        return Outcome.unknown(stop, least / unit, evaluations=solved)
    value = float(Fraction(best[0][0], unit))
    bound = value if stop == "complete" else min(value, least / unit)
    array = best[0][3], best[0][2] // best[0][3]
    selection = builder.selection(array, best[1].chosen)
    return Outcome.ended(selection, value, bound, stop, proven=stop == "complete", evaluations=solved)


def least_product_bound(builder: GraphBuilder) -> float | None:
    """A lower bound of the product over all shapes; None if there is none."""
    rows, columns = shapes(builder.problem)
    if not len(rows):
        return None
    return float(_bounds(builder, rows, columns).min()) * (1 - SLACK) / builder.machine.units_per_cycle


def least_corner(builder: GraphBuilder, array: tuple[int, int], below: int | None) -> Corner | None:
    """The corner of the least product of one shape; None if all are above ``below``."""
    side = (np.array([array[0]], np.int64), np.array([array[1]], np.int64))
    time, energy = builder.graph(*side), builder.graph(*side, "energy")
    order = elimination_order(time)

    def corner(for_time: int, for_energy: int) -> Corner:
        # Whole numbers of any size.
        picked = eliminate(time.weighted(energy, for_time, for_energy, object), order)[1]
        units, spent = (int(graph.value(picked)[0]) for graph in (time, energy))
        return Corner(units, spent, tuple(int(one) for one in picked[0]))

    first, last = corner(1, 0), corner(0, 1)
    best = min((first, last), key=lambda one: (one.product, one.units))
    open_ends = [(first, last)]
    while open_ends:
        one, other = open_ends.pop()
        limit = best.product if below is None else min(best.product, below)
        drop, rise = one.energy - other.energy, other.units - one.units
        if drop <= 0 or rise <= 0 or one.units * other.energy > limit:
            continue
        found = corner(drop, rise)
        if drop * found.units + rise * found.energy >= drop * one.units + rise * one.energy:
            continue
        best = min(best, found, key=lambda point: (point.product, point.units))
        open_ends += [(one, found), (found, other)]
    return best if below is None or best.product <= below else None


def _bounds(builder: GraphBuilder, rows: Shapes, columns: Shapes) -> NDArray[np.float64]:
    """A lower bound of every shape's product: latency and energy are each at least so much, and so is their
    sum weighted as at the shape that looks best; the least product of such pairs is at a corner."""
    parts = []
    for at in range(0, len(rows), CHUNK):
        side = rows[at : at + CHUNK], columns[at : at + CHUNK]
        time, energy = builder.graph(*side, tied=False), builder.graph(*side, "energy")
        least_time = least_bounds(time).astype(np.float64)
        least_energy = least_bounds(energy).astype(np.float64)
        middle = int(np.argmin(least_time * least_energy))
        weights = 1 / max(1.0, least_time[middle]), 1 / max(1.0, least_energy[middle])
        together = least_bounds(time.weighted(energy, *weights, np.float64))
        scaled_time, scaled_energy = least_time * weights[0], least_energy * weights[1]
        surely, more = together * (1 - ROUNDED), 1 + ROUNDED
        rest_energy = np.maximum(scaled_energy, surely - scaled_time * more)
        rest_time = np.maximum(scaled_time, surely - scaled_energy * more)
        least = np.minimum(scaled_time * rest_energy, rest_time * scaled_energy)
        parts.append(least / (weights[0] * weights[1]))
    return np.concatenate(parts)
