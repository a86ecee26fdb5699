"""Allocations as programs of PEs, a configuration of the array, and pictures."""

from mapper.codegen.pe_allocation.program import constants, generate

__all__ = ["constants", "generate"]
