"""Allocating PEs to layers as an integer linear program, and the referee of allocations [Heidorn2019]."""
