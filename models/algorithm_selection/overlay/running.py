"""What the generated overlay runs without stopping: max pools, concatenations by address, kernels loaded ahead."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mapper.models.algorithm_selection.number.average import counts, mean_shift
from mapper.models.algorithm_selection.overlay.lying import (
    first_channel,
    is_joined,
    joined,
    lying,
    reads_whole,
)
from mapper.models.algorithm_selection.overlay.separate import UNITS
from mapper.models.algorithm_selection.timing import FETCHED, HAND_OVER
from mapper.workloads.network.network_layer import LayerNetwork, NetworkLayer
from mapper.workloads.network.quantisation import CHAIN, CONSTANT, INTEGER, REQUANTISE
from mapper.workloads.network.work import ACTIVATIONS

CHUNKS, CHUNKED = 4, 1024
"""Into how many parts averages and additions are cut, from how many loaded pixels on."""


@dataclass(frozen=True)
class Pool:
    """A max pool that runs after array layer ``after`` (by position, the first if there is none): ``pixels`` of padded
    maps, of all images, in so many ``streams`` that wait for DRAM, and ``more`` cycles of handing over. Averages,
    additions and activations run alike: their pixels are those that are loaded, and those that leave when the last is
    in. ``last``: pixels of the last stream, beside which the next layer may begin; ``left``: those of ``pixels`` that
    leave and are not read."""

    name: str
    after: int
    pixels: int
    channels: int
    streams: int = 1
    more: int = 1
    last: int = 0
    left: int = 0


@dataclass(frozen=True)
class Running:
    """Positions of array layers. ``ahead``: their kernels are loaded while the layer before runs, as nothing stops the
    overlay between the two. ``given``: they read the network's input, which nobody else reads. ``flattened``: they read
    maps of so many positions channel by channel. ``overlapping``: they begin while the layer right before them stores,
    as they do not read its results. ``between``: pools (by position) that run between a layer and the one before;
    ``beside``: layers that begin while the last of these still runs, whose results they do not read. ``direct``: they
    read the map that the layer right before them makes, which nobody else reads, so that it may stay on the chip.
    ``resumed``: the first layers after a stop that follow an average or an addition, that one, and whether they read
    what it makes."""

    pools: tuple[Pool, ...] = ()
    ahead: frozenset[int] = frozenset()
    given: frozenset[int] = frozenset()
    flattened: tuple[tuple[int, int], ...] = ()
    overlapping: frozenset[int] = frozenset()
    between: tuple[tuple[int, int], ...] = ()
    beside: frozenset[int] = frozenset()
    direct: frozenset[int] = frozenset()
    resumed: tuple[tuple[int, int, bool], ...] = ()


def running(
    network: LayerNetwork, position: Mapping[str, int], on_the_way: frozenset[str] = frozenset()
) -> Running:
    """``position``: of the layers of the array, by name; ``on_the_way``: pools that take results on their way, so that
    they take no time of their own."""
    found: list[Pool] = []
    ahead: set[int] = set()
    overlapping: set[int] = set()
    between: list[tuple[int, int]] = []
    aliased, lies = joined(network), lying(network)
    resumed: list[tuple[int, int, bool]] = []
    last, first, follows, since = 0, 0, False, 0
    stored: set[str] = set()
    for layer in network.layers:
        at = position.get(layer.name)
        if at is not None:
            # There is no path for maps that lie in DRAM in another shape: the layer runs beside the overlay.
            apart = layer.work == "convolution" and first_channel(layer.inputs[0], lies) is None
            if follows and not apart:
                ahead.add(at)
                between += [(at, pool) for pool in range(first, len(found))]
                if layer.inputs[0].memory not in stored:
                    overlapping.add(at)
            elif not apart and len(found) > since and found[-1].left:
                resumed.append((at, len(found) - 1, layer.inputs[0].memory in stored))
            last, first, follows = at, len(found), not apart
            stored = _inside(layer.output, aliased)
            continue
        if not is_joined(layer, aliased):
            stored = _inside(layer.outputs[0][0], aliased)
        if layer.name in on_the_way:
            continue
        here = reads_whole(layer, lies)
        if here and pools(layer):
            found.append(_pool(layer, last))
        elif here and (averages(layer) or adds(layer) or activates(layer)):
            found.append(_summed(layer, last))
        elif not is_joined(layer, aliased):
            follows, since = False, len(found)
    inputs = network.operators.inputs
    readers = [one.memory for layer in network.layers for one in layer.inputs]
    given, flattened = set(), []
    for layer in network.layers:
        if layer.name not in position:
            continue
        memory, part = layer.inputs[0].memory, layer.inputs[0].shape != lies[layer.inputs[0].memory]
        if memory in inputs and readers.count(memory) == 1 and not (part and layer.work == "convolution"):
            given.add(position[layer.name])
        size = math.prod(network.operators.tensors[memory][2:])
        if layer.work == "fully_connected" and size > 1:
            flattened.append((position[layer.name], size))
    begin = frozenset(overlapping) - {at for at, _ in flattened}
    after = {at for at, _ in between}
    direct = _direct(network, position) & ahead - {at for at, _ in flattened}
    follow = (tuple(flattened), begin - after, tuple(between), begin & after, direct, tuple(resumed))
    return Running(tuple(found), frozenset(ahead), frozenset(given), *follow)


def _direct(network: LayerNetwork, position: Mapping[str, int]) -> frozenset[int]:
    """Layers of the array that read nothing but what the one right before makes, as it is, where nobody else does."""
    aliased, outputs = joined(network), {one.memory for one in network.outputs}
    readers = [one.memory for layer in network.layers for one in layer.inputs]
    found = set()
    for before, layer in itertools.pairwise(network.layers):
        if before.name not in position or layer.name not in position:
            continue
        one = layer.inputs[0]
        whole = one.shape == network.operators.tensors[one.memory] and not one.offset
        alone = readers.count(one.memory) == 1 and one.memory not in outputs and one.memory not in aliased
        if one.memory == before.output and whole and alone:
            found.add(position[layer.name])
    return frozenset(found)


def _inside(tensor: str, aliased: Mapping[str, tuple[str, int]]) -> set[str]:
    """A tensor, and the concatenations that it lies in."""
    found = {tensor}
    while tensor in aliased:
        tensor = aliased[tensor][0]
        found.add(tensor)
    return found


def pools(layer: NetworkLayer) -> bool:
    """Whether the pooling units can do a layer: a max pool over two axes, one stride, no dilation."""
    if layer.work != "max_pool" or len(layer.window.kernel) != 2:
        return False
    return len(set(layer.window.strides)) == 1 and set(layer.window.dilations) == {1}


def averages(layer: NetworkLayer) -> bool:
    """Whether the sums can make an average pool: of two axes, with a mean that is exact."""
    two = layer.work == "average_pool" and len(layer.window.kernel) == 2
    return two and mean_shift(layer) is not None


def adds(layer: NetworkLayer) -> bool:
    """Whether the sums can make an addition: of maps of one shape."""
    if layer.work != "elementwise" or layer.op not in ("Add", "Sum") or layer.operator.weights:
        return False
    return len(layer.output_shape) in (2, 4) and all(one.shape == layer.output_shape for one in layer.inputs)


def activates(layer: NetworkLayer) -> bool:
    """Whether the requantisers can do a layer by itself: an activation, or integers of another scale."""
    own = layer.work == "activation" and layer.op in UNITS
    limits = layer.op in (REQUANTISE, f"{INTEGER}Relu", f"{INTEGER}Clip")
    return (own or limits) and len(layer.output_shape) == 4


def requantises(layer: NetworkLayer) -> bool:
    """Whether a layer makes integers of one format of those of another, one by one."""
    return layer.op == REQUANTISE or (
        layer.op.removeprefix(INTEGER) in ACTIVATIONS and layer.op.startswith(INTEGER)
    )


def meets_constant(layer: NetworkLayer) -> bool:
    """Whether a layer makes integers of others and of a constant, or through several operators at once."""
    return layer.op.startswith(INTEGER) and layer.op.removeprefix(INTEGER) in {*CONSTANT, CHAIN}


def constant_axes(layer: NetworkLayer) -> tuple[int, ...]:
    """The axes of what a layer's integers meet, as many as its maps have; 1 where it is the same along one."""
    ranks = len(layer.output_shape)
    return np.broadcast_shapes(*((1,) * (ranks - len(shape)) + shape for _, shape in layer.operator.weights))


