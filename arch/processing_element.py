"""What stands inside a PE of a TCPA: units with their latencies, registers, and the memory of its program.

TCPAs are configured when they are synthesised: number and type of the functional units in a PE are free
[Heidorn2019, sec. 1], and neither latencies nor registers of its example are published. What stands here by default is
this project's choice, and what is None limits nothing.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mapper.arch.part import Part

Cycles = Annotated[int, Field(ge=1, le=64, strict=True)]
Count = Annotated[int, Field(ge=1, le=65535, strict=True)]


class Latency(Part):
    """Cycles from the issue of an operation until its result can be read; a unit takes one operation in each cycle.

    A product takes one more cycle than a sum: this project's choice.
    """

    multiply: Cycles = 2
    add: Cycles = 1
    compare: Cycles = 1
    shift: Cycles = 1
    move: Cycles = 1
    table: Cycles = 1


class Units(Part):
    """How many units of a sort a PE has, so many operations a word of its program holds at most (None: as many as the
    ``functional_units`` of its machine need to be kept busy in every cycle)."""

    multipliers: Count | None = None
    adders: Count | None = None
    comparators: Count | None = None
    shifters: Count | None = None
    movers: Count | None = None
    tables: Count | None = None


class ProcessingElement(Part):
    """A PE. Registers hold ``register_bits`` bits: 48, as the accumulators of an FPGA's multipliers do.

    ``data_registers`` (RD) are general; ``feedback_fifos`` (FD) give words back in the order in which they came, and
    hold ``feedback_words`` together; ``input_registers`` (ID) take words from address generators and links, each a
    FIFO of ``input_words``; ``output_registers`` (OD) hand results on; ``constant_registers`` (RC) are written when the
    array is configured; the program has ``instruction_words``.
    """

    latency: Latency = Latency()
    units: Units = Units()
    register_bits: Annotated[int, Field(ge=16, le=62, strict=True)] = 48
    data_registers: Count | None = None
    feedback_fifos: Count | None = None
    feedback_words: Annotated[int, Field(ge=1, le=1 << 24, strict=True)] | None = None
    input_registers: Count | None = None
    input_words: Count | None = None
    output_registers: Count | None = None
    constant_registers: Count | None = None
    instruction_words: Count | None = None
