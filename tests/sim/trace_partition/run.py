"""Programs written by hand on a machine whose memory moves a word a cycle."""

from __future__ import annotations

from mapper.arch.snowflake import SnowflakeMachine
from mapper.sim.trace_partition.cycle.report import CycleReport
from mapper.sim.trace_partition.cycle.simulation import simulate_cycles
from tests.arch import snowflake_machine
from tests.models.trace_partition.isa.small_program import program_of


def machine(clusters: int = 1, bandwidth_gb_s: float = 0.2, **timing: int) -> SnowflakeMachine:
    """At 100 MHz and 0.2 GB/s, half a cycle a byte."""
    preset = snowflake_machine.machine(clusters)
    given = {**preset.timing.model_dump(), **timing}
    return snowflake_machine.machine(clusters, clock_mhz=100, bandwidth_gb_s=bandwidth_gb_s, timing=given)


def both(register: str, upper: int, lower: int) -> str:
    """Two instructions that fill a register."""
    return f"MOVI {register}, {lower}\nMOVI.H {register}, {upper}\n"


def run(*texts: str, on: SnowflakeMachine | None = None) -> CycleReport:
    """The code of each cluster, with ``HALT 0`` after it, on ``on`` (else as ``machine()`` with enough clusters)."""
    program = program_of(*(f"{text}\nHALT 0\n" for text in texts))
    return simulate_cycles(program, on or machine({1: 1, 2: 2}.get(len(texts), 4)))
