"""Energies as whole numbers: what CP-SAT can add without rounding."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from mapper.arch.dataflow import DataflowMachine
from mapper.models.tiling.largest import largest_energy
from mapper.models.tiling.price import Prices
from mapper.models.tiling.tile import operation_energy, rf_access_energy
from mapper.workloads.nest.loop_nest import LoopNest

LARGEST_ENERGY = 1 << 56
"""Units that no mapping's energy exceeds: sums of a few such numbers stay within CP-SAT's integers."""


class CostsTooLargeError(Exception):
    """Costs beyond what CP-SAT's integers hold."""


@dataclass(frozen=True)
class WholeEnergies:
    """Energies in units of 1/``per_pj`` pJ. If ``exact`` is false they are rounded down, and what is made of
    them is a bound below: the machine's decimals have more digits than fit beside the largest energy."""

    per_pj: int
    noc: int
    spm: int
    dram: int
    addition: int
    constant: int
    exact: bool

    @classmethod
    def of(cls, nest: LoopNest, machine: DataflowMachine) -> WholeEnergies:
        """Per word of NoC, scratch-pad and DRAM, per addition between PEs (three RF accesses, one hop, one
        operation), and of what no mapping changes: the operations and their register-file accesses.

        Raises: CostsTooLargeError if energies cannot be counted in pJ.
        """
        prices = Prices.of(nest, machine)
        constant = operation_energy(nest, prices) + rf_access_energy(nest, prices)
        values = (prices.noc, prices.spm, prices.dram, prices.addition, constant)
        dearest = Fraction(max(values), prices.per_pj)
        finest = int(LARGEST_ENERGY / max(Fraction(1), dearest, largest_energy(nest, machine)))
        if finest < 1:
            raise CostsTooLargeError("energies are too large for CP-SAT's integers")
        per_pj = min(prices.per_pj, finest)
        noc, spm, dram, addition, constant = (value * per_pj // prices.per_pj for value in values)
        return cls(per_pj, noc, spm, dram, addition, constant, per_pj == prices.per_pj)
