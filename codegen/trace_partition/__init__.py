"""Partitions as programs of Snowflake instructions [Chang2018, sec. 4]."""

from mapper.codegen.trace_partition.listing import listing
from mapper.codegen.trace_partition.program import compile_program

__all__ = ["compile_program", "listing"]
