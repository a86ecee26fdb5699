"""Nests mapped onto a memory hierarchy as C: a buffer for every tensor at every level that keeps it, loops in space as
loops over the units."""

from mapper.codegen.hierarchy.program import generate_c

__all__ = ["generate_c"]
