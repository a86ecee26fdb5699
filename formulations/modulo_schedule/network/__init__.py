"""Mapping a layer to a CGRA: the problem, and the referee of its solutions."""
