"""Kernels: a loop body as a dataflow graph, with the memory it works on and how often it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mapper.workloads.graph.dataflow_graph import DataflowGraph

WordKind = Literal["int32", "float32"]


@dataclass(frozen=True)
class Array:
    """One array in memory: its words, their kind, and whether the kernel writes it."""

    name: str
    words: int
    kind: WordKind = "int32"
    written: bool = False


@dataclass(frozen=True)
class Kernel:
    """An innermost loop. ``trip_count`` is None where a bare graph does not say; ``text`` is its source, if
    it has one; ``notes`` say what was assumed (conservative dependences)."""

    name: str
    graph: DataflowGraph
    arrays: tuple[Array, ...] = ()
    trip_count: int | None = None
    text: str = ""
    notes: tuple[str, ...] = ()
