"""Systems of uniform recurrences: statements of a loop nest that read one another's values at constant distances."""
