"""Bounds by argument alone of what any tiling of a nest takes on a machine: cycles, and energy."""

from __future__ import annotations

import math
from fractions import Fraction

from mapper.arch.dataflow import DataflowMachine
from mapper.models.tiling import tile
from mapper.models.tiling.cost import operation_energy, rf_access_energy
from mapper.models.tiling.price import Prices
from mapper.workloads.nest.loop_nest import LoopNest, Operand


def ideal_cycles(nest: LoopNest, machine: DataflowMachine) -> int:
    """Bound by argument alone: every PE busy with useful operations in every cycle."""
    return -(-nest.iterations * tile.iteration_cycles(nest, machine) // machine.pes)


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
        trips = 2 if operand.is_updated and not operand.zero_initialised else 1
        dimensions = range(len(operand.index))
        touched = math.prod(_distinct(operand, place, nest.trip_counts) for place in dimensions)
        steps += trips * touched * per_word
    if machine.rules.energy == "rounded":
        return Fraction(steps // prices.per_pj)
    return Fraction(steps, prices.per_pj)


def _distinct(operand: Operand, place: int, bounds: dict[str, int]) -> int:
    """A number of values that one dimension surely takes for each choice of the others: those along its
    longest loop that stands in no other dimension (A[i][i] touches a diagonal, not a square)."""
    elsewhere = {
        loop for other, index in enumerate(operand.index) if other != place for loop, _ in index.coefficients
    }
    own = [bounds[loop] for loop, _ in operand.index[place].coefficients if loop not in elsewhere]
    return max(own, default=1)
