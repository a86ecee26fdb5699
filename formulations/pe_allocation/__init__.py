"""Allocating PEs to layers: the problem, its bound, its programs, and the referee of allocations [Heidorn2019].

`program/` is the program of layers that all work at once; `program/sequential/` that of layers one after another,
`program/mixed/` that of runs of fused layers, and `program/placement/` that of PEs on the grid.
"""
