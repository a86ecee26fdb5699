"""Simulation of mappings onto a memory hierarchy: are its numbers right, does it cost what the model said."""

from mapper.sim.hierarchy.report import report
from mapper.sim.hierarchy.simulation import Simulation, simulate

__all__ = ["Simulation", "report", "simulate"]
