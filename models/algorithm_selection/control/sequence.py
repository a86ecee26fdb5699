"""The control sequence of a solution: what the controller of the overlay runs, step after step
[Meng2021, Fig. 7, step 6].

A convolution is brought into the Input Buffer in its algorithm's layout (``load``), multiplied there by calls of the
array, and put together (``accumulate``, inverse transform) in the Output Buffer as a 3-D tensor; what it makes is
stored in DRAM as its readers want it. Everything else (pools, LRN, ...) runs beside the array on 3-D tensors.
Addresses and sizes are words of 8 bits; all matrices lie row by row.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from mapper.models.algorithm_selection.choice import (
    INPUT_LAYOUTS,
    Algorithm,
    Choice,
    Dataflow,
    Layout,
    check_choice,
    input_walk,
)
from mapper.models.algorithm_selection.control.walk import TAP, Walk, gathered, rounds, tensor, tiles
from mapper.models.algorithm_selection.gemm_call import GemmCall, calls
from mapper.models.algorithm_selection.overlay.lying import (
    first_channel,
    is_joined,
    joined,
    lying,
    tensor_readers,
)
from mapper.workloads.nest.layer_nest import Convolution
from mapper.workloads.network.network_layer import LayerNetwork, NetworkLayer

CONTROL_SCHEMA = "mapper.dynamap-control/1"


@dataclass(frozen=True)
class Region:
    """Where a tensor lies in DRAM, and as what: the 3-D tensor, planes, or ``layout`` as the convolution ``owner``
    reads it. ``walk`` makes it of the 3-D tensor of one image, which in planes lies channel by channel; images follow
    one another. ``on_chip``: it stays there where the overlay has room. ``pitch``: the channels of the concatenation
    inside which it lies (0: it lies by itself)."""

    tensor: str
    layout: Layout
    owner: str | None
    address: int
    words: int
    walk: Walk
    on_chip: bool = False
    pitch: int = 0

    @property
    def apart(self) -> int:
        """Words from a position of the 3-D tensor, or of a plane, to the next."""
        return 1 if self.layout == "planes" else self.whole_channels

    @property
    def whole_channels(self) -> int:
        """Channels of the concatenation inside which it lies, or its own."""
        return self.pitch or self.walk.channels


@dataclass(frozen=True)
class ConvolutionStep:
    """A convolution on the array. ``shape.batch`` images run one after another, each through all ``calls``.

    ``m``: the output tile of Winograd's F(m, 3), 0 for the others. ``load``: ``copy`` if the tensor already lies as the
    algorithm reads it, else ``transform``: the data-load side LTU restores the 3-D tensor and applies ``walk``. The
    three buffers hold ``walk.rows`` x ``walk.columns``, ``weight_rows`` x ``weight_columns`` and ``output_rows`` x
    ``output_columns`` numbers.

    Weights lie in DRAM as [k1][k2][channel of a group][map]; kernel matrices have rows (k1, k2, channel) and columns
    (map), Winograd's rows (round, x, y, channel). Winograd's result goes through ``restore`` to the 3-D tensor.
    ``shift``: requantisation divides by 2^shift, halves upward, and saturates to 8 bits; ``relu`` follows.
    ``channel``: the first one that is read, of maps that lie as the layer reads them; None if there are none.
    """

    name: str
    algorithm: Algorithm
    dataflow: Dataflow
    m: int
    shape: Convolution
    input: str
    load: Literal["copy", "transform"]
    walk: Walk
    weight_address: int
    weight_rows: int
    weight_columns: int
    output: str
    output_rows: int
    output_columns: int
    calls: tuple[GemmCall, ...]
    restore: Walk | None
    shift: int
    relu: bool
    channel: int | None = 0


@dataclass(frozen=True)
class OtherStep:
    """A layer that does not run on the array: pool, LRN, concatenation and so on, over 3-D tensors."""

    name: str
    work: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True)
class Control:
    """Steps in the order in which they run on an array of P1 x P2 PEs whose buffers have ``banks`` banks, and whose
    columns so many ``wires`` for stationary blocks."""

    network: str
    array: tuple[int, int]
    banks: int
    regions: tuple[Region, ...]
    steps: tuple[ConvolutionStep | OtherStep, ...]
    dram_words: int
    wires: int = 1

    def region(self, tensor: str) -> Region:
        return next(region for region in self.regions if region.tensor == tensor)

    @property
    def convolutions(self) -> tuple[ConvolutionStep, ...]:
        return tuple(step for step in self.steps if isinstance(step, ConvolutionStep))

    def to_json(self) -> dict[str, Any]:
        return {"schema": CONTROL_SCHEMA, **asdict(self)}


def convolution_step(
    name: str,
    shape: Convolution,
    choice: Choice,
    *,
    input: str = "input",
    output: str = "output",
    load: Literal["copy", "transform"] = "copy",
    weight_address: int = 0,
    relu: bool = False,
) -> ConvolutionStep:
    """One convolution under ``choice``.

    Raises: InputError if the algorithm cannot compute it.
    """
    check_choice(name, shape, choice)
    depth, (taps1, taps2) = shape.in_channels // shape.groups, shape.kernel
    winograd = choice.tile > 0
    side = choice.tile + TAP - 1
    positions = math.prod(tiles(shape, choice.tile) if winograd else shape.output_size)
    kernels = math.prod(rounds(shape)) * side * side if winograd else taps1 * taps2
    return ConvolutionStep(
        name,
        choice.algorithm,
        choice.dataflow,
        choice.tile,
        shape,
        input,
        load,
        input_walk(shape, choice),
        weight_address,
        kernels * depth,
        shape.out_channels,
        output,
        positions * (side * side if winograd else 1),
        shape.out_channels,
        calls(shape, choice),
        gathered(shape, choice.tile) if winograd else None,
        requantisation_shift(taps1 * taps2 * depth),
        relu,
    )


def requantisation_shift(products: int) -> int:
    """The power of two that brings sums of ``products`` products of seeded 8-bit integers (spread 127/sqrt(3)) back
    to the spread of one factor."""
    return max(0, round(math.log2(127 / math.sqrt(3) * math.sqrt(products))))


def layer_shape(layer: NetworkLayer) -> Convolution:
    """A layer of the array as a convolution of two axes: a fully connected layer is a 1 x 1 convolution of as many
    positions as it has rows, an average pool one of every channel by itself."""
    if layer.work == "average_pool":  # Section 3.4: a convolution whose kernels are all alike
        images, channels, *sizes = layer.inputs[0].shape
        window = layer.window
        pads = window.covering_pads(tuple(sizes), layer.output_shape[2:])
        return Convolution(
            images,
            channels,
            channels,
            tuple(sizes),
            window.kernel,
            window.strides,
            window.dilations,
            pads,
            channels,
        )
    if layer.work == "fully_connected":
        rows, depth, columns = layer.matrix
        return Convolution(1, columns, depth, (rows, 1), (1, 1), (1, 1), (1, 1), ((0, 0), (0, 0)))
    return layer.convolution


def control(
    network: LayerNetwork,
    array: tuple[int, int],
    choices: Mapping[str, Choice],
    stores: Mapping[str, tuple[str, Algorithm] | None],
    on_chip: frozenset[str] = frozenset(),
    *,
    planes: frozenset[str] = frozenset(),
) -> Control:
    """The control sequence of ``network`` on an array of ``array`` PEs.

    ``choices``: by layer; layers without one run beside the array. ``stores``: by tensor, the convolution and the
    algorithm in whose format it is stored, or None for the 3-D tensor; a tensor left out is stored for its reader if
    that is one convolution and nothing else, else as the 3-D tensor. ``on_chip``: tensors that do not go through DRAM.
    ``planes``: tensors that lie there channel by channel, and with them the parts that lie inside one of them.

    Raises: InputError if an algorithm cannot compute a layer.
    """
    shapes = {name: layer_shape(network.layer(name)) for name in choices}
    address, lies = 0, lying(network)
    regions: dict[str, Region] = {}
    for name, readers in tensor_readers(network).items():
        only = readers[0] if len(set(readers)) == 1 and readers[0] in choices else None
        reader = stores.get(name, (only, choices[only].algorithm) if only else None)
        if name in planes:
            words, walk = math.prod(lies[name]), _plain(lies[name])
            regions[name] = Region(name, "planes", None, address, words, walk, name in on_chip)
        else:
            regions[name] = _region(network, name, lies[name], reader, shapes, address, name in on_chip)
        address += regions[name].words
    _join(network, regions)
    steps: list[ConvolutionStep | OtherStep] = []
    for layer in network.layers:
        inputs = tuple(one.memory for one in layer.inputs)
        outputs = tuple(name for name, _ in layer.outputs)
        if layer.name not in choices:
            steps.append(OtherStep(layer.name, layer.work, inputs, outputs))
            continue
        one, shape, choice = layer.inputs[0], shapes[layer.name], choices[layer.name]
        whole = one.shape == lies[one.memory] and not one.offset
        step = convolution_step(
            layer.name,
            shape,
            choice,
            input=one.memory,
            output=outputs[0],
            load="copy" if whole and regions[one.memory].walk == input_walk(shape, choice) else "transform",
            weight_address=address,
            relu=any(operator.op in ("Relu", "Clip") for operator in layer.merged),
        )
        steps.append(replace(step, channel=first_channel(one, lies)))
        address += math.prod(shape.kernel) * shape.in_channels // shape.groups * shape.out_channels
    return Control(network.name, array, max(array), tuple(regions.values()), tuple(steps), address)


def _region(
    network: LayerNetwork,
    name: str,
    size: tuple[int, ...],
    reader: tuple[str, Algorithm] | None,
    shapes: Mapping[str, Convolution],
    address: int,
    on_chip: bool,
) -> Region:
    """Where a tensor of a ``size`` lies, stored for a reader. What an algorithm reads as the plain tensor is stored as
    that."""
    if reader is not None:
        owner, algorithm = reader
        shape, wanted = shapes[owner], network.layer(owner).inputs[0]
        walk = input_walk(shape, Choice(algorithm, "NS"))
        if algorithm != "kn2row" and walk != tensor(shape) and wanted.shape == size and not wanted.offset:
            words = walk.rows * walk.columns * shape.batch
            return Region(name, INPUT_LAYOUTS[algorithm], owner, address, words, walk, on_chip)
    return Region(name, "tensor3d", None, address, math.prod(size), _plain(size), on_chip)


def _join(network: LayerNetwork, regions: dict[str, Region]) -> None:
    """Puts the parts of concatenations side by side where all of them and the whole are 3-D tensors, or one plane after
    the other where the whole lies in planes; outer ones first, as parts of a part lie in the outermost."""
    aliased = joined(network)
    for layer in reversed(network.layers):
        if not is_joined(layer, aliased):
            continue
        names = [one.memory for one in layer.inputs]
        whole = regions[layer.output]
        lies = ("tensor3d", "planes") if whole.layout == "planes" else ("tensor3d",)
        parts = [regions[one] for one in names]
        if any(one.on_chip for one in (whole, *parts)) or any(one.layout not in lies for one in parts):
            continue
        if whole.layout not in lies:
            continue
        channel = whole.walk.height * whole.walk.width if whole.layout == "planes" else 1
        for part in parts:
            address = whole.address + aliased[part.tensor][1] * channel
            regions[part.tensor] = replace(
                part, layout=whole.layout, address=address, pitch=whole.whole_channels
            )


def _plain(size: tuple[int, ...]) -> Walk:
    """One image of a tensor (images, channels, rows, columns) as the 3-D tensor, other ranks as 1 x 1 maps."""
    if len(size) == 4:
        _, channels, height, width = size
    else:
        channels, height, width = math.prod(size[1:]), 1, 1
    return tensor(
        Convolution(1, channels, channels, (height, width), (1, 1), (1, 1), (1, 1), ((0, 0), (0, 0)))
    )
