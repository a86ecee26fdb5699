"""Searches for allocations: the ILP, CP-SAT, brute force, heuristics; and the placement of PEs on the grid.

It has no exact/ and no heuristic/ of its own: what its modes search differs more than how, so that its rooms are
`parallel/`, `mixed/` and `placement/`, each with exact searches and heuristics.
"""
