"""Bounds by argument alone: what no mapping of a problem can undercut, without any search."""

from __future__ import annotations

from fractions import Fraction

from mapper.formulations.tiling.problem import TilingProblem
from mapper.models.tiling.bound import least_cycles, least_energy


def exact_bound_of(problem: TilingProblem) -> Fraction:
    """The objective's least value by argument alone: all PEs busy but where a level has one buffer, every word moved at
    least once."""
    nest, machine = problem.least_nest, problem.machine
    cycles, energy = least_cycles(nest, machine), least_energy(nest, machine)
    return {"edp": cycles * energy, "energy": energy, "latency": Fraction(cycles)}[problem.objective]


def bound_of(problem: TilingProblem) -> int | float:
    """The same as a number."""
    bound = exact_bound_of(problem)
    whole = problem.objective == "latency" or problem.machine.rules.energy == "rounded"
    # Rounded to the nearest float, as values are, it stays below every value.
    return int(bound) if whole else float(bound)
