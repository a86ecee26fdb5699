"""Legality of loop orders under dependences, for many mappings at once [Dave2019, sec. 4.2.1]."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mapper.models.compiled import compiled
from mapper.workloads.nest.loop_nest import LoopNest

Integers = NDArray[np.int64]


def legal(
    nest: LoopNest, factors: Integers, dram_orders: Integers, spm_orders: Integers
) -> NDArray[np.bool_]:
    """Whether each mapping runs x + d after x for every distance vector d of the nest.

    ``factors`` (P, loops, 4), orders (P, loops) of loop positions, outer to inner. Loops with a distance
    must not be in space.
    """
    result = np.ones(len(factors), np.bool_)
    bounds = np.array([bound for _, bound in nest.bounds], np.int64)
    for vector in nest.dependences:
        _keep(np.array(vector, np.int64), bounds, factors, dram_orders, spm_orders, result)
    return result


def _python_keep(
    vector: Any, bounds: Any, factors: Any, dram_orders: Any, spm_orders: Any, result: Any
) -> None:
    """Clear ``result`` where a mapping breaks ``vector``.

    Adding |d| = q * RF + r to an index moves its digits in at most four ways, by whether the RF digit
    carries into the SPM digit and that into the DRAM digit; loops move independently. Walking through the
    digits in the order in which time reads them, an order is illegal as soon as one loop can step back,
    with all digits before it unchanged, and legal as soon as one must step forward.
    """
    loops = len(vector)
    for j in range(loops):
        if abs(vector[j]) >= bounds[j]:
            return
    change = np.empty((loops, 4, 3), np.int64)
    alive = np.empty((loops, 4), np.bool_)
    for p in range(len(result)):
        for j in range(loops):
            sign = -1 if vector[j] < 0 else 1
            rf_tile = factors[p, j, 2]
            quotient = abs(vector[j]) // rf_tile
            remainder = abs(vector[j]) % rf_tile
            for way in range(4):
                carry, again = way % 2, way // 2
                outer = (quotient + carry) // factors[p, j, 1]
                middle = (quotient + carry) % factors[p, j, 1]
                possible = (remainder > 0 or carry == 0) and (middle > 0 or again == 0)
                alive[j, way] = possible and outer + again < factors[p, j, 0]
                change[j, way, 0] = sign * (outer + again)
                change[j, way, 1] = sign * (middle - again * factors[p, j, 1])
                change[j, way, 2] = sign * (remainder - carry * rf_tile)
        decided = False
        for digit in range(3 * loops):
            level, place = digit // loops, digit % loops
            j = place
            if level == 0:
                j = dram_orders[p, place]
            elif level == 1:
                j = spm_orders[p, place]
            unchanged = False
            for way in range(4):
                if alive[j, way]:
                    if change[j, way, level] < 0:
                        result[p] = False
                        decided = True
                    elif change[j, way, level] > 0:
                        alive[j, way] = False
                    else:
                        unchanged = True
            if decided or not unchanged:
                break


_keep = compiled(_python_keep)
