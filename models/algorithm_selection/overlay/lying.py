"""Where tensors lie in DRAM on the generated overlay: concatenations by address, channels read where they are."""

from __future__ import annotations

import math
from collections.abc import Mapping

from mapper.workloads.network.network_layer import LayerInput, LayerNetwork, NetworkLayer


def joined(network: LayerNetwork) -> dict[str, tuple[str, int]]:
    """Tensors that lie inside the concatenation that they are part of: its tensor, and their first channel in it. All
    parts of one do, or none."""
    outside = {*network.operators.inputs, *(one.memory for one in network.outputs)}
    found: dict[str, tuple[str, int]] = {}
    for layer in network.layers:
        shapes = [network.operators.tensors[one.memory] for one in layer.inputs]
        if layer.work != "concatenation" or any(len(shape) != 4 for shape in shapes):
            continue
        names = [one.memory for one in layer.inputs]
        whole = all(
            one.shape == shape and not one.offset for one, shape in zip(layer.inputs, shapes, strict=True)
        )
        if layer.operator.integer("axis") not in (1, -3) or not whole or len(set(names)) < len(names):
            continue
        if any(name in outside or name in found for name in names):
            continue
        first = 0
        for name, shape in zip(names, shapes, strict=True):
            found[name] = (layer.output, first)
            first += shape[1]
    return found


def lying(network: LayerNetwork) -> dict[str, tuple[int, ...]]:
    """The shape in which every tensor lies in DRAM: its own; of what the host moves (as a transpose of five axes, with
    reshapes around) that of the maps as which all its readers take it, or some channels of one image, if they do."""
    read: dict[str, set[tuple[int, ...]]] = {}
    for one in (*(one for layer in network.layers for one in layer.inputs), *network.outputs):
        read.setdefault(one.memory, set()).add(one.shape)
    found = dict(network.operators.tensors)
    for layer in network.layers:
        for name, shape in layer.outputs if layer.work == "movement" else ():
            # Who takes it with more axes is the host, too.
            maps, words = {one for one in read.get(name, ()) if len(one) <= 4}, math.prod(shape)
            if {len(one) for one in maps} != {4} or len({(one[0], *one[2:]) for one in maps}) != 1:
                continue
            number, _, *size = next(iter(maps))
            whole = (number, words // (number * math.prod(size)), *size)
            if math.prod(whole) == words and (number == 1 or maps == {whole}):
                found[name] = whole
    return found


def tensor_readers(network: LayerNetwork) -> dict[str, list[str]]:
    """Who reads each tensor: layers by name, "" for the network's outputs."""
    found: dict[str, list[str]] = {tensor: [] for tensor in network.operators.inputs}
    for layer in network.layers:
        for one in layer.inputs:
            found.setdefault(one.memory, []).append(layer.name)
        for name, _ in layer.outputs:
            found.setdefault(name, [])
    for one in network.outputs:
        found.setdefault(one.memory, []).append("")
    return {tensor: readers or [""] for tensor, readers in found.items()}


def first_channel(one: LayerInput, lies: Mapping[str, tuple[int, ...]]) -> int | None:
    """The first of the channels that a convolution reads, of maps that lie as `lying` says; None if it reads something
    else."""
    stored = lies[one.memory]
    if _is_whole(one, lies):
        return 0
    if len(stored) != 4 or stored[0] != 1 or one.shape[:1] != (1,) or one.shape[2:] != stored[2:]:
        return None
    first, rest = divmod(one.offset, math.prod(stored[2:]))
    return None if rest else first


def reads_whole(layer: NetworkLayer, lies: Mapping[str, tuple[int, ...]]) -> bool:
    """Whether a layer reads nothing but whole maps as they lie, as pools and additions on the overlay do."""
    return all(_is_whole(one, lies) for one in layer.inputs)


def _is_whole(one: LayerInput, lies: Mapping[str, tuple[int, ...]]) -> bool:
    """Rows are maps of one element."""
    taken, stored = ((*shape, 1, 1) if len(shape) == 2 else shape for shape in (one.shape, lies[one.memory]))
    return taken == stored and not one.offset


def is_joined(layer: NetworkLayer, aliased: Mapping[str, tuple[str, int]]) -> bool:
    """Whether a layer is a concatenation whose parts lie side by side."""
    return layer.work == "concatenation" and all(one.memory in aliased for one in layer.inputs)
