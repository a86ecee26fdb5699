"""The best mapping so far, in the compiled search: what it bounds out, and which mapping is better, exactly.

Costs are floats here. An energy in whole steps below 2^53 and cycles below 2^53 are exact, and where two products of
them are too near for floats their difference is taken in integers. What floats cannot tell apart is kept as a tie
for Python's integers to judge.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mapper.models.compiled import compiled
from mapper.models.tiling import transfer as cost
from mapper.solver.tiling.exact.float_price import EXACT
from mapper.solver.tiling.exact.kernel_table import EDP, ENERGY, LATENCY, Array, KernelTable

# The incumbent is small arrays, so that Python and the kernel share it: its rank, its energy in steps, the largest
# value that may still be as good, and whether its cost is exact; its tiles, orders and cycles, and how many ties.
PRIMARY, SECONDARY, EVALUATIONS, HELD_ENERGY, REACH, SURE = 0, 1, 2, 3, 4, 5
ARRAY_TILE, SPATIAL, SPM_TILE, SPM_PATTERN, DRAM_PATTERN, CYCLES, TIES = 0, 1, 2, 3, 4, 5, 6

# Products of two exact floats are off by less than this share, sums of rounded ones by less than the other.
PRODUCT_ROUNDING = 1.2e-15
ROUNDING = 1e-13

_whole_pj: Any = cost.whole_pj


def _ranks(objective: int, energy: float, cycles: float) -> tuple[float, float]:
    """The objective and what breaks its ties: EDP by energy, energy by cycles, latency by energy."""
    if objective == EDP:
        return energy * cycles, energy
    if objective == ENERGY:
        return energy, cycles
    return cycles, energy


def _counted(t: KernelTable, energy: float) -> float:
    """An energy as the machine counts it, in steps: rounded to whole pJ where it does so and the energy is exact."""
    if t.rounded and t.whole and energy < EXACT:
        return float(_whole_pj(np.int64(energy), t.per_pj)) * t.per_pj
    return energy


def _unsure(t: KernelTable, energy: float) -> float:
    """By how much rounding to pJ, not yet done, may change an energy."""
    return 0.5 * t.per_pj if t.rounded and not (t.whole and energy < EXACT) else 0.0


def _bounded_out(t: KernelTable, energy: float, cycles: float, incumbent: Array) -> bool:
    """Whether nothing with at least this energy and these cycles may be and improves on the incumbent."""
    if cycles > t.reach_cycles:
        return True
    primary, secondary = _ranks(t.objective, energy, cycles)
    held: float = incumbent[PRIMARY]
    if primary > float(incumbent[REACH]):
        return True
    if t.objective == EDP or primary >= EXACT or held >= EXACT:
        return False
    if t.objective == ENERGY and not (t.whole and incumbent[SURE] > 0.0):
        return False
    return primary > held or (primary == held and secondary >= float(incumbent[SECONDARY]))


def _better(t: KernelTable, energy: float, cycles: int, incumbent: Array, best: Array) -> bool:
    """Whether an exact cost ranks before the incumbent's, which is exact as well."""
    held_energy: float = incumbent[HELD_ENERGY]
    if t.objective == LATENCY:
        return cycles < best[CYCLES] or (cycles == best[CYCLES] and energy < held_energy)
    if t.objective == ENERGY:
        return energy < held_energy or (energy == held_energy and cycles < best[CYCLES])
    # Products of numbers below 2^53 that agree to 14 digits: their difference fits 64 bits although they do not.
    difference: int = np.int64(energy) * np.int64(cycles) - np.int64(held_energy) * best[CYCLES]
    return difference < 0 or (difference == 0 and energy < held_energy)


def _consider(
    t: KernelTable, energy: float, cycles: int, mapping: Array, incumbent: Array, best: Array, ties: Array
) -> None:
    """Make a mapping (rows of tiles, numbers of orders) the incumbent if it ranks before it; one of them goes to the
    ties if that cannot be told; none that takes too long."""
    if cycles > t.most_cycles:
        return
    primary, secondary = _ranks(t.objective, energy, float(cycles))
    held: float = incumbent[PRIMARY]
    exact = t.objective == LATENCY or (
        t.whole and energy < EXACT and (t.objective == ENERGY or float(cycles) < EXACT)
    )
    better = primary < held
    if held < np.inf:
        apart = abs(primary - held)
        unsure = _unsure(t, energy) + _unsure(t, float(incumbent[HELD_ENERGY]))
        near = held * ROUNDING + _ranks(t.objective, unsure, float(max(cycles, best[CYCLES])))[0]
        if t.objective == LATENCY:
            near = held * ROUNDING
        if exact and incumbent[SURE] > 0.0:
            if apart <= held * PRODUCT_ROUNDING:
                better = _better(t, energy, cycles, incumbent, best)
        elif apart <= near:
            if best[TIES] < len(ties):
                if better:
                    ties[best[TIES], :] = best[: len(mapping)]
                else:
                    ties[best[TIES], :] = mapping
            best[TIES] += 1
        if better and apart > near:
            best[TIES] = 0
    if better:
        incumbent[PRIMARY] = primary
        incumbent[SECONDARY] = secondary
        incumbent[HELD_ENERGY] = energy
        incumbent[REACH] = _ranks(t.objective, energy + _unsure(t, energy), float(cycles))[0] * (
            1.0 + ROUNDING
        )
        incumbent[SURE] = 1.0 if exact else 0.0
        best[: len(mapping)] = mapping
        best[CYCLES] = cycles


ranks = compiled(_ranks)
whole_pj = compiled(cost.whole_pj)
counted = compiled(_counted, _whole_pj=whole_pj)
unsure = compiled(_unsure)
bounded_out = compiled(_bounded_out, _ranks=ranks)
consider = compiled(_consider, _ranks=ranks, _unsure=unsure, _better=compiled(_better))
