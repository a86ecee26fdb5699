"""Bounds by argument alone of what any tiling of a nest takes on a machine: cycles, and energy."""

from __future__ import annotations

import math
from fractions import Fraction

from mapper.arch.dataflow import DataflowMachine
from mapper.models.tiling import tile
from mapper.models.tiling.price import Prices, burst_cost
from mapper.models.tiling.stream import waits
from mapper.models.tiling.tile import operation_energy, rf_access_energy
from mapper.workloads.nest.loop_nest import LoopNest, Operand


def ideal_cycles(nest: LoopNest, machine: DataflowMachine) -> int:
    """Bound by argument alone: every PE busy with useful operations in every cycle."""
    return -(-nest.iterations * tile.iteration_cycles(nest, machine) // machine.pes)


def least_cycles(nest: LoopNest, machine: DataflowMachine) -> int:
    """Bound by argument alone: the ideal cycles, and what PEs wait for where a level has one buffer.

    Every touched word lies in at least one tile, and every tile crosses at least once. A register file with one buffer
    waits for one network at least, which carries one operand's words; a scratch-pad with one buffer waits for all of
    DMA.
    """
    cycles = ideal_cycles(nest, machine)
    touched = [_touched(nest, operand) for operand in nest.operands]
    if not machine.rf.double_buffered:
        waited = [k for k, operand in enumerate(nest.operands) if waits(operand, machine)]
        cycles += max((-(-touched[k] // _widest(nest, machine, k)) for k in waited), default=0)
    if not machine.dma_beside:
        fixed, each, whole = burst_cost(machine)
        moved = zip(nest.operands, touched, strict=True)
        cycles += -(-sum(_trips(operand) * (fixed + each * words) for operand, words in moved) // whole)
    return cycles


def least_energy(nest: LoopNest, machine: DataflowMachine) -> Fraction:
    """Energy (pJ, exactly; whole pJ where the machine rounds) below every mapping's: the operations, their
    register-file accesses, and one trip of each touched word over DRAM, scratch-pad and NoC.

    A word that is touched lies in at least one tile at each level, and every tile crosses at least once
    (twice for a partial sum that does not start from zero).
    """
    prices = Prices.of(nest, machine)
    steps = operation_energy(nest, prices) + rf_access_energy(nest, prices)
    per_word = prices.dram + prices.spm + prices.noc
    for operand in nest.operands:
        steps += _trips(operand) * _touched(nest, operand) * per_word
    if machine.rules.energy == "rounded":
        return Fraction(steps // prices.per_pj)
    return Fraction(steps, prices.per_pj)


def _widest(nest: LoopNest, machine: DataflowMachine, k: int) -> int:
    """Words a cycle on the wider of an operand's networks."""
    read, write, _ = tile.networks_of(nest, machine)
    return max(machine.noc.networks[network].width_words for network in (read[k], write[k]) if network >= 0)


def _trips(operand: Operand) -> int:
    """Times that each word crosses at least: both ways for a partial sum that does not start from zero."""
    return 2 if operand.is_updated and not operand.zero_initialised else 1


def _touched(nest: LoopNest, operand: Operand) -> int:
    """Words that the nest surely touches."""
    return math.prod(_distinct(operand, place, nest.trip_counts) for place in range(len(operand.index)))


def _distinct(operand: Operand, place: int, bounds: dict[str, int]) -> int:
    """A number of values that one dimension surely takes for each choice of the others: those along its
    longest loop that stands in no other dimension (A[i][i] touches a diagonal, not a square)."""
    elsewhere = {
        loop for other, index in enumerate(operand.index) if other != place for loop, _ in index.coefficients
    }
    own = [bounds[loop] for loop, _ in operand.index[place].coefficients if loop not in elsewhere]
    return max(own, default=1)
