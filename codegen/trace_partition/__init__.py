"""Partitions as programs of Snowflake instructions (004, section 4)."""

from mapper.codegen.trace_partition.listing import listing
from mapper.codegen.trace_partition.program import compile_program

__all__ = ["compile_program", "listing"]
