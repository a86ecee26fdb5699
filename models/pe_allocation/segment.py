"""Mixed mode: runs of fused layers one after another, with buffers or the memory off the chip in between.

Beyond the paper, which has all layers fused or none [Heidorn2019, sec. 5.3]. Each run starts when the one before has
ended and may use the whole array. Maps that later runs read stay in the buffers until the last of them has ended, or
leave the chip and come back to each run that reads them. The frame and the network's results lie off the chip. With
more than one run the weights of each come again in every frame.
"""

from __future__ import annotations

from mapper.models.pe_allocation.calculus import LayerTiming
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.storage import input_words, output_words
from mapper.models.pe_allocation.stream.layer import StreamNetwork


def segment_timings(
    network: StreamNetwork, members: range, z_out: tuple[int, ...]
) -> tuple[LayerTiming, ...]:
    """Timings within one run, from its start on (Eqs. 8, 10 and 11); earlier runs' maps are there without waiting."""
    found: dict[int, LayerTiming] = {}
    for position in members:
        layer = network.layers[position]
        feeds = [feed for feed in layer.feeds if feed in found]
        z_in = layer.new_pixels * max((z_out[feed] for feed in feeds), default=0)
        start = max((found[feed].start + layer.new_pixels * z_out[feed] for feed in feeds), default=0)
        found[position] = LayerTiming(z_in, z_out[position], start, z_out[position] * layer.positions)
    return tuple(found.values())


def leaving(network: StreamNetwork, members: range) -> tuple[int, ...]:
    """The layers of a run whose maps a later run reads."""
    return tuple(at for at in members if any(reader not in members for reader in network.readers[at]))


def held_words(network: StreamNetwork, allocation: Allocation, number: int) -> int:
    """Words of whole maps in the buffers while run ``number`` works."""
    parts = allocation.parts()
    return sum(
        output_words(network.layers[at])
        for maker, stays in enumerate(allocation.on_chip[: number + 1])
        if stays
        for at in leaving(network, parts[maker])
        if max(network.readers[at]) >= parts[number].start
    )


def off_chip_words(network: StreamNetwork, allocation: Allocation, number: int) -> int:
    """Words of maps that cross the chip's border while run ``number`` works: the frame if it is read, maps from off
    the chip, maps that go there, and results."""
    parts = allocation.parts()
    members = parts[number]
    layers = network.layers
    frame = max((input_words(network, layers[at]) for at in members if not layers[at].feeds), default=0)
    results = sum(output_words(layers[at]) for at in members if not network.readers[at])
    written = 0
    if number < len(allocation.on_chip) and not allocation.on_chip[number]:
        written = sum(output_words(layers[at]) for at in leaving(network, members))
    read = sum(
        output_words(layers[at])
        for maker, stays in enumerate(allocation.on_chip[:number])
        if not stays
        for at in leaving(network, parts[maker])
        if any(reader in members for reader in network.readers[at])
    )
    return frame + results + written + read