def chunks(layer: NetworkLayer) -> list[tuple[int, int]]:
    """First row and end of the parts in which an average or an addition is loaded and stored in turn: of a small map,
    which would wait for DRAM more often than it saves, one."""
    rows = layer.output_shape[2] if len(layer.output_shape) == 4 else 1
    large = math.prod(layer.output_shape[2:]) * _taken(layer) >= CHUNKED
    count = min(CHUNKS, rows) if large else 1
    marks = [rows * number // count for number in range(count + 1)]
    return list(itertools.pairwise(marks))


def _taken(layer: NetworkLayer) -> int:
    """Pixels that one of the output is made of."""
    return math.prod(layer.window.kernel) if layer.work == "average_pool" else len(layer.inputs)


def _summed(layer: NetworkLayer, after: int) -> Pool:
    shape = layer.output_shape
    positions = math.prod(shape[2:])
    if activates(layer):
        return Pool(layer.name, after, shape[0] * positions, shape[1], shape[0], last=positions)
    cut = chunks(layer)
    parts = [(end - first) * math.prod(shape[3:]) for first, end in cut]
    each = len(layer.inputs)
    if layer.work == "average_pool":
        each = sum(size > 1 for size in (1 + layer.window.kernel[0], *layer.window.kernel))
    streams = shape[0] * each * sum(_rectangles(layer, part) for part in cut)
    pixels = shape[0] * positions * _taken(layer) + parts[-1]
    # What is loaded after a part has begun to leave is fetched while nothing else is loaded.
    more = HAND_OVER + 1 + FETCHED * (shape[0] * len(cut) - 1)
    return Pool(layer.name, after, pixels, shape[1], streams, more, parts[-1], parts[-1])


def _rectangles(layer: NetworkLayer, rows: tuple[int, int]) -> int:
    """Into how many rectangles some rows of the output are cut whose windows count alike many pixels."""
    if layer.work != "average_pool":
        return 1
    down, across = counts(layer)
    sides = (down[rows[0] : rows[1]], across)
    return math.prod(1 + sum(one != other for one, other in itertools.pairwise(side)) for side in sides)


def _pool(layer: NetworkLayer, after: int) -> Pool:
    window = layer.window
    sides = [
        (count - 1) * stride + kernel
        for count, stride, kernel in zip(layer.output_shape[2:], window.strides, window.kernel, strict=True)
    ]
    images, channels = layer.inputs[0].shape[:2]
    pixels = images * math.prod(sides)
    return Pool(layer.name, after, pixels, channels, images, more=images, last=math.prod(sides))
