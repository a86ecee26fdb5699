"""Energies as whole numbers, so that costs are added without rounding [Dave2019, sec. 4.3.2].

A machine gives decimals, and their text is what counts: 0.1 pJ is one tenth of a pJ, not the binary number next to
it. All of a machine's energies are whole multiples of one step; costs are counted in steps and become pJ at the end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from mapper.arch.dataflow import DataflowMachine
from mapper.workloads.nest.loop_nest import LoopNest


def decimal(number: float) -> Fraction:
    """A number as it is written in the machine file."""
    return Fraction(repr(float(number)))


@dataclass(frozen=True)
class Prices:
    """Energies in steps of 1/``per_pj`` pJ: of a word on the NoC, at the scratch-pad and at DRAM, of one
    register-file access, of one ``operation`` of the nest and of a ``mac``."""

    per_pj: int
    noc: int
    spm: int
    dram: int
    rf: int
    operation: int
    mac: int

    @classmethod
    def of(cls, nest: LoopNest, machine: DataflowMachine) -> Prices:
        energy = machine.energy_pj
        operation = energy.mac if nest.operation == "multiply_add" else energy.add
        return _prices(
            energy.noc, machine.spm_energy_pj, energy.dram, machine.rf_energy_pj, operation, energy.mac
        )

    @property
    def addition(self) -> int:
        """Of adding two partial sums of different PEs: three RF accesses, one hop and one operation."""
        return 3 * self.rf + self.noc + self.mac


@lru_cache(maxsize=256)
def _prices(*energies: float) -> Prices:
    exact = [decimal(energy) for energy in energies]
    per_pj = math.lcm(*(energy.denominator for energy in exact))
    return Prices(per_pj, *(int(energy * per_pj) for energy in exact))


@lru_cache(maxsize=256)
def _burst_cost(
    initiation: float, per_byte: float, word_bytes: int, clock: float, dma_clock: float
) -> tuple[int, int, int]:
    faster = decimal(clock) / decimal(dma_clock)
    fixed, each = decimal(initiation) * faster, decimal(per_byte) * word_bytes * faster
    whole = math.lcm(fixed.denominator, each.denominator)
    return int(fixed * whole), int(each * whole), whole


def burst_cost(machine: DataflowMachine) -> tuple[int, int, int]:
    """``(fixed, each, whole)``: a DMA burst of n words takes (fixed + each * n) / whole of the accelerator's cycles,
    rounded up."""
    dma = machine.dma
    return _burst_cost(
        dma.initiation_cycles, dma.cycles_per_byte, machine.word_bytes, machine.clock_mhz, dma.clock_mhz
    )
