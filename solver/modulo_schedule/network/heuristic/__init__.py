"""Tuning a layer: unroll factors by estimate, schedules for the loops that follow."""
