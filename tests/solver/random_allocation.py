"""Small random networks and problems of PE allocation, as hypothesis draws them."""

from __future__ import annotations

from hypothesis import strategies as st

from mapper.arch.tcpa import TcpaMachine, tcpa_from_document, tcpa_preset
from mapper.formulations.pe_allocation.problem import OBJECTIVES, AllocationProblem, Pin
from mapper.models.pe_allocation.cost import Model
from mapper.models.pe_allocation.stream_layer import Operation, StreamLayer, StreamNetwork

PINS = (Pin(pes=1), Pin(pes=2), Pin(delta=1), Pin(throttle=0), Pin(throttle=3))


def row(pes: int, convolution: int = 2, other: int = 1) -> TcpaMachine:
    """A row of PEs with their functional units."""
    document = tcpa_preset("tcpa-1x1")
    assert document is not None
    units = {"convolution": convolution, "pool": other, "elementwise": other}
    return tcpa_from_document({**document, "columns": pes, "functional_units": units}, "row")


@st.composite
def networks(draw: st.DrawFn, most: int) -> StreamNetwork:
    """Chains and branched networks of up to ``most`` layers; those that join read images of one size."""
    layers: list[StreamLayer] = []
    for position in range(draw(st.integers(1, most))):
        feeds: tuple[int, ...] = ()
        if position:
            first = draw(st.integers(0, position - 1))
            alike = [at for at in range(position) if layers[at].output_size == layers[first].output_size]
            feeds = tuple(sorted({first, draw(st.sampled_from(alike))}))
        size = layers[feeds[0]].output_size if feeds else (draw(st.integers(2, 4)), draw(st.integers(2, 4)))
        layers.append(_layer(draw, position, feeds, size))
    return StreamNetwork("random", tuple(layers), ())


def _layer(draw: st.DrawFn, position: int, feeds: tuple[int, ...], size: tuple[int, int]) -> StreamLayer:
    operation: Operation = draw(st.sampled_from(("convolution", "convolution", "pool", "elementwise")))
    kernel = strides = (1, 1)
    if operation != "elementwise":
        kernel = (draw(st.integers(1, min(2, size[0]))), draw(st.integers(1, min(2, size[1]))))
        strides = (draw(st.integers(1, 2)), draw(st.integers(1, 2)))
    high, wide = ((size[axis] - kernel[axis]) // strides[axis] + 1 for axis in (0, 1))
    filters = 1 if operation == "pool" else draw(st.integers(1, 4))
    depth = draw(st.integers(1, 4))
    macs = filters * depth * kernel[0] * kernel[1] * high * wide
    return StreamLayer(
        f"layer{position}", "", operation, filters, depth, size, (high, wide), kernel, strides, (1, 1), (0, 0),
        depth, filters, 1, feeds, macs,
    )  # fmt: skip


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
