"""Snowflake, an accelerator that computes on traces [Chang2018, sec. 2]: clusters of 256 multiply-accumulators, each
with a control core, private buffers, and one external memory for all.

Published: Q8.8, 16 MACs a vMAC, 4 vMACs and a vMAX a compute unit, 4 units a cluster, 256 kB of maps buffer and 512 kB
of weight buffers and an instruction cache of two banks of 512 a cluster, 32 registers of 32 bits, clocks, boards and
their power. The rest is this project's choice.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from mapper.arch.part import Part, check_steps, cycles_per_byte, hertz, read_part

Count = Annotated[int, Field(ge=1, le=1 << 16, strict=True)]
Size = Annotated[int, Field(ge=0, le=1 << 24, strict=True)]
Positive = Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)]
Constant = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]

UNITS = 4
"""Compute units of a cluster."""
VMACS = 4
"""vMACs of a compute unit."""
LANES = 16
"""MACs of a vMAC, and words of a line of a buffer."""
TABLE_SEGMENTS = 256
"""Straight pieces of the function in a unit's look-up table."""
TABLE_WORDS = 3 + TABLE_SEGMENTS + 1
"""Words of such a table: how wide its pieces are, the slopes beyond them, and the values between them."""
BLOCK = VMACS * LANES
"""Accumulators of a compute unit."""
MACS = UNITS * BLOCK
"""MACs of a cluster."""
REGISTERS = 32
BANK_INSTRUCTIONS = 512
WORD_BYTES = 2
INSTRUCTION_BYTES = 4

_NAME = re.compile(r"snowflake-([124])cc(?:@([1-9][0-9]{0,3}))?")


FINEST_ENERGY = 1e-12
"""Picojoules: less than that a constant cannot be, unless it is 0."""


class Timing(Part):
    """This project's constants, in cycles: from a request at the external memory to its last word in a buffer beyond
    the time its bytes take, from the last operand of a vector instruction to its result, and how many vector
    instructions and how many transfers may wait, and how many words the look-up table of a unit maps in a cycle."""

    memory_latency: Size = 64
    vector_latency: Size = 8
    vector_queue: Count = 16
    transfer_queue: Count = 64
    table_words: Count = 4


class Host(Part):
    """What runs what the accelerator lacks, one operator after another: elements that it reads and writes a second, and
    multiply-accumulates besides (this project's constants, of the order of one core of the ZC706's Cortex-A9)."""

    elements_per_second: float = Field(default=1e8, gt=0, le=1e15, allow_inf_nan=False)
    macs_per_second: float = Field(default=1e9, gt=0, le=1e18, allow_inf_nan=False)

    def seconds(self, elements: int, macs: int) -> Fraction:
        """What an operator takes, exactly."""
        speeds = (Fraction(repr(speed)) for speed in (self.elements_per_second, self.macs_per_second))
        return sum(
            (count / speed for count, speed in zip((elements, macs), speeds, strict=True)), Fraction(0)
        )


class Energy(Part):
    """This project's constants; the paper gives power only. Picojoules of a multiply-accumulate, of a word read or
    written in a buffer, of a byte to or from the external memory, of a cluster for a cycle, and on the host of an
    element that it reads or writes and of a multiply-accumulate (0.5 W at the speeds of ``Host``)."""

    mac: Constant = 3.0
    buffer_word: Constant = 2.0
    dram_byte: Constant = 80.0
    cluster_cycle: Constant = 500.0
    host_element: Constant = 5000.0
    host_mac: Constant = 500.0

    @model_validator(mode="after")
    def _countable(self) -> Energy:
        for field in type(self).model_fields:
            if 0 < getattr(self, field) < FINEST_ENERGY:
                raise ValueError(f"{field}: must be 0 or at least {FINEST_ENERGY:g} pJ")
        return self

    @cached_property
    def parts(self) -> int:
        """Into so many parts a pJ falls that every constant, as it is written, is a whole number of them."""
        return math.lcm(*(price.denominator for price in self._exact))

    @cached_property
    def whole(self) -> tuple[int, int, int, int]:
        """The accelerator's constants, in their order, in these parts."""
        mac, word, byte, cycle, *_ = (int(price * self.parts) for price in self._exact)
        return mac, word, byte, cycle

    @cached_property
    def host(self) -> tuple[int, int]:
        """The host's constants, element and multiply-accumulate, in these parts."""
        *_, element, mac = (int(price * self.parts) for price in self._exact)
        return element, mac

    @property
    def _exact(self) -> tuple[Fraction, ...]:
        return tuple(Fraction(repr(getattr(self, field))) for field in type(self).model_fields)


