"""Recurrences executed on a TCPA, every operation on its PE at its cycle."""

from mapper.sim.pe_allocation.recurrence.report import report_recurrence

__all__ = ["report_recurrence"]
