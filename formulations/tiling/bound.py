"""Bounds by argument alone: what no mapping of a nest can undercut, without any search."""

from __future__ import annotations

import math

from mapper.arch.dataflow import DataflowMachine
from mapper.models.tiling.evaluation import operation_energy, rf_access_energy
from mapper.workloads.nest import LoopNest, Operand


def least_energy(nest: LoopNest, machine: DataflowMachine) -> int | float:
    """Energy (pJ) below every mapping's: the operations, their register-file accesses, and one trip of each
    touched word over DRAM, scratch-pad and NoC.

    A word that is touched lies in at least one tile at each level, and every tile crosses at least once
    (twice for a partial sum that does not start from zero).
    """
    energy = operation_energy(nest, machine) + rf_access_energy(nest, machine)
    per_word = machine.energy_pj.dram + machine.spm_energy_pj + machine.energy_pj.noc
    for operand in nest.operands:
        trips = 2 if operand.is_updated and not operand.zero_initialised else 1
        dimensions = range(len(operand.index))
        touched = math.prod(_distinct(operand, place, nest.trip_counts) for place in dimensions)
        energy += trips * touched * per_word
    return math.floor(energy) if machine.rules.energy == "rounded" else energy * (1 - 1e-12)


def _distinct(operand: Operand, place: int, bounds: dict[str, int]) -> int:
    """A number of values that one dimension surely takes for each choice of the others: those along its
    longest loop that stands in no other dimension (A[i][i] touches a diagonal, not a square)."""
    elsewhere = {
        loop for other, index in enumerate(operand.index) if other != place for loop, _ in index.coefficients
    }
    own = [bounds[loop] for loop, _ in operand.index[place].coefficients if loop not in elsewhere]
    return max(own, default=1)
