"""What costs of mappings that matter lie between: bounds by argument alone, and those of the best mapping known."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mapper.formulations.tiling.problem import TilingProblem
from mapper.formulations.tiling.program.counting import LARGEST, SAFE, Counting
from mapper.formulations.tiling.program.energy import LARGEST_ENERGY, CostsTooLargeError, WholeEnergies
from mapper.models.tiling.bound import least_cycles, least_energy
from mapper.models.tiling.largest import largest_cycles

LARGEST_CYCLES = 1 << 56
"""Sums of a few such numbers of cycles stay within CP-SAT's integers."""


@dataclass(frozen=True)
class Limits:
    """``energy`` (units) and ``cycles`` are not exceeded by any mapping as good as the one of ``value``, nor
    ``least_energy`` (as the program counts it) and ``least_cycles`` undercut."""

    energies: WholeEnergies
    counting: Counting
    value: int | float | None
    energy: int
    cycles: int
    least_energy: int
    least_cycles: int

    @classmethod
    def of(cls, problem: TilingProblem, value: int | float | None) -> Limits:
        """Raises: CostsTooLargeError if mappings can take too many cycles."""
        nest, machine = problem.nest, problem.machine
        energies = WholeEnergies.of(nest, machine)
        unit = 1 if machine.rules.energy == "rounded" else energies.per_pj
        least = max(0, math.floor(least_energy(nest, machine) * unit) - 1)
        fewest = least_cycles(nest, machine)
        energy, cycles = float(LARGEST_ENERGY), float(largest_cycles(nest, machine))
        if value is not None:
            pj = {"edp": value / fewest, "energy": value}.get(problem.objective)
            # Energies that may be none leave the cycles open.
            longest = value * unit / least if least else None
            most = {"edp": longest, "latency": value}.get(problem.objective)
            energy = energy if pj is None else min(energy, (pj + 1) * energies.per_pj)
            cycles = cycles if most is None else min(cycles, most)
        cycles = max(fewest, min(cycles, problem.most_cycles))
        if cycles >= LARGEST_CYCLES:
            raise CostsTooLargeError("mappings can take too many cycles for CP-SAT's integers")
        energy_limit = min(LARGEST_ENERGY, math.ceil(energy * (1 + SAFE)) + 1)
        cycles_limit = math.ceil(cycles * (1 + SAFE)) + 1
        counting = Counting.of_value(problem, energies, 0 if value is None else value)
        return cls(energies, counting, value, energy_limit, cycles_limit, least, fewest)

    def counted(self, units: int) -> int:
        """Units of energy as the program counts them, not less."""
        return units // self.energies.per_pj + 1 if self.counting.rounds else units

    @property
    def price(self) -> int:
        """Energy, as the program counts it, that a cycle is worth where both are least."""
        return max(1, min(self.least_energy // max(1, self.least_cycles), LARGEST // self.cycles))

    def pieces(self, step: float) -> list[int]:
        """Ends of pieces of the range of cycles, each ``step`` times the one before."""
        ends = [self.least_cycles]
        while ends[-1] < self.cycles:
            ends.append(min(self.cycles, math.floor(ends[-1] * step) + 1))
        return ends if len(ends) > 1 else [*ends, self.cycles]

    def energy_beside(self, cycles: int) -> int:
        """Energy, as the program counts it, that the value leaves to mappings of so many cycles or more."""
        assert self.value is not None
        whole = self.counting.whole(self.value) + 1 << self.counting.coarse
        return min(self.counted(self.energy), whole // max(1, cycles) + (1 << self.counting.coarse))
