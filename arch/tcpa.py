"""Tightly coupled processor arrays: VLIW PEs in a grid, with buffers at its borders alone [Heidorn2019, sec. 1].

A PE issues ``functional_units`` multiply-accumulates (comparisons, additions) a cycle. Only PEs at a border
that has buffers reach them, through address generators. Streams run over the links between PEs and pass the PEs on
their way without taking their time.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from mapper.arch.part import Part, read_part

Count = Annotated[int, Field(ge=1, le=4096, strict=True)]
Pe = tuple[int, int]
Side = Literal["north", "east", "south", "west"]

LARGEST = 128
"""Rows and columns of the largest preset."""

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
    (None: as many as there are streams)."""

    sides: Annotated[list[Side], Field(min_length=1, max_length=4)]
    address_generators: Count | None = None


class TcpaMachine(Part):
    """A TCPA [Heidorn2019, Fig. 1(a)]. ``buffer_bytes`` is the room of all buffers together (None: enough)."""

    schema_name: Literal["mapper.tcpa/1"] = Field(alias="schema")
    name: Annotated[str, Field(min_length=1, max_length=64)]
    description: Annotated[str, Field(max_length=2000)] = ""
    rows: Annotated[int, Field(ge=1, le=1024, strict=True)]
    columns: Annotated[int, Field(ge=1, le=1024, strict=True)]
    links: Annotated[list[Literal["mesh", "torus", "diagonal"]], Field(min_length=1, max_length=3)]
    functional_units: FunctionalUnits
    clock_mhz: Annotated[float, Field(ge=1e-6, le=1e6, allow_inf_nan=False)]
    word_bytes: Annotated[int, Field(ge=1, le=16, strict=True)]
    buffer_bytes: Annotated[int, Field(ge=0, le=1 << 50, strict=True)] | None = None
    border: Border

    @model_validator(mode="after")
    def _in_one_piece(self) -> TcpaMachine:
        """Slanted links alone leave half of the PEs out of reach of the other half."""
        if set(self.links) == {"diagonal"} and self.pe_count > 1:
            raise ValueError("links: diagonal ones alone do not join all PEs; add mesh or torus")
        return self

    @property
    def pe_count(self) -> int:
        return self.rows * self.columns

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
        at = {
            "north": lambda pe: pe[0] == 0,
            "south": lambda pe: pe[0] == self.rows - 1,
            "west": lambda pe: pe[1] == 0,
            "east": lambda pe: pe[1] == self.columns - 1,
        }
        return frozenset(pe for pe in self.all_pes if any(at[side](pe) for side in self.border.sides))

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
            "This project's choices: links to the four neighbours, buffers at all four borders, as large and with "
            "as many address generators as the streams need."
        ),
        "rows": int(found[1]),
        "columns": int(found[2]),
        "links": ["mesh"],
        "functional_units": {"convolution": 2, "pool": 2, "elementwise": 2},
        "clock_mhz": 50,
        "word_bytes": 1,
        "buffer_bytes": None,
        "border": {"sides": ["north", "east", "south", "west"], "address_generators": None},
    }
