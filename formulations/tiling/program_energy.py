"""Energies as whole numbers: what CP-SAT can add without rounding."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from mapper.arch.dataflow import DataflowMachine
from mapper.models.tiling import tile
from mapper.workloads.nest import LoopNest

FINEST = 100_000


@dataclass(frozen=True)
class WholeEnergies:
    """Energies in units of 1/``per_pj`` pJ. If ``exact`` is false they are rounded down, and what is made of
    them is a bound below."""

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
        operation), and of what no mapping changes: the operations and their register-file accesses."""
        energy = machine.energy_pj
        noc, dram, mac = _decimal(energy.noc), _decimal(energy.dram), _decimal(energy.mac)
        spm, rf = _decimal(machine.spm_energy_pj), _decimal(machine.rf_energy_pj)
        operation = mac if nest.operation == "multiply_add" else _decimal(energy.add)
        accesses = sum(operand.reads + operand.writes for operand in nest.operands)
        constant = nest.iterations * (tile.operations(nest) * operation + accesses * rf)
        values = (noc, spm, dram, 3 * rf + noc + mac, constant)
        per_pj = math.lcm(*(value.denominator for value in values))
        exact = per_pj <= FINEST
        per_pj = per_pj if exact else FINEST
        whole = [math.floor(value * per_pj) for value in values]
        return cls(per_pj, whole[0], whole[1], whole[2], whole[3], whole[4], exact)


def _decimal(energy: float) -> Fraction:
    """The energy as it is written in the machine file."""
    return Fraction(repr(energy))
