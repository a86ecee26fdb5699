"""Bounds by argument alone: what no mapping of a problem can undercut, without any search."""

from __future__ import annotations

from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.models.hierarchy.bound import ideal_cycles, least_energy


def bound_of(problem: HierarchyProblem) -> int | float:
    """The objective's least value by argument alone: all units busy, every operation paid for."""
    cycles = ideal_cycles(problem.nest, problem.machine)
    energy = least_energy(problem.nest, problem.machine) or 0.0
    return {"edp": cycles * energy, "energy": energy, "latency": cycles}[problem.objective]
