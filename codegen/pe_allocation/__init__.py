"""Allocations as programs of PEs, a configuration of the array, and pictures."""

from mapper.codegen.pe_allocation.program import generate

__all__ = ["generate"]
