"""The compiled inner loops over the cuts of one loop: digits that are reached, groups, and the least of all."""

from __future__ import annotations

from typing import Any

import numpy as np

from mapper.models.compiled import compiled

Array = Any


def _reached(bound: int, trips: Array, asked: Array, ends: Array) -> Array:
    """How many choices of the digits that are asked for are reached, with zeros for the first others [cuts, questions].

    ``trips`` [cuts, digits], outer to inner; ``asked`` [questions, digits], of which the first ``ends`` count."""
    cuts, digits = trips.shape
    found = np.empty((cuts, len(asked)), np.float64)
    last = np.empty(digits, np.int64)
    for k in range(cuts):
        left = bound - 1
        for digit in range(digits - 1, -1, -1):
            last[digit] = left % trips[k, digit]
            left //= trips[k, digit]
        for q in range(len(asked)):
            after = 1.0
            for digit in range(ends[q]):
                if asked[q, digit]:
                    after *= trips[k, digit]
            count, tight = 0.0, 1.0
            for digit in range(ends[q]):
                if asked[q, digit]:
                    after /= trips[k, digit]
                    count += last[digit] * after
                elif last[digit] > 0:
                    count += after
                    tight = 0.0
                    break
            found[k, q] = count + tight
    return found


def _grouped(numbers: Array, order: Array) -> Array:
    """For each cut the first one in ``order`` that has no more of any number [cuts]; itself, if there is none."""
    group = np.full(len(numbers), -1, np.int64)
    first = np.empty(len(numbers), np.int64)
    groups = 0
    for k in order:
        for g in range(groups):
            other, less = first[g], True
            for column in range(numbers.shape[1]):
                if numbers[other, column] > numbers[k, column]:
                    less = False
                    break
            if less:
                group[k] = other
                break
        if group[k] < 0:
            group[k] = k
            first[groups] = k
            groups += 1
    return group


def _summed(numbers: Array, chosen: Array, group: Array, tile: int, levels: int, least: Array) -> float:
    """The least of all numbers of the chosen cuts, into ``least``, and how far apart the tiles of their groups are: 0
    of a single cut, 1e-9 in one group."""
    least[:] = np.inf
    for k in chosen:
        for column in range(len(least)):
            if numbers[k, column] < least[column]:
                least[column] = numbers[k, column]
    if len(chosen) == 1:
        return 0.0
    alone = True
    for k in chosen:
        if group[k] != group[chosen[0]]:
            alone = False
    if alone:
        return 1e-9
    ratio = 1e-6
    for level in range(tile, tile + levels):
        low, high = np.inf, 0.0
        for k in chosen:
            low, high = min(low, numbers[group[k], level]), max(high, numbers[group[k], level])
        ratio += np.log(high / low)
    return ratio


reached = compiled(_reached)
grouped = compiled(_grouped)
summed = compiled(_summed)
