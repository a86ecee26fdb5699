"""Dataflow graphs of loop bodies: operations, and edges with operand positions and distances [Bae2018, V-C]."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

Number = int | float


@dataclass(frozen=True)
class Operation:
    """One operation of the loop body. ``immediates`` are constants and live-ins by operand position;
    ``array`` names the memory a load or store touches, at the word that is ``offset`` words from its index."""

    name: str
    opcode: str
    immediates: tuple[tuple[int, Number], ...] = ()
    array: str | None = None
    offset: int = 0


@dataclass(frozen=True)
class Edge:
    """``source`` gives operand ``operand`` of ``destination``, ``distance`` iterations later.

    ``operand`` is None where only the order matters (memory dependences). ``latency``: cycles after which the
    value can be read, None for the machine's latency of the operation. ``initial``: values read in the first
    ``distance`` iterations, oldest first.
    """

    source: int
    destination: int
    operand: int | None
    distance: int = 0
    latency: int | None = None
    initial: tuple[Number, ...] = ()


@dataclass(frozen=True)
class DataflowGraph:
    """A loop body; edges and operations are named by their positions, counted from 0."""

    name: str
    operations: tuple[Operation, ...]
    edges: tuple[Edge, ...]

    @cached_property
    def outgoing(self) -> tuple[tuple[int, ...], ...]:
        """Per operation the positions of the edges that leave it."""
        leaving: list[list[int]] = [[] for _ in self.operations]
        for position, edge in enumerate(self.edges):
            leaving[edge.source].append(position)
        return tuple(map(tuple, leaving))

    @cached_property
    def incoming(self) -> tuple[tuple[int, ...], ...]:
        """Per operation the positions of the edges that reach it."""
        reaching: list[list[int]] = [[] for _ in self.operations]
        for position, edge in enumerate(self.edges):
            reaching[edge.destination].append(position)
        return tuple(map(tuple, reaching))
