"""How a program counts its objective: in integers, and coarser where they would leave CP-SAT's."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from mapper.formulations.tiling.problem import TilingProblem
from mapper.formulations.tiling.program.energy import WholeEnergies

LARGEST = 1 << 60
"""CP-SAT's domains end below 2^62; every product is kept below this."""
EXACT = 2.0**53
"""Floats from here on are next to a whole number, not always the one that was meant."""
SAFE = 1e-9
"""Floors and limits are floating-point numbers, widened by this share before they become integers."""


@dataclass(frozen=True)
class Counting:
    """A program's value is the objective times ``scale``, an integer or one over a power of two.

    ``unit``: what the program counts of the objective's unit (1 where a machine rounds energies to pJ, and for cycles);
    ``coarse``: bits of the energy that its product with cycles leaves out; ``rounds``: energies become whole pJ.
    """

    unit: int
    coarse: int
    rounds: bool

    @classmethod
    def of(cls, problem: TilingProblem, energies: WholeEnergies, energy: int, cycles: int) -> Counting:
        """``energy`` (units), ``cycles``: what no mapping that matters exceeds."""
        rounds = problem.machine.rules.energy == "rounded"
        counted = energy // energies.per_pj + 1 if rounds else energy
        coarse = 0
        while problem.objective == "edp" and (counted >> coarse) * cycles >= LARGEST:
            coarse += 1
        unit = 1 if rounds or problem.objective == "latency" else energies.per_pj
        return cls(unit, coarse, rounds)

    @classmethod
    def of_value(cls, problem: TilingProblem, energies: WholeEnergies, value: int | float) -> Counting:
        """``value``: what no mapping that matters exceeds, in the objective's unit."""
        plain = cls.of(problem, energies, 0, 0)
        coarse = 0
        while problem.objective == "edp" and value * plain.unit / (1 << coarse) >= LARGEST // 2:
            coarse += 1
        return cls(plain.unit, coarse, plain.rounds)

    @property
    def scale(self) -> float:
        return self.unit / (1 << self.coarse) if self.coarse else self.unit

    def whole(self, value: int | float) -> int:
        """A value of the objective as the program counts it, not less."""
        if isinstance(value, int) and self.scale == 1:
            return value
        return math.ceil(value * self.scale * (1 + SAFE))

    def exactly(self, counted: int) -> Fraction:
        """What the program counts, in the objective's unit."""
        return Fraction(counted << self.coarse, self.unit)

    def real(self, counted: int | float) -> int | float:
        """A bound that the program counts, in the objective's unit; as a float, one that is not above the float of
        any value that it bounds."""
        counted = int(counted if counted < EXACT or isinstance(counted, int) else math.nextafter(counted, 0))
        exact = self.exactly(counted)
        return exact.numerator if self.scale == 1 else float(exact)
