"""Loop nests executed on a TCPA, every iteration on its PE at its cycle."""

from mapper.sim.pe_allocation.nest.report import report_nest

__all__ = ["report_nest"]
