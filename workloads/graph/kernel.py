"""Kernels: a loop body as a dataflow graph, with the memory it works on and how often it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mapper.workloads.graph.dataflow_graph import DataflowGraph, Number

WordKind = Literal["int32", "float32", "int8", "uint8", "int16", "uint16", "int64", "float64"]
"""Words in memory. Unsigned ones of 32 and 64 bits are those of the signed type with the same bits."""


@dataclass(frozen=True)
class Array:
    """One array in memory: its words, their kind, and whether the kernel writes it."""

    name: str
    words: int
    kind: WordKind = "int32"
    written: bool = False


@dataclass(frozen=True)
class EntryOperation:
    """An operation that runs once, before the loop: its operands are numbers or names of earlier ones. A load whose
    word is outside its array gives 0: the loop then does not use it."""

    name: str
    opcode: str
    operands: tuple[Number | str, ...]
    array: str | None = None


@dataclass(frozen=True)
class LiveIn:
    """A value of the entry that the loop takes: in ``operands`` (operation and operand, by position) and as the first
    value of edges (``initial``: edge, and which of its initial values), and as what loads and stores displace their
    index by (``offsets``: operations by position). The graph holds 0 there, or the number of the first start."""

    value: str
    operands: tuple[tuple[int, int], ...] = ()
    initial: tuple[tuple[int, int], ...] = ()
    offsets: tuple[int, ...] = ()


@dataclass(frozen=True)
class Kernel:
    """An innermost loop. ``trip_count`` is None where a bare graph does not say; ``text`` is its source, if
    it has one; ``notes`` say what was assumed (conservative dependences). ``entry``: what runs once before the loop,
    on the memory that the loop finds, for ``live_ins``. ``assumed_trips``: how often a loop of unknown trip count
    runs with the numbers that its parameters stand at."""

    name: str
    graph: DataflowGraph
    arrays: tuple[Array, ...] = ()
    trip_count: int | None = None
    text: str = ""
    notes: tuple[str, ...] = ()
    entry: tuple[EntryOperation, ...] = ()
    live_ins: tuple[LiveIn, ...] = ()
    assumed_trips: int | None = None
