"""Searches for allocations: the ILP, CP-SAT, brute force, heuristics; and where PEs stand on the grid."""
