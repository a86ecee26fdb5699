"""A compiled network: code of every cluster, data, tensors, and what the host does in between."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mapper.models.trace_partition.lowering.layer import TensorView

Code = npt.NDArray[np.uint32]
Words = npt.NDArray[np.int16]


@dataclass(frozen=True)
class Mark:
    """Place in a cluster's code (counted from its first instruction) where a layer begins."""

    layer: str
    place: int


@dataclass(frozen=True)
class ClusterCode:
    """A cluster's banks one after another (a multiple of 512 instructions), the word of memory where they lie, the
    layers' beginnings in order, and the places of the MOVI whose immediate (with the MOVI.H after it) is an address
    in memory."""

    code: Code
    address: int
    marks: tuple[Mark, ...]
    relocations: tuple[int, ...]


@dataclass(frozen=True)
class Segment:
    """Constant words at a place in memory: weights and biases of a layer as its loads read them."""

    name: str
    address: int
    words: Words


@dataclass(frozen=True)
class PlacedTensor:
    """A tensor of the network in memory: first word and number of words."""

    name: str
    address: int
    words: int


@dataclass(frozen=True)
class HostCall:
    """What the host does at ``HALT number``: an ONNX operator with its attributes on views of tensors, as numbers of
    Q8.8."""

    number: int
    name: str
    op: str
    inputs: tuple[TensorView, ...]
    output: TensorView
    attributes: tuple[
        tuple[str, int | float | str | tuple[int, ...] | tuple[float, ...] | tuple[str, ...]], ...
    ] = ()


@dataclass(frozen=True)
class Program:
    """What an accelerator's memory holds and its clusters run, for one image (or one per cluster, each then with
    tensors of its own, named ``<image>/<tensor>``). Addresses are words of 16 bits from ``base``; ``words``: how
    many there are. ``inputs`` and ``outputs``: for each image ONNX tensor names and where they lie; ``shapes``: those
    that ONNX has for them. ``accelerators``: how many run it, each on images of its own."""

    name: str
    words: int
    clusters: tuple[ClusterCode, ...]
    segments: tuple[Segment, ...]
    tensors: tuple[PlacedTensor, ...]
    calls: tuple[HostCall, ...]
    inputs: tuple[tuple[tuple[str, TensorView], ...], ...]
    outputs: tuple[tuple[tuple[str, TensorView], ...], ...]
    base: int = 0
    shapes: tuple[tuple[str, tuple[int, ...]], ...] = ()
    accelerators: int = 1
