"""Modulo scheduling: the problem, the constraint program, and the referee."""
