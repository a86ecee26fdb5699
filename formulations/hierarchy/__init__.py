"""Mappings onto a memory hierarchy: the problem, the constraint program, reasons for infeasibility, bound, referee."""
