"""The exact methods that have CP-SAT solve a program: one that proves by itself, one over bounded tables."""
