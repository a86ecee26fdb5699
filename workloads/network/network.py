"""Networks as they are mapped: layers in graph order, and what is no layer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from mapper.workloads.nest.loop_nest import LoopNest

Dims = Mapping[str, int]
"""Sizes of the open dimensions of a file, by their names in it."""
NO_DIMS: Dims = MappingProxyType({})


@dataclass(frozen=True)
class Layer:
    """One operator that is a loop nest. ``source`` is its name in the file, ``op`` its ONNX type;
    ``merged`` lists operators folded into it as (name, op)."""

    name: str
    source: str
    op: str
    nest: LoopNest
    merged: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class SkippedOperator:
    """One operator that is no loop nest, with the multiply-accumulates it would have cost."""

    name: str
    op: str
    reason: str
    macs: int = 0


@dataclass(frozen=True)
class InputFile:
    """A file (or catalogue entry) that was read, and the hash of its bytes."""

    path: str
    sha256: str


@dataclass(frozen=True)
class Network:
    """Layers in graph order, operators that are skipped, and the files they came from. ``batch``: images
    at once, or None where the workload has no such thing (a loop nest)."""

    name: str
    layers: tuple[Layer, ...]
    skipped: tuple[SkippedOperator, ...] = ()
    inputs: tuple[InputFile, ...] = ()
    batch: int | None = None

    @property
    def macs(self) -> int:
        """Multiply-accumulates of layers and skipped operators together."""
        return sum(layer.nest.iterations for layer in self.layers) + sum(op.macs for op in self.skipped)
