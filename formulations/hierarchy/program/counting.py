"""How the constraint program counts: energies in whole units, and every number within CP-SAT's integers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from mapper.formulations.hierarchy.bound import bound_of
from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.models.hierarchy.bound import ideal_cycles, least_energy
from mapper.models.hierarchy.cost import STEPS_PER_PJ, steps

LARGEST = 1 << 60
"""Numbers stay below; CP-SAT adds a few of them in 64 bits."""


class NumbersTooLargeError(Exception):
    """A product leaves CP-SAT's integers."""


@dataclass(frozen=True)
class Counting:
    """``unit``: steps of energy that count as one. Energies of actions are divided by it and rounded down, so that what
    the program counts is never more than the model's cost. ``value``, ``energy`` and ``cycles``: what mappings may be
    worth, in units, and what energy and cycles may then be at most."""

    unit: int
    value: int
    energy: int
    cycles: int

    @classmethod
    def of(cls, problem: HierarchyProblem, limit: int | float) -> Counting:
        """The finest counting of mappings worth up to ``limit``, in the objective's unit."""
        least_cycles = max(1, ideal_cycles(problem.nest, problem.machine))
        least_pj = least_energy(problem.nest, problem.machine) or 0.0
        if problem.objective == "latency":
            return cls(1, min(LARGEST, math.ceil(limit)), 0, min(LARGEST, math.ceil(limit)))
        value = math.ceil(limit * STEPS_PER_PJ)
        energy = value // least_cycles if problem.objective == "edp" else value
        cycles = LARGEST
        if problem.objective == "edp" and least_pj > 0:
            cycles = min(LARGEST, math.ceil(limit / least_pj * (1 + 1e-9)) + 1)
        unit = _common(problem)
        # The solver multiplies the limits of energy and cycles before it looks at that of the product.
        while max(value, energy * cycles if problem.objective == "edp" else 0) > LARGEST // 8 * unit:
            unit *= 2
        return cls(unit, value // unit + 1, energy // unit + 1, cycles)

    def units(self, energy_pj: float) -> int:
        """An energy in units, rounded down."""
        return steps(energy_pj) // self.unit

    def real(self, counted: float) -> Fraction:
        """What mappings that count as much cost at least, in pJ (or pJ*cycles)."""
        return Fraction(int(counted)) * Fraction(self.unit, STEPS_PER_PJ)


def first_limit(problem: HierarchyProblem) -> float:
    """A limit where no mapping is known: many times the bound by argument."""
    return 1000.0 * max(1.0, float(bound_of(problem)))


def _common(problem: HierarchyProblem) -> int:
    """The greatest number of steps of which all energies are multiples."""
    machine = problem.machine
    found = [steps(machine.compute.energy_pj or 0), steps(machine.compute.leak_pj)]
    for level in machine.levels:
        if level.actions is not None:
            found += [steps(pj) for pj in level.actions.model_dump().values()]
    return math.gcd(*found) or 1
