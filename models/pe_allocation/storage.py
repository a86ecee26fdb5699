"""Words in buffers and words that cross the chip's border [Heidorn2019, sec. 5.3]."""

from __future__ import annotations

from collections.abc import Sequence

from mapper.models.pe_allocation.stream.layer import StreamLayer, StreamNetwork


def receptive_fields(network: StreamNetwork, members: Sequence[int]) -> dict[int, tuple[int, int]]:
    """D of each layer of a run of fused layers, by rows and columns: D_i = D_{i+1} * S_i + K_i - S_i, the last
    layer's D_{i+1} being 1 (Eq. 2); where several layers read one, the largest counts."""
    fields: dict[int, tuple[int, int]] = {}
    for position in reversed(members):
        layer = network.layers[position]
        read_by = [fields[reader] for reader in network.readers[position] if reader in fields]
        ahead = tuple(max((field[axis] for field in read_by), default=1) for axis in (0, 1))
        spans = [(ahead[axis] - 1) * layer.strides[axis] + layer.reach[axis] for axis in (0, 1)]
        fields[position] = (spans[0], spans[1])
    return fields


def intermediate_words(layer: StreamLayer, field: tuple[int, int]) -> int:
    """B^inter of a fused layer: (D - S) * C * N of a convolution (Eq. 16), one word a map of the others (Eq. 17)."""
    if layer.operation != "convolution":
        return layer.maps
    return (field[0] - layer.strides[0]) * layer.size[1] * layer.channels


def fused_words(network: StreamNetwork, members: Sequence[int]) -> tuple[int, int]:
    """Weights and intermediate words of layers that run in parallel (Eq. 15)."""
    fields = receptive_fields(network, members)
    weights = sum(network.layers[position].weight_words for position in members)
    return weights, sum(intermediate_words(network.layers[at], fields[at]) for at in members)


def input_words(network: StreamNetwork, layer: StreamLayer) -> int:
    """N * R * C: the maps a layer reads, all of its inputs, as large as they were made."""
    if not layer.feeds:
        return layer.channels * layer.pixels
    return sum(output_words(network.layers[feed]) for feed in layer.feeds)


def output_words(layer: StreamLayer) -> int:
    """M * R * C of the maps that a layer makes."""
    return layer.maps * layer.positions


def sequential_words(network: StreamNetwork, layer: StreamLayer) -> int:
    """Weights, input and output of one layer that runs alone (Eq. 14)."""
    return layer.weight_words + input_words(network, layer) + output_words(layer)


def entering_words(network: StreamNetwork, members: Sequence[int]) -> int:
    """Words of maps that layers of a run read and no layer of it makes: the frame, and earlier layers' maps, each
    once."""
    inside = set(members)
    outside: dict[int, int] = {}
    frame = 0
    for position in members:
        layer = network.layers[position]
        if not layer.feeds:
            frame = max(frame, input_words(network, layer))
        for feed in layer.feeds:
            if feed not in inside:
                outside[feed] = output_words(network.layers[feed])
    return frame + sum(outside.values())


def leaving_words(network: StreamNetwork, members: Sequence[int]) -> int:
    """Words of maps that layers of a run make for other layers, or for none on the array."""
    inside = set(members)
    return sum(
        output_words(network.layers[position])
        for position in members
        if not network.readers[position] or any(reader not in inside for reader in network.readers[position])
    )
