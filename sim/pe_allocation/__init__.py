"""Event simulation of allocations on tightly coupled processor arrays."""

from mapper.sim.pe_allocation.report import report
from mapper.sim.pe_allocation.simulation import Run, simulate

__all__ = ["Run", "report", "simulate"]
