"""Tightly coupled processor arrays: VLIW PEs in a grid, with buffers at its borders alone [Heidorn2019, sec. 1].

A PE issues ``functional_units`` multiply-accumulates (comparisons, additions) a cycle. Only PEs at a border
that has buffers reach them, through address generators. Streams run over the links between PEs and pass the PEs on
their way without taking their time; they share a link word by word, up to ``link_words`` a cycle in each direction.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from mapper.arch.part import Part, read_part
from mapper.arch.processing_element import ProcessingElement

Count = Annotated[int, Field(ge=1, le=4096, strict=True)]
Pe = tuple[int, int]
Side = Literal["north", "east", "south", "west"]

LARGEST = 128
"""Rows and columns of the largest preset."""
LINK_BITS = 32
"""Bits a cycle of a preset's link in each direction: one word of a PE. [Heidorn2019] gives no number; with words of 8
bits that is four words. This project's choice."""
BUFFERS_OF_A_PE = 8
"""Buffers that a border PE of a preset reaches. [Heidorn2019] draws several at each border and gives no number: this
project's choice."""

FAMILY = (
    "tcpa-NxM",
    f"a tightly coupled processor array with buffers at its four borders (N, M 1 to {LARGEST})",
)

_NAME = re.compile(r"tcpa-([1-9][0-9]{0,2})x([1-9][0-9]{0,2})")


class FunctionalUnits(Part):
    """delta: how many operations of a kind of layer one PE issues in a cycle."""

    convolution: Count
    pool: Count
    elementwise: Count


class Border(Part):
    """Buffers: at which borders, and their address generators, one for each stream that enters or leaves the array
    (None: as many as there are streams). ``buffers``: how many each PE at these borders reaches (None: any number)."""

    sides: Annotated[list[Side], Field(min_length=1, max_length=4)]
    address_generators: Count | None = None
    buffers: Count | None = None


class TcpaMachine(Part):
    """A TCPA [Heidorn2019, Fig. 1(a)]. ``buffer_bytes`` is the room of all buffers together (None: enough);
    ``link_words`` what a link between two PEs, or between a PE and the buffers at its side, carries a cycle in each
    direction (None: any number of words); ``processing_element`` what all PEs are."""

    schema_name: Literal["mapper.tcpa/1"] = Field(alias="schema")
    name: Annotated[str, Field(min_length=1, max_length=64)]
    description: Annotated[str, Field(max_length=2000)] = ""
    rows: Annotated[int, Field(ge=1, le=1024, strict=True)]
    columns: Annotated[int, Field(ge=1, le=1024, strict=True)]
    links: Annotated[list[Literal["mesh", "torus", "diagonal"]], Field(min_length=1, max_length=3)]
    link_words: Count | None = None
    functional_units: FunctionalUnits
    clock_mhz: Annotated[float, Field(ge=1e-6, le=1e6, allow_inf_nan=False)]
    word_bytes: Annotated[int, Field(ge=1, le=16, strict=True)]
    buffer_bytes: Annotated[int, Field(ge=0, le=1 << 50, strict=True)] | None = None
    border: Border
    processing_element: ProcessingElement = ProcessingElement()

    @model_validator(mode="after")
    def _in_one_piece(self) -> TcpaMachine:
        """Slanted links alone leave half of the PEs out of reach of the other half."""
        if set(self.links) == {"diagonal"} and self.pe_count > 1:
            raise ValueError("links: diagonal ones alone do not join all PEs; add mesh or torus")
        return self

    @property
    def pe_count(self) -> int:
        return self.rows * self.columns

    def pes_within(self, most: int) -> int:
        """PEs that a mapping may use where at most so many are asked for (0: no limit)."""
        return min(most or self.pe_count, self.pe_count)

    def bytes_within(self, most: int | None) -> int | None:
        """Bytes of buffers that a mapping may use where at most so many are asked for; None: any number."""
        return min((one for one in (most, self.buffer_bytes) if one is not None), default=None)

    @property
    def clock_hz(self) -> int:
        """Clock in whole hertz."""
        return round(self.clock_mhz * 1e6)

    @cached_property
    def all_pes(self) -> tuple[Pe, ...]:
        """Every PE, row by row."""
        return tuple((row, column) for row in range(self.rows) for column in range(self.columns))

    @cached_property
    def border_pes(self) -> frozenset[Pe]:
        """The PEs that reach a buffer."""
        return frozenset(pe for pe in self.all_pes if self.sides_of(pe))

    def sides_of(self, pe: Pe) -> tuple[Side, ...]:
        """The borders whose buffers ``pe`` reaches, each over a link of its own; two at a corner."""
        at: dict[Side, bool] = {
            "north": pe[0] == 0,
            "south": pe[0] == self.rows - 1,
            "west": pe[1] == 0,
            "east": pe[1] == self.columns - 1,
        }
        return tuple(side for side in dict.fromkeys(self.border.sides) if at[side])

    @property
    def has_limits(self) -> bool:
        """Whether links or border PEs limit which streams find a way."""
        return self.link_words is not None or self.border.buffers is not None

    @cached_property
    def neighbours(self) -> dict[Pe, tuple[Pe, ...]]:
        """The PEs that each PE has a link with, itself left out, row by row."""
        straight, slanted = ((-1, 0), (0, -1), (0, 1), (1, 0)), ((-1, -1), (-1, 1), (1, -1), (1, 1))
        found: dict[Pe, tuple[Pe, ...]] = {}
        for row, column in self.all_pes:
            near: set[Pe] = set()
            for link in self.links:
                for down, across in slanted if link == "diagonal" else straight:
                    at = (row + down, column + across)
                    near.add((at[0] % self.rows, at[1] % self.columns) if link == "torus" else at)
            inside = {(r, c) for r, c in near if 0 <= r < self.rows and 0 <= c < self.columns}
            found[row, column] = tuple(sorted(inside - {(row, column)}))
        return found


def tcpa_from_document(fields: dict[str, Any], source: str) -> TcpaMachine:
    """A machine from the fields of a document.

    Raises: InputError naming the field that is wrong.
    """
    return read_part(TcpaMachine, fields, source)


def tcpa_preset(name: str) -> dict[str, Any] | None:
    """The document (schema ``mapper.tcpa/1``) of the array called ``name``, or None if there is none.

    Published [Heidorn2019, sec. 6]: delta 2 for all layers, 50 MHz, 8 bit in the storage example.
    """
    found = _NAME.fullmatch(name)
    if found is None or max(int(found[1]), int(found[2])) > LARGEST:
        return None
    return {
        "schema": "mapper.tcpa/1",
        "name": name,
        "description": (
            f"A TCPA of {found[1]}x{found[2]} PEs. Published: two functional units a PE, 50 MHz, words of 8 bits. "
            f"This project's choices: links of {LINK_BITS} bits a cycle to the four neighbours, {BUFFERS_OF_A_PE} "
            "buffers for each PE at the four borders, as large and with as many address generators as the streams "
            "need; latencies of units, and PEs with room for any program."
        ),
        "rows": int(found[1]),
        "columns": int(found[2]),
        "links": ["mesh"],
        "link_words": LINK_BITS // 8,
        "functional_units": {"convolution": 2, "pool": 2, "elementwise": 2},
        "clock_mhz": 50,
        "word_bytes": 1,
        "buffer_bytes": None,
        "border": {
            "sides": ["north", "east", "south", "west"],
            "address_generators": None,
            "buffers": BUFFERS_OF_A_PE,
        },
        "processing_element": ProcessingElement().model_dump(),
    }
