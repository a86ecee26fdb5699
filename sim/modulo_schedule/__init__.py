"""Cycle-accurate simulation of configuration words."""

from mapper.sim.modulo_schedule.report import report
from mapper.sim.modulo_schedule.simulation import Run, simulate

__all__ = ["Run", "report", "simulate"]
