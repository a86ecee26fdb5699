"""Mappings onto a memory hierarchy: the problem, reasons for infeasibility, the bound by argument alone, the program
for CP-SAT, the referee."""
