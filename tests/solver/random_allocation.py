"""Small random networks and problems of PE allocation, as hypothesis draws them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from mapper.arch.tcpa import TcpaMachine, tcpa_from_document, tcpa_preset
from mapper.formulations.pe_allocation.problem import OBJECTIVES, AllocationProblem, Pin
from mapper.models.pe_allocation.cost import Model
from mapper.models.pe_allocation.stream_layer import StreamNetwork
from tests.sim.allocation_example import Net

JOINING = ("Add", "Mul", "Max", "Min", "Sub", "Mean")
PINS = (Pin(pes=1), Pin(pes=2), Pin(delta=1), Pin(throttle=0), Pin(throttle=3))


def row(pes: int, convolution: int = 2, other: int = 1, rows: int = 1) -> TcpaMachine:
    """A row of PEs, or several, with their functional units."""
    document = tcpa_preset("tcpa-1x1")
    assert document is not None
    units = {"convolution": convolution, "pool": other, "elementwise": other}
    return tcpa_from_document({**document, "rows": rows, "columns": pes, "functional_units": units}, "row")


@st.composite
def networks(draw: st.DrawFn, most: int) -> StreamNetwork:
    """Chains and branched networks of up to ``most`` layers; those that join read images of one size."""
    side = st.integers(2, 4)
    net = Net((draw(side), draw(side)), draw(st.integers(1, 2)))
    for position in range(draw(st.integers(1, most))):
        feeds: tuple[int, ...] = ()
        if position:
            first = draw(st.integers(0, position - 1))
            alike = [
                at for at in range(position) if net.layers[at].output_size == net.layers[first].output_size
            ]
            feeds = tuple(sorted({first, draw(st.sampled_from(alike))}))
        _add_layer(draw, net, feeds)
    return net.network()


def _add_layer(draw: st.DrawFn, net: Net, feeds: tuple[int, ...]) -> None:
    """A convolution (of groups, too), a pool, or, where all that is read has as many maps, one word by word."""
    size = net.layers[feeds[0]].output_size if feeds else net.size
    maps = [net.layers[feed].maps for feed in feeds] or [net.maps]
    operation = draw(st.sampled_from(("convolution", "convolution", "pool", "elementwise")))
    if operation == "elementwise" and len(set(maps)) == 1:
        net.elementwise(draw(st.sampled_from(JOINING if len(feeds) > 1 else ("Relu", "Identity"))), *feeds)
        return
    pads = draw(st.integers(0, 1)), draw(st.integers(0, 1))
    kernel = tuple(draw(st.integers(1, min(2, side))) for side in size)
    strides = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    window: dict[str, Any] = {"pads": tuple(map(min, pads, (k - 1 for k in kernel))), "strides": strides}
    if operation == "pool":
        net.pool(
            (kernel[0], kernel[1]), *feeds, op=draw(st.sampled_from(("MaxPool", "AveragePool"))), **window
        )
        return
    groups = draw(st.sampled_from([1, 1, 2])) if sum(maps) % 2 == 0 else 1
    filters = draw(st.integers(1, 4)) if groups == 1 else 2 * draw(st.integers(1, 2))
    net.convolution(filters, (kernel[0], kernel[1]), *feeds, groups=groups, **window)


@st.composite
def problems(
    draw: st.DrawFn,
    model: Model,
    most: int,
    sharing: bool = False,
    free_delta: bool = False,
    pins: bool = False,
) -> AllocationProblem:
    """A problem of any objective on a few PEs, with or without a pace to keep."""
    network = draw(networks(most))
    pinned = {}
    if pins:
        pinned[draw(st.sampled_from(network.names))] = draw(st.sampled_from(PINS))
    return AllocationProblem(
        network,
        row(draw(st.integers(1, 7)), draw(st.integers(1, 3)), draw(st.integers(1, 2))),
        draw(st.sampled_from(OBJECTIVES)),
        model,
        longest_interval=draw(st.one_of(st.none(), st.integers(4, 120))),
        sharing=sharing,
        free_delta=free_delta,
        pins=pinned,
    )


@st.composite
def problems_of_every_mode(draw: st.DrawFn) -> AllocationProblem:
    """Problems of each mode and model on rows and grids, so small that every allocation can be tried."""
    way = draw(st.sampled_from(("parallel", "sharing", "units", "streaming", "mixed", "sequential")))
    if way == "streaming":
        posed = draw(problems("streaming", 2, draw(st.booleans()), draw(st.booleans())))
    else:
        most = {"parallel": 4, "sharing": 4, "units": 3, "mixed": 4, "sequential": 3}[way]
        pins = draw(st.booleans())
        posed = draw(problems("calculus", most, way == "sharing", way in ("units", "sequential"), pins))
    units = posed.machine.functional_units
    rows, columns = draw(st.sampled_from(((1, posed.machine.pe_count), (2, 2), (2, 3), (3, 2))))
    posed = replace(posed, machine=row(columns, units.convolution, units.pool, rows))
    if draw(st.integers(0, 3)) == 0:
        posed = replace(posed, max_bytes=draw(st.integers(1, 150)))
        if way == "streaming":
            # A pace bounds the idle cycles, of which more may need fewer words in buffers.
            longest = draw(st.integers(4, 24))
            posed = replace(posed, longest_interval=longest, sharing=False, free_delta=False)
    if way == "mixed":
        return replace(posed, mode="mixed")
    if way == "sequential":
        return replace(posed, mode="layer-by-layer", model=draw(st.sampled_from(("calculus", "lanes"))))
    return posed
