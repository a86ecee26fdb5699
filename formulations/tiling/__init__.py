"""Tiling: the problem, the constraint program, the bound by argument alone, and the referee."""
