"""Mappings onto a memory hierarchy: the problem, reasons for infeasibility, the bound by argument alone, the referee.

It has no program/ yet: there is no constraint program of this kind so far.
"""
