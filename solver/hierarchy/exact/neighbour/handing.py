"""Moments at which neighbours may hand words on, in whatever order the loops of each level turn.

An instance takes from a neighbour what that had a moment before. So the neighbour lies where the tile of the instance
has come to lie: by as much as the tile moved, which is the step of the loop that goes on less one step of each loop
inside it (the model goes from the second trips of these to the first). Places differ by no more than loops in space
reach. If there is no order in which a loop moves the tile by so little in every dimension, nothing is handed on then.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mapper.models.compiled import compiled
from mapper.solver.hierarchy.exact.arrival import Tensors, Tiles, Way

Array = Any


def _within(moved: Array, reach: Array, meet: bool) -> bool:
    """Whether two places may differ by ``moved``; two instances are at one place if they ``meet``."""
    still = True
    for d in range(len(moved)):
        if abs(moved[d]) > reach[d]:
            return False
        still = still and moved[d] == 0
    return meet or not still


def _reached(t: int, boundary: int, tiles: Tiles, tensors: Tensors, way: Way, reach: Array) -> bool:
    """How far places below ``boundary`` differ in each dimension; whether two instances may be at one place."""
    meet = False
    for j in range(len(way.c)):
        trips = tiles.spaces[boundary, j] // tiles.spaces[boundary + 1, j]
        meet = meet or (trips > 1 and not tensors.relevant[t, j])
    for d in range(len(reach)):
        row = tensors.dimension[t] + d
        moving = 0
        for j in range(len(way.c)):
            own = tiles.spaces[boundary + 1, j]
            trips = tiles.spaces[boundary, j] // own
            if trips > 1 and tensors.coefficient[row, j] != 0:
                reach[d] += abs(tensors.coefficient[row, j]) * way.c[j] * own * (trips - 1)
                moving += 1
        meet = meet or moving > 1
    return meet


def _moments(t: int, boundary: int, tiles: Tiles, tensors: Tensors, way: Way) -> float:
    """The most moments at which the tile of a tensor just inside ``boundary`` may come from a neighbour. Trips are
    known from there outwards."""
    first, size = tensors.dimension[t], tensors.dimension[t + 1] - tensors.dimension[t]
    groups = len(way.c)
    reach, inside, moved = np.zeros(size), np.zeros(size), np.zeros(size)
    meet = _reached(t, boundary, tiles, tensors, way, reach)
    step = np.zeros((groups, size))
    trips = way.c.copy()
    found, begun = 0.0, False
    for level in range(boundary, -1, -1):
        outside = 1.0
        for j in range(groups):
            for d in range(size):
                step[j, d] = tensors.coefficient[first + d, j] * trips[j] * tiles.spaces[level, j]
            trips[j] *= way.f[level, j]
            outside *= tiles.rest[j] // trips[j]
        turning = 0
        for j in range(groups):
            if way.f[level, j] > 1 and tensors.relevant[t, j]:
                turning |= 1 << j
        for j in range(groups):
            if way.f[level, j] == 1:
                continue
            most = 0.0
            others = turning & ~(1 << j)
            subset = others
            while True:
                weight = outside * (way.f[level, j] - 1)
                moved[:] = step[j] - inside
                for k in range(groups):
                    if (subset >> k) & 1:
                        moved -= step[k]
                    elif k != j:
                        weight *= way.f[level, k]
                moves = tensors.relevant[t, j] or subset != 0 or begun
                if moves and weight > most and within(moved, reach, meet):
                    most = weight
                if subset == 0:
                    break
                subset = (subset - 1) & others
            found += most
        for j in range(groups):
            if way.f[level, j] > 1:
                inside += step[j]
        begun = begun or turning != 0
    return found


within = compiled(_within)
reached = compiled(_reached)
handed_moments = compiled(_moments, _within=within, _reached=reached)
