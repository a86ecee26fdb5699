"""Every way to fuse the layers of a network: what crosses the chip's border per frame, and what the buffers hold.

Layer fusion saves transfers [Heidorn2019, sec. 3.2, after Alwani et al.]; the paper compares all layers fused with
none. In between a cut at each boundary between layers is a choice of its own (`segment`). PEs and idle cycles play
no part.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from mapper.arch.tcpa import TcpaMachine
from mapper.models.pe_allocation.cost import evaluate
from mapper.models.pe_allocation.mapping import Allocation, Mode
from mapper.models.pe_allocation.stream.layer import StreamNetwork


@dataclass(frozen=True)
class Fusion:
    """A way to fuse layers: where runs start (positions of layers), and whether maps between them stay on the chip;
    words that cross its border per frame, multiply-accumulates for each such byte, and bytes of buffers."""

    mode: Mode
    segments: tuple[int, ...]
    on_chip: bool
    off_chip_words: int
    macs_per_byte: float
    buffer_bytes: int


def fusions(network: StreamNetwork, machine: TcpaMachine) -> Iterator[Fusion]:
    """All 2^(V-1) ways to cut V layers into runs, fewest runs first, with maps off the chip and (of two runs or more)
    with all of them on it; at the end layer by layer as the paper counts it (Eq. 14), whole maps in the buffers."""
    inner = range(1, len(network.layers))
    for cuts in range(len(inner) + 1):
        for chosen in combinations(inner, cuts):
            for on_chip in (False, True) if cuts else (False,):
                yield _fusion(network, machine, "mixed", (0, *chosen), on_chip)
    yield _fusion(network, machine, "layer-by-layer", (0,), False)


def _fusion(
    network: StreamNetwork, machine: TcpaMachine, mode: Mode, segments: tuple[int, ...], on_chip: bool
) -> Fusion:
    ones = (1,) * len(network.layers)
    stays = (on_chip,) * (len(segments) - 1)
    allocation = Allocation(mode, ones, (0,) * len(ones), ones, segments=segments, on_chip=stays)
    cost = evaluate(network, machine, allocation, "calculus")
    return Fusion(
        mode,
        segments,
        on_chip,
        cost.traffic_words,
        cost.macs / cost.traffic_bytes,
        cost.buffer_bytes,
    )
