"""From an allocation to the configuration of the array: programs, streams, buffers, start times
[Heidorn2019, sec. 4]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mapper.arch.tcpa import TcpaMachine
from mapper.models.pe_allocation import calculus, segment, storage
from mapper.models.pe_allocation.configuration.address import Affine
from mapper.models.pe_allocation.configuration.interconnect import border_ends, streams
from mapper.models.pe_allocation.configuration.layer_program import bare_program
from mapper.models.pe_allocation.configuration.program import Configuration, Pe, Scheme, Source
from mapper.models.pe_allocation.cost import Model, evaluate
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.stream import timing as streaming
from mapper.models.pe_allocation.stream.layer import StreamLayer, StreamNetwork
from mapper.workloads.document import InputError


def configure(
    network: StreamNetwork, machine: TcpaMachine, allocation: Allocation, model: Model
) -> Configuration:
    """The configuration that runs ``allocation``; its start times are the model's.

    Line buffers are as large as the layers need in raster order at their paces (``streaming``): those of the calculus
    [Heidorn2019, Eqs. 16 and 17] hold intermediate products, not pixels, and stand beside them.

    Raises: InputError if a layer reads maps that its own input is no multiple of, or stands on PEs that there are not.
    """
    cost = evaluate(network, machine, allocation, model)
    alone = allocation.mode == "layer-by-layer"
    runs = tuple(range(at, at + 1) for at in range(len(network.layers))) if alone else allocation.parts()
    run_of = {at: number for number, members in enumerate(runs) for at in members}
    z_out = tuple(timing.z_out for timing in cost.timed)
    regions = _regions(network, machine, allocation)
    connected = streams(network, machine, allocation.placement, runs)
    borders = border_ends(connected)
    apart = model == "streaming" and not alone
    waits = tuple(timing.drain for timing in cost.timed)
    rings = _rings(network, z_out, waits, runs if apart and len(runs) > 1 else (None,))
    layers = []
    for at, layer in enumerate(network.layers):
        _check_sizes(network, layer)
        border = borders.get(("weights", None, layer.name))
        outer = borders.get(("stored" if layer.feeds else "frame", None, layer.name))
        busy = cost.timed[at].z_out - allocation.throttle[at]
        scheme = _scheme(
            layer, allocation.pes[at], allocation.delta[at], busy if alone and model == "lanes" else None
        )
        fields = storage.receptive_fields(network, runs[run_of[at]])
        places = None if regions is None else regions[at]
        layers.append(
            replace(
                bare_program(layer, allocation.pes[at], allocation.delta[at], scheme, places),
                idle=allocation.throttle[at],
                start=cost.timed[at].start,
                run=run_of[at],
                sources=_sources(network, at, run_of, rings[at], border, outer),
                calculus_words=storage.intermediate_words(layer, fields[at]),
                weight_border=border if layer.weight_words else None,
                output=_output(layer) if not network.readers[at] else None,
                output_border=borders.get(("result", layer.name, None)),
                drain=cost.timed[at].drain,
            )
        )
    return Configuration(
        network.name,
        machine.name,
        allocation.mode,
        model,
        cost.interval,
        apart,
        tuple(layers),
        connected,
        allocation.shared,
        _staying(network, allocation, runs),
    )


def _staying(network: StreamNetwork, allocation: Allocation, runs: Sequence[range]) -> tuple[int, ...]:
    """Layers whose results stay on the chip from one run to the next."""
    kept = (members for members, stays in zip(runs, allocation.on_chip, strict=False) if stays)
    return tuple(at for members in kept for at in segment.leaving(network, members))


def _scheme(layer: StreamLayer, pes: int, delta: int, lanes_busy: int | None) -> Scheme:
    """Units take maps where that is the model and takes fewer cycles a position, else products in depth."""
    faster = lanes_busy is not None and lanes_busy < calculus.position_cycles(layer, pes, delta)
    return "lanes" if faster else "depth"


def _rings(
    network: StreamNetwork, z_out: tuple[int, ...], waits: Sequence[int], runs: Sequence[range | None]
) -> list[tuple[int, ...]]:
    """Words of the ring before each feed of every layer, in raster order at these paces; a run of its own where there
    are several (None: all layers at once)."""
    return [
        ring
        for members in runs
        for ring in streaming.feed_peaks(network, streaming.streamed(network, z_out, waits, members), members)
    ]


def _regions(
    network: StreamNetwork, machine: TcpaMachine, allocation: Allocation
) -> tuple[tuple[Pe, ...], ...] | None:
    if allocation.placement is None:
        return None
    regions = allocation.placement.regions
    for name, pes, region in zip(network.names, allocation.pes, regions, strict=True):
        if len(set(region)) != pes or not set(region) <= set(machine.all_pes):
            remedy = f"must be {pes} PEs of {machine.name}; leave the placement out or give them"
            raise InputError(network.name, f"placement.{name}", remedy)
    return regions


def _check_sizes(network: StreamNetwork, layer: StreamLayer) -> None:
    for feed in layer.feeds:
        made, times = network.layers[feed].output_size, layer.stretch(network.layers[feed])
        if made != (1, 1) and layer.size != (made[0] * times[0], made[1] * times[1]):
            fault = f"reads maps of {layer.size[0]}x{layer.size[1]} pixels, {network.layers[feed].name} makes"
            raise InputError(
                network.name, layer.name, f"{fault} {made[0]}x{made[1]}; such a network is not run"
            )


def _sources(
    network: StreamNetwork,
    at: int,
    run_of: dict[int, int],
    rings: tuple[int, ...],
    border: Pe | None,
    outer: Pe | None,
) -> tuple[Source, ...]:
    layer = network.layers[at]
    if not layer.feeds:
        high, wide = (side // times for side, times in zip(layer.size, layer.spread, strict=True))
        frame = layer.channels * high * wide
        read = _read(layer, layer.channels, (high, wide), None, frame)
        return (Source(None, layer.channels, None, False, None, read, outer, layer.spread),)
    found = []
    for feed, words in zip(layer.feeds, rings, strict=True):
        maker = network.layers[feed]
        frame = maker.maps * maker.positions
        whole = run_of[feed] != run_of[at]
        room = frame if whole else words
        (high, wide), maps = maker.output_size, maker.maps
        write = Affine(("r", "c", "map"), (high, wide, maps), (wide * maps, maps, 1), 0, room, frame)
        read = _read(layer, maps, maker.output_size, room, frame)
        once = _goes_with_all(layer, maker.output_size)
        stretch = (1, 1) if once else layer.stretch(maker)
        found.append(Source(feed, maps, room, whole, write, read, outer if whole else border, stretch))
    return tuple(found)


def _read(layer: StreamLayer, maps: int, size: tuple[int, int], ring: int | None, frame: int) -> Affine:
    """Window by window; addresses of pixels above or left of the image are never used. They are those of the map that
    windows slide over, which is larger than what is read where pixels count several times (``Source.stretch``)."""
    counts = (*layer.output_size, *layer.kernel, maps)
    loops = ("r", "c", "k1", "k2", "map")
    if _goes_with_all(layer, size):
        return Affine(loops, counts, (0, 0, 0, 0, 1), 0, ring, frame)
    (down, across), (dilate_down, dilate_across) = layer.strides, layer.dilations
    row, pixel = layer.size[1] * maps, maps
    strides = (down * row, across * pixel, dilate_down * row, dilate_across * pixel, 1)
    return Affine(loops, counts, strides, -layer.pads[0] * row - layer.pads[1] * pixel, ring, frame)


def _goes_with_all(layer: StreamLayer, size: tuple[int, int]) -> bool:
    """Whether a map is one pixel that every position reads."""
    return size == (1, 1) and layer.spread == (1, 1)


def _output(layer: StreamLayer) -> Affine:
    high, wide = layer.output_size
    return Affine(
        ("r", "c", "map"),
        (high, wide, layer.maps),
        (wide * layer.maps, layer.maps, 1),
        0,
        None,
        layer.maps * layer.positions,
    )
