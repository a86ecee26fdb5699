"""The layer objects that a network becomes [Chang2018, sec. 3]: what each computes, and where its maps lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mapper.workloads.network.operator_network import Shape

Work = Literal["convolution", "lane", "max"]
"""A convolution (grouped, transposed and fully connected ones too); channel by channel with one product per word of
the window (depthwise convolution, average pool, scale, addition); maximum pool."""


Attributes = tuple[tuple[str, int | float | str | tuple[int, ...] | tuple[float, ...] | tuple[str, ...]], ...]


@dataclass(frozen=True)
class TensorView:
    """Part of a tensor in external memory: pixel (y, x), channel c is word
    ``offset + (y * width + x) * pitch + c`` of ``tensor``. ``words`` of a whole tensor: height * width * pitch."""

    tensor: str
    height: int
    width: int
    channels: int
    pitch: int
    offset: int = 0


@dataclass(frozen=True)
class TraceLayer:
    """One layer on the accelerator.

    ``kernel``, ``stride``, ``dilation``, ``upsample`` are (rows, columns); ``pads`` ((top, bottom), (left, right)),
    the ends with as much as the last window needs. ``upsample`` above 1 spreads the input with zeros (transposed
    convolution: pads, kernel and stride are then those of the ordinary convolution of the spread map, whose height is
    ``(height - 1) * upsample + 1``). ``residual`` is added before the activation: ReLU, ``clip``, which keeps
    results between two words, or ``table``: results go through the operator's ``function``, or are multiplied by it
    (``product``), as the look-up table has it. ``gate``: one pixel with a number for each channel of a lane layer, by
    which it multiplies in place of constant weights. ``mfm``: twice ``output.channels`` are
    computed, and the larger of channel c and c + output.channels is kept. Work ``lane``: kernel (kh, kw) of each
    channel; ``average`` says that it is an average pool, and whether positions in the padding count (``all``) or not
    (``inside``). ``groups`` split input and output channels of a convolution evenly. ``macs`` are those of the ONNX
    operator.
    """

    name: str
    source: str
    op: str
    work: Work
    input: TensorView
    output: TensorView
    residual: TensorView | None = None
    kernel: tuple[int, int] = (1, 1)
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    upsample: tuple[int, int] = (1, 1)
    pads: tuple[tuple[int, int], tuple[int, int]] = ((0, 0), (0, 0))
    groups: int = 1
    relu: bool = False
    mfm: bool = False
    average: Literal["all", "inside"] | None = None
    macs: int = 0
    merged: tuple[tuple[str, str], ...] = ()
    clip: tuple[int, int] | None = None
    table: Literal["function", "product"] | None = None
    gate: TensorView | None = None

    @property
    def linear(self) -> bool:
        """Whether it is a matrix product in the network: a fully connected layer."""
        return self.op in ("Gemm", "MatMul")

    @property
    def activated(self) -> bool:
        """Whether something is done to its results that is no sum."""
        return self.relu or self.clip is not None or self.table is not None

    @property
    def read(self) -> tuple[TensorView, ...]:
        """Everything of the network's tensors that it reads, its input first."""
        return (self.input, *(view for view in (self.residual, self.gate) if view is not None))

    @property
    def rows(self) -> int:
        """Output rows."""
        return self.output.height

    @property
    def columns(self) -> int:
        """Output columns."""
        return self.output.width

    @property
    def filters(self) -> int:
        """Output channels that are computed, before MFM."""
        return self.output.channels * (2 if self.mfm else 1)

    @property
    def group_inputs(self) -> int:
        """Input channels that one output sums over."""
        return self.input.channels // self.groups if self.work == "convolution" else 1

    @property
    def group_outputs(self) -> int:
        """Output channels (after MFM) of one group; all of them in work that goes channel by channel."""
        return self.output.channels // self.groups if self.work == "convolution" else self.output.channels

    @property
    def spread(self) -> tuple[int, int]:
        """Height and width of the input with ``upsample``'s zeros."""
        (up, across) = self.upsample
        return (self.input.height - 1) * up + 1, (self.input.width - 1) * across + 1


@dataclass(frozen=True)
class HostLayer:
    """An operator that the accelerator lacks, run by the host on ``elements`` words that it reads and writes.
    ``attributes``: what the host has to know of the operator (``host_operator``)."""

    name: str
    source: str
    op: str
    inputs: tuple[TensorView, ...]
    output: TensorView
    elements: int
    reason: str
    macs: int = 0
    attributes: Attributes = ()


@dataclass(frozen=True)
class TraceNetwork:
    """Layers in the order in which they run. ``tensors``: words of every tensor in external memory (weights apart).
    ``inputs`` and ``outputs``: ONNX tensor name and where it lies; ``shapes``: those that ONNX has for them.
    ``frames``: how many a run has, the rows of a batch of which each is one (maps come one at a time)."""

    name: str
    layers: tuple[TraceLayer | HostLayer, ...]
    tensors: tuple[tuple[str, int], ...]
    inputs: tuple[tuple[str, TensorView], ...]
    outputs: tuple[tuple[str, TensorView], ...]
    shapes: tuple[tuple[str, Shape], ...] = ()
    frames: int = 1

    @property
    def traced(self) -> tuple[TraceLayer, ...]:
        """The layers that run on the accelerator."""
        return tuple(layer for layer in self.layers if isinstance(layer, TraceLayer))

    @property
    def hosted(self) -> tuple[HostLayer, ...]:
        """The layers that the host runs."""
        return tuple(layer for layer in self.layers if isinstance(layer, HostLayer))