class SnowflakeMachine(Part):
    """One accelerator, or several equal ones behind one host.

    Buffers are bytes of a whole cluster: the maps buffer is split evenly over its 4 units, the weight buffer over its
    16 vMACs, whose share has two halves. ``bandwidth_gb_s`` (1e9 bytes per second) is of each accelerator's own
    external memory, for all its clusters together. ``power_w`` is of one board.
    """

    schema_name: Literal["mapper.snowflake/1"] = Field(alias="schema")
    name: Annotated[str, Field(min_length=1, max_length=64)]
    description: Annotated[str, Field(max_length=4000)] = ""
    clusters: Annotated[int, Field(ge=1, le=8, strict=True)]
    accelerators: Annotated[int, Field(ge=1, le=16, strict=True)] = 1
    clock_mhz: Positive
    bandwidth_gb_s: Positive
    power_w: Positive
    board: Annotated[str, Field(max_length=100)] = ""
    maps_buffer_bytes: Annotated[
        int, Field(ge=1 << 10, le=1 << 24, multiple_of=UNITS * LANES * WORD_BYTES, strict=True)
    ]
    weight_buffer_bytes: Annotated[
        int, Field(ge=1 << 10, le=1 << 24, multiple_of=2 * MACS * WORD_BYTES, strict=True)
    ]
    memory_bytes: Annotated[int, Field(ge=1 << 20, le=1 << 32, strict=True)] = 1 << 30
    timing: Timing = Timing()
    host: Host = Host()
    energy_pj: Energy = Energy()

    @model_validator(mode="after")
    def _whole(self) -> SnowflakeMachine:
        check_steps(self.clock_mhz, self.bandwidth_gb_s)
        return self

    @property
    def clock_hz(self) -> int:
        return hertz(self.clock_mhz)

    @property
    def unit_words(self) -> int:
        """Words of one unit's maps buffer."""
        return self.maps_buffer_bytes // WORD_BYTES // UNITS

    @property
    def vmac_words(self) -> int:
        """Words of one vMAC's weight buffer, both halves."""
        return self.weight_buffer_bytes // WORD_BYTES // (UNITS * VMACS)

    @cached_property
    def cycles_per_byte(self) -> tuple[int, int]:
        """Cycles that a byte takes at the external memory, as numerator and denominator without common divisor."""
        return cycles_per_byte(self.clock_mhz, self.bandwidth_gb_s)


def snowflake_from_document(fields: dict[str, Any], source: str) -> SnowflakeMachine:
    """A machine from the fields of a document.

    Raises: InputError naming the field that is wrong.
    """
    return read_part(SnowflakeMachine, fields, source)


def snowflake_preset(name: str) -> dict[str, Any] | None:
    """The document (schema ``mapper.snowflake/1``) of the machine called ``name``, or None if there is none.

    Published [Chang2018, secs. 2 and 5]: one cluster at 200 MHz on a ZC706 of 10 W with 4.5 GB/s; an AC510 at 187
    MHz of 24 W with up to 7 GB/s. The presets keep 200 MHz and 4.5 GB/s for every number of clusters.
    """
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    clusters, clock = int(found[1]), int(found[2] or 200)
    small = clusters == 1
    return {
        "schema": "mapper.snowflake/1",
        "name": name,
        "description": (
            f"Snowflake with {clusters} compute cluster{'s' if clusters > 1 else ''} at {clock} MHz "
            "(@CLOCK sets it, as in snowflake-1cc@250). Published: "
            "256 MACs, 256 kB of maps buffer, 512 kB of weight buffers and two banks of 512 instructions a cluster, "
            "power of the board. This project's choices: 4.5 GB/s also where the board has more, latencies, queues, "
            "energies; speed and energy of the host, of the order of one core of a Cortex-A9 at 0.5 W."
        ),
        "clusters": clusters,
        "accelerators": 4,
        "clock_mhz": clock,
        "bandwidth_gb_s": 4.5,
        "power_w": 10 if small else 24,
        "board": "ZC706" if small else "AC510",
        "maps_buffer_bytes": 256 * 1024,
        "weight_buffer_bytes": 512 * 1024,
        "timing": {
            "memory_latency": 64,
            "vector_latency": 8,
            "vector_queue": 16,
            "transfer_queue": 64,
            "table_words": 4,
        },
        "host": {"elements_per_second": 1e8, "macs_per_second": 1e9},
        "energy_pj": {
            "mac": 3.0,
            "buffer_word": 2.0,
            "dram_byte": 80.0,
            "cluster_cycle": 500.0,
            "host_element": 5000.0,
            "host_mac": 500.0,
        },
    }
