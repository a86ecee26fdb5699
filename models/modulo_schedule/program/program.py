"""A network compiled for a CGRA."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from mapper.models.modulo_schedule.configuration.word import Configuration, Name
from mapper.models.modulo_schedule.program.step import Count, Piece, Step, Word

SCHEMA = "mapper.cgra-program/1"


class Tensor(Piece):
    """A tensor of the network and where it lies, row by row."""

    name: Name
    shape: tuple[Count, ...]
    at: Word


class Program(Piece):
    """Steps in order, the kernels that they start, and the memory: ``words`` in all, of which the first
    ``constants`` hold what the file beside the program does, and all others 0. ``weights``: those that operators
    in VLIW mode read. ``machine`` and ``structure`` are the documents of the machine and of the network's operators."""

    schema_name: Literal["mapper.cgra-program/1"] = Field(default="mapper.cgra-program/1", alias="schema")
    name: Name
    machine: dict[str, Any]
    structure: dict[str, Any]
    words: Word
    constants: Word
    constants_sha256: str
    data: Name
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    tensors: tuple[Tensor, ...]
    weights: tuple[Tensor, ...]
    kernels: tuple[Configuration, ...]
    steps: tuple[Step, ...]
