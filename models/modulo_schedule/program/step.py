"""What the driver of a network does, step by step, in VLIW mode [Bae2018, sec. II-A].

Memory is one array of 32-bit words. Places in it are affine in the loops of the step, outer to inner: word
``at + sum(stride * counter)``. A counter runs over ``range(start, stop, step)``.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictFloat

from mapper.models.modulo_schedule.configuration.word import Name

MOST_WORDS = 1 << 31
Word = Annotated[int, Field(ge=0, lt=MOST_WORDS, strict=True)]
Distance = Annotated[int, Field(gt=-MOST_WORDS, lt=MOST_WORDS, strict=True)]
Count = Annotated[int, Field(ge=1, lt=MOST_WORDS, strict=True)]


class Piece(BaseModel):
    """A part of a program's document."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Place(Piece):
    """A word that depends on the loops of its step."""

    at: Distance
    strides: tuple[Distance, ...]


class Load(Piece):
    """The words of kernel number ``kernel`` go into the configuration memory."""

    do: Literal["load"] = "load"
    layer: Name
    kernel: Word


class Run(Piece):
    """Kernel number ``kernel`` is started once per iteration of ``loops``, for ``iterations`` of its own. Before each
    start the addresses of ``arrays`` and the words at ``live_ins``, both by name, are written for it."""

    do: Literal["run"] = "run"
    layer: Name
    kernel: Word
    iterations: Count
    loops: tuple[tuple[Word, Count, Count], ...]
    arrays: dict[Name, Place]
    live_ins: dict[Name, Place]


class Bound(Piece):
    """``at + sum(stride * counter)`` has to be from 0 to ``below - 1``."""

    at: Distance
    strides: tuple[Distance, ...]
    below: Count


class Copy(Piece):
    """Words are copied one after another to ``to`` and on, in the order of ``loops`` (iterations of each): the word at
    ``source`` where all ``inside`` hold, else ``outside``."""

    do: Literal["copy"] = "copy"
    layer: Name
    what: Name
    to: Word
    source: Place
    loops: tuple[Count, ...]
    inside: tuple[Bound, ...]
    outside: StrictFloat | Literal["-inf"]


class Host(Piece):
    """Operators that the array cannot run, in VLIW mode. ``whole``: the layer and what is merged into it;
    ``merged``: only the merged ``operators`` (by name, in order), on what lies in the layer's output; ``rim``:
    means of windows that reach into the padding. ``elements`` take ``cycles`` each."""

    do: Literal["host"] = "host"
    layer: Name
    what: Literal["whole", "merged", "rim"]
    elements: Word
    cycles: Word
    operators: tuple[Name, ...] = ()


Step = Annotated[Load | Run | Copy | Host, Field(discriminator="do")]
