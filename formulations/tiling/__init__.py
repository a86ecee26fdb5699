"""Tiling: the problem, the constraint program, the bound by argument alone, and the referee.

It has no infeasible.py: whether pins and capacities leave a tiling is known once the tiles are tabulated, and then from
the tables.
"""
