"""Searches for allocations: the ILP, CP-SAT, brute force, heuristics; and the placement of PEs on the grid."""
