"""Mappings onto a memory hierarchy: the problem, the constraint program, reasons for infeasibility, the bound by argument
alone, and the referee.
"""
