"""Functional and cycle-accurate models of the DYNAMAP overlay."""

from mapper.sim.algorithm_selection.report import report

__all__ = ["report"]
