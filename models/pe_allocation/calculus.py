"""The paper's calculus of cycles: one position of a layer, matched rates, start times
[Heidorn2019, secs. 5.1 and 5.2]."""

from __future__ import annotations

from dataclasses import dataclass

from mapper.models.pe_allocation.stream.layer import StreamLayer, StreamNetwork


@dataclass(frozen=True)
class LayerTiming:
    """One layer's cycles: ``z_in`` until its predecessors have made the pixels of its next window (0 if it reads
    the frame), ``z_out`` for one position with its idle cycles, ``start`` t_i, ``latency`` L_i of a frame, ``drain``
    from a position's time until its pixels are there (``stream.pipeline``)."""

    z_in: int
    z_out: int
    start: int
    latency: int
    drain: int = 0

    @property
    def end(self) -> int:
        """When the last pixel of the frame is there."""
        return self.start + self.latency + self.drain


def position_cycles(layer: StreamLayer, pes: int, delta: int) -> int:
    """z^out = ceil(M/P) * ceil(N/delta) * K^2: cycles for one position of all output maps (Eq. 6)."""
    return -(-layer.filters // pes) * -(-layer.depth // delta) * layer.window


def lane_cycles(layer: StreamLayer, pes: int, delta: int) -> int:
    """Eq. 6, or units as lanes over output maps if that is faster.

    The paper does not state this rule. It is this project's reading of "layer-by-layer (2)" in Table 1, which it
    reproduces: all units of all PEs may take different output maps, one product each a cycle.
    """
    lanes = pes * delta
    outputs, depth = (layer.maps, 1) if layer.operation == "pool" else (layer.filters, layer.depth)
    return min(position_cycles(layer, pes, delta), -(-outputs // lanes) * depth * layer.window)


def useful_pes(layer: StreamLayer, most: int) -> tuple[int, ...]:
    """The PE counts up to ``most`` of which none less has the same ceil(M/P), ascending."""
    found = []
    pes = 1
    while pes <= min(most, layer.filters):
        found.append(pes)
        share = -(-layer.filters // pes)
        if share == 1:
            break
        pes = -(-layer.filters // (share - 1))
    return tuple(found)


def feed_cycles(network: StreamNetwork, position: int, z_out: tuple[int, ...]) -> int:
    """z^in = F * z^out of the slowest layer that is read (Eq. 8); 0 where only the frame is."""
    layer = network.layers[position]
    return layer.new_pixels * max((z_out[feed] for feed in layer.feeds), default=0)


def timings(network: StreamNetwork, z_out: tuple[int, ...]) -> tuple[LayerTiming, ...]:
    """Start times and latencies of layers that take ``z_out`` cycles for a position (Eqs. 8, 10 and 11).

    Where layers join, the one that starts last counts, as in a chain.
    """
    found: list[LayerTiming] = []
    for position, layer in enumerate(network.layers):
        start = max(
            (found[feed].start + layer.new_pixels * z_out[feed] for feed in layer.feeds),
            default=0,
        )
        z_in = feed_cycles(network, position, z_out)
        found.append(LayerTiming(z_in, z_out[position], start, z_out[position] * layer.positions))
    return tuple(found)


def frame_latency(network: StreamNetwork, timed: tuple[LayerTiming, ...]) -> int:
    """L = t + L_i of the last layer (Eq. 12); of several, of the one that ends last."""
    return max(timed[sink].start + timed[sink].latency for sink in network.sinks)


def frame_interval(timed: tuple[LayerTiming, ...]) -> int:
    """Cycles between frames: the largest L_i, so that T = f / interval (Eq. 13)."""
    return max(layer.latency for layer in timed)


def unthrottled(network: StreamNetwork, pes: tuple[int, ...], delta: tuple[int, ...]) -> tuple[int, ...]:
    """z^out of every layer before rates are matched (Eq. 6)."""
    return tuple(
        position_cycles(layer, count, units)
        for layer, count, units in zip(network.layers, pes, delta, strict=True)
    )


def matched(network: StreamNetwork, z_out: tuple[int, ...]) -> tuple[int, ...]:
    """The least z^out that are not below ``z_out`` and starve no layer: z^in <= z^out (Eq. 9, Fig. 7)."""
    found: list[int] = []
    for layer, cycles in zip(network.layers, z_out, strict=True):
        found.append(max(cycles, layer.new_pixels * max((found[feed] for feed in layer.feeds), default=0)))
    return tuple(found)
