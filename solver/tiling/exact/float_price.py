"""Energies as the compiled searches add them: in floats that are whole numbers wherever that is possible."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from mapper.arch.dataflow import DataflowMachine
from mapper.models.tiling.price import Prices
from mapper.models.tiling.tile import operation_energy, rf_access_energy
from mapper.workloads.nest.loop_nest import LoopNest

EXACT = 2.0**53
"""Whole numbers below this are floats, and so are their sums and products that stay below it."""


def just_below(value: int | float) -> int | float:
    """The nearest number below: for a bound that lies below a value, if by less than the two as floats show."""
    return value - 1 if isinstance(value, int) else math.nextafter(value, -math.inf)


def just_above(limit: int) -> float:
    """A float that no number up to ``limit`` exceeds, rounded or not: the limit itself where floats are exact."""
    return float(limit) if limit < EXACT else limit * (1 + 1e-12)


@dataclass(frozen=True)
class FloatPrices:
    """Energies in steps of 1/``per_pj`` pJ, as ``Prices`` has them where they are ``whole``. Where the machine's
    decimals have more digits than a float holds a step is a pJ, and they are the nearest floats.

    Of a word on the NoC, at the scratch-pad and at DRAM, of one ``addition`` between PEs, and of what no mapping
    changes: the layer's ``operations`` and ``rf_accesses``.
    """

    whole: bool
    per_pj: int
    noc: float
    spm: float
    dram: float
    addition: float
    operations: float
    rf_accesses: float

    @classmethod
    def of(cls, nest: LoopNest, machine: DataflowMachine) -> FloatPrices:
        prices = Prices.of(nest, machine)
        units = (prices.noc, prices.spm, prices.dram, prices.addition)
        whole = max(prices.per_pj, prices.rf, prices.operation, *units) < EXACT
        all_steps = (*units, operation_energy(nest, prices), rf_access_energy(nest, prices))
        if whole:
            return cls(True, prices.per_pj, *(float(steps) for steps in all_steps))
        return cls(False, 1, *(float(Fraction(steps, prices.per_pj)) for steps in all_steps))
