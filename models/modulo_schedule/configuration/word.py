"""Configuration words: a modulo schedule as the array runs it, kernel-only code with stage predicates.

The array repeats its II words per PE. A word of stage s runs for iteration i in the s-th repetition after the
one in which iteration i enters, so that it is active (its stage predicate holds) in repetitions s to s + n - 1
of n + SC - 1 ([Bae2018], section V-C: n*II + (SC-1)*II cycles, without a prologue or an epilogue).
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    StrictFloat,
    StrictInt,
    ValidationError,
    model_validator,
)

from mapper.workloads.document import validation_error
from mapper.workloads.graph.dataflow_graph import Number

MOVE = "move"
"""Opcode of words that hand a value on; their ``operation`` is None."""

_NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def _read_number(value: Any) -> Any:
    return _NOT_FINITE.get(value, value) if isinstance(value, str) else value


def _written_number(value: Number) -> Number | str:
    return value if isinstance(value, int) or math.isfinite(value) else str(value)


# JSON has no infinities and no NaN: they stand as the words "inf", "-inf" and "nan".
Value = Annotated[
    StrictInt | StrictFloat,
    BeforeValidator(_read_number),
    PlainSerializer(_written_number, when_used="json"),
]
Coordinate = Annotated[int, Field(ge=0, le=63, strict=True)]
Pe = tuple[Coordinate, Coordinate]
Position = Annotated[int, Field(ge=0, le=1023, strict=True)]
RegisterNumber = Annotated[int, Field(ge=0, le=2047, strict=True)]
Name = Annotated[str, Field(max_length=1024)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, defer_build=True)


class LiveInName(_Part):
    """A number that is not known before the loop starts, by its name."""

    live_in: Name


class Immediate(_Part):
    """A constant in the word itself."""

    kind: Literal["immediate"] = Field(default="immediate", alias="from")
    position: Position
    value: Value


class LiveIn(_Part):
    """A number that the driver writes into the word before each start."""

    kind: Literal["live_in"] = Field(default="live_in", alias="from")
    position: Position
    name: Name


First = Value | LiveInName
"""What an operand is in one of the first iterations."""


class Output(_Part):
    """What the output register of ``pe`` holds; in iterations before the ``len(initial)``-th, that value."""

    kind: Literal["output"] = Field(default="output", alias="from")
    position: Position
    pe: Pe
    initial: tuple[First, ...] = ()


class Register(_Part):
    """What an own register or a shared one holds; in iterations before the ``len(initial)``-th, that value."""

    kind: Literal["register"] = Field(default="register", alias="from")
    position: Position
    register_number: RegisterNumber = Field(alias="register")
    initial: tuple[First, ...] = ()


Operand = Annotated[Immediate | LiveIn | Output | Register, Field(discriminator="kind")]


class Word(_Part):
    """What ``pe`` issues in cycle ``slot`` of every II: an operation, or a move (``operation`` None).

    ``stage``: repetitions of the II after the one in which an iteration enters. ``predicate``: the operand that
    switches a load or store off where it is 0; ``offset``: the words from its index to what it accesses. The
    result can be read ``latency`` cycles after the issue, in the output register if ``output``, and in the own and
    shared ``registers``.
    """

    pe: Pe
    slot: Annotated[int, Field(ge=0, strict=True)]
    stage: Annotated[int, Field(ge=0, strict=True)]
    operation: Name | None
    opcode: Name
    operands: tuple[Operand, ...]
    predicate: Operand | None = None
    array: Name | None = None
    offset: StrictInt = 0
    latency: Annotated[int, Field(ge=0, le=1 << 20, strict=True)]
    output: Annotated[bool, Field(strict=True)] = True
    registers: tuple[RegisterNumber, ...] = ()

    @property
    def read(self) -> tuple[Operand, ...]:
        """Every operand, the predicate last."""
        return self.operands if self.predicate is None else (*self.operands, self.predicate)


class Configuration(_Part):
    """The words of a kernel on an array; ``trip_count`` None where the workload does not say. Registers from
    number ``shared_from`` on are those of the shared file; None if the array has none."""

    schema_name: Literal["mapper.cgra-configuration/1"] = Field(
        default="mapper.cgra-configuration/1", alias="schema"
    )
    kernel: Name
    machine: Name
    ii: Annotated[int, Field(ge=1, strict=True)]
    stages: Annotated[int, Field(ge=1, strict=True)]
    trip_count: Annotated[int, Field(ge=0, strict=True)] | None
    shared_from: RegisterNumber | None = None
    words: tuple[Word, ...]

    @model_validator(mode="after")
    def _words_fit(self) -> Configuration:
        for place, word in enumerate(self.words):
            if word.slot >= self.ii:
                raise ValueError(f"words.{place}.slot: {word.slot} is not below the II of {self.ii}")
            if word.stage >= self.stages:
                raise ValueError(f"words.{place}.stage: {word.stage} is not below the {self.stages} stages")
            if word.operation is None and (word.opcode != MOVE or len(word.read) != 1 or word.latency != 1):
                raise ValueError(f"words.{place}: a move reads one operand and takes one cycle")
        return self

    def to_json(self) -> dict[str, Any]:
        """The document ``mapper.cgra-configuration/1``."""
        return self.model_dump(mode="json", by_alias=True)


def read_configuration(fields: dict[str, Any], source: str) -> Configuration:
    """The configuration of a document's fields.

    Raises: InputError naming the field that is wrong, missing or unknown.
    """
    try:
        return Configuration.model_validate(fields)
    except ValidationError as error:
        raise validation_error(error, source, Configuration) from None
