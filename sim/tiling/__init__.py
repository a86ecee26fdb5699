"""Simulation of tiling mappings: does it run, are its numbers right, does it cost what the model said."""

from mapper.sim.tiling.array_report import array_report, program_line
from mapper.sim.tiling.physical import PhysicalRun, simulate_physical
from mapper.sim.tiling.reference import reference_output
from mapper.sim.tiling.report import report
from mapper.sim.tiling.simulation import Simulation, simulate

__all__ = [
    "PhysicalRun",
    "Simulation",
    "array_report",
    "program_line",
    "reference_output",
    "report",
    "simulate",
    "simulate_physical",
]
