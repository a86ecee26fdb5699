"""Bounds by argument alone: what no mapping of a nest can undercut, without any search."""

from __future__ import annotations

import math

from mapper.arch.dataflow import DataflowMachine
from mapper.models.tiling.evaluation import operation_energy, rf_access_energy
from mapper.workloads.nest import LoopNest


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
        touched = math.prod(
            _distinct(dimension.coefficients, nest.trip_counts) for dimension in operand.index
        )
        energy += trips * touched * per_word
    return math.floor(energy) if machine.rules.energy == "rounded" else energy * (1 - 1e-12)


def _distinct(coefficients: tuple[tuple[str, int], ...], bounds: dict[str, int]) -> int:
    """A number of values an index expression surely takes: those along its longest single loop."""
    return max((bounds[loop] for loop, _ in coefficients), default=1)
