"""Modulo schedules as configuration words."""
