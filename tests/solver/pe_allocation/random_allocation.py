"""Small random networks and problems of PE allocation, as hypothesis draws them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from mapper.arch.tcpa import TcpaMachine, tcpa_from_document, tcpa_preset
from mapper.formulations.pe_allocation.bound import least_interval, most_interval
from mapper.formulations.pe_allocation.problem import OBJECTIVES, AllocationProblem, Pin
from mapper.models.pe_allocation import calculus
from mapper.models.pe_allocation.cost import AllocationCost, Model, evaluate
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.stream.layer import StreamNetwork
from mapper.solver.method import Effort
from mapper.solver.pe_allocation.catalogue import METHODS
from tests.sim.pe_allocation.example import Net

JOINING = ("Add", "Mul", "Max", "Min", "Sub", "Mean")
MOST_PACES = 20_000
GRIDS = ((1, 1), (2, 2), (2, 3), (2, 3), (3, 2))
ALL_SIDES = ["north", "east", "south", "west"]
MODELS_IN_TURN: tuple[Model, ...] = ("calculus", "lanes")
RARE_PINS = (Pin(pes=99), Pin(delta=99), Pin(throttle=10**6), Pin(pes=1, throttle=1), Pin(pes=3, delta=1))
PINS = (Pin(pes=1), Pin(pes=2), Pin(delta=1), Pin(throttle=0), Pin(throttle=3))


def row(pes: int, convolution: int = 2, other: int = 1, rows: int = 1, **fields: Any) -> TcpaMachine:
    """A row of PEs, or several, with their functional units, and links and border PEs without limits, under which not
    every allocation is tried (``test_ways``); other ``fields`` of the document as given."""
    document = tcpa_preset("tcpa-1x1")
    assert document is not None
    units = {"convolution": convolution, "pool": other, "elementwise": other}
    border = {"sides": ALL_SIDES, "address_generators": None}
    free = {"link_words": None, "border": border}
    changed = {"rows": rows, "columns": pes, "functional_units": units, **free, **fields}
    return tcpa_from_document({**document, **changed}, "row")


@st.composite
def networks(draw: st.DrawFn, most: int) -> StreamNetwork:
    """Chains and branched networks of up to ``most`` layers; those that join read images of one size. Maps may be a
    single pixel, strides longer than windows, filters many, few, prime, and as many in every layer."""
    side = st.sampled_from((1, 2, 2, 3, 3, 4, 4))
    net = Net((draw(side), draw(side)), draw(st.integers(1, 2)))
    tied = draw(st.sampled_from((None, None, None, 1, 4)))
    for position in range(draw(st.integers(1, most))):
        feeds: tuple[int, ...] = ()
        if position:
            first = draw(st.integers(0, position - 1))
            alike = [
                at for at in range(position) if net.layers[at].output_size == net.layers[first].output_size
            ]
            feeds = tuple(sorted({first, draw(st.sampled_from(alike))}))
        _add_layer(draw, net, feeds, tied)
    return net.network()


def _add_layer(draw: st.DrawFn, net: Net, feeds: tuple[int, ...], tied: int | None) -> None:
    """A convolution (of groups, too), a pool, or, where all that is read has as many maps, one word by word."""
    size = net.layers[feeds[0]].output_size if feeds else net.size
    maps = [net.layers[feed].maps for feed in feeds] or [net.maps]
    operation = draw(st.sampled_from(("convolution", "convolution", "pool", "elementwise")))
    if operation == "elementwise" and len(set(maps)) == 1:
        net.elementwise(draw(st.sampled_from(JOINING if len(feeds) > 1 else ("Relu", "Identity"))), *feeds)
        return
    pads = draw(st.integers(0, 1)), draw(st.integers(0, 1))
    kernel = tuple(draw(st.integers(1, min(2, side))) for side in size)
    strides = draw(st.sampled_from((1, 1, 2, 3))), draw(st.sampled_from((1, 1, 2, 3)))
    window: dict[str, Any] = {"pads": tuple(map(min, pads, (k - 1 for k in kernel))), "strides": strides}
    if operation == "pool":
        net.pool(
            (kernel[0], kernel[1]), *feeds, op=draw(st.sampled_from(("MaxPool", "AveragePool"))), **window
        )
        return
    groups = draw(st.sampled_from([1, 1, 2])) if sum(maps) % 2 == 0 else 1
    filters = draw(st.sampled_from((1, 2, 3, 4, 4, 5, 7, 31))) if groups == 1 else 2 * draw(st.integers(1, 2))
    filters = filters if tied is None else tied * groups
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
    """Problems of each mode and model on rows and grids, so small that every allocation can be tried; two thirds such
    that greedy finds something and proves nothing, where six tries meet one."""
    tries = draw(st.sampled_from((1, 6, 6)))
    for _ in range(tries):
        posed = draw(_of_every_mode())
        found = METHODS["greedy"].search(posed, Effort())
        if found.mapping is not None and not found.proven:
            break
    return posed


@st.composite
def _of_every_mode(draw: st.DrawFn) -> AllocationProblem:
    ways = ("parallel", "sharing", "units", "streaming", "mixed", "streaming runs", "sequential")
    way = draw(st.sampled_from(ways))
    if way == "streaming":
        posed = draw(problems("streaming", 2, draw(st.booleans()), draw(st.booleans())))
    elif way == "streaming runs":
        posed = draw(problems("streaming", 2))
    else:
        most = {"parallel": 4, "sharing": 4, "units": 3, "mixed": 4, "sequential": 3}[way]
        pins = draw(st.booleans())
        posed = draw(problems("calculus", most, way == "sharing", way in ("units", "sequential"), pins))
    posed = replace(posed, machine=draw(_machines(posed.machine, posed.free_delta)))
    if way in ("mixed", "streaming runs"):
        starts = draw(st.sampled_from((None, None, (0,), tuple(range(len(posed.network.layers))))))
        # Address generators of runs are not decided, only counted once runs are placed.
        border = posed.machine.border.model_copy(update={"address_generators": None})
        machine = posed.machine.model_copy(update={"border": border})
        posed = replace(posed, mode="mixed", segments=starts, machine=machine)
    if way == "sequential":
        model = draw(st.sampled_from(MODELS_IN_TURN))
        posed = replace(posed, mode="layer-by-layer", model=model)
    if posed.model != "streaming" and draw(st.integers(0, 7)) == 0:
        rare = draw(st.sampled_from(RARE_PINS))
        posed = replace(posed, pins={**posed.pins, draw(st.sampled_from(posed.network.names)): rare})
    if draw(st.integers(0, 2)) == 0:
        posed = replace(posed, longest_interval=draw(_edge(_interval_of(draw, posed))))
    if way != "streaming runs" and draw(st.integers(0, 3)) == 0:
        posed = replace(posed, max_bytes=draw(st.one_of(st.integers(1, 150), _edge(_bytes_of(draw, posed)))))
        if posed.mode == "layer-parallel":
            # A pace bounds the idle cycles, of which more may need fewer words in buffers.
            longest = draw(st.integers(4, 24))
            posed = replace(posed, longest_interval=longest, sharing=False, free_delta=False)
    return posed if _has_few_paces(posed) else replace(posed, model="calculus", max_bytes=None)


def _has_few_paces(problem: AllocationProblem) -> bool:
    """Whether all PEs, units and idle cycles can be tried in seconds where these count, by the streaming model or for a
    limit on buffers: maps of a pixel leave much time for idle cycles."""
    limited = problem.mode == "layer-parallel" and problem.max_bytes is not None
    if problem.model != "streaming" and not limited:
        return True
    longest = problem.interval_limit(most_interval(problem)) * (2 if problem.objective == "latency" else 1)
    ways = [problem.units(layer) if problem.free_delta else 1 for layer in problem.network.layers]
    paces = [longest // layer.positions + 1 for layer in problem.network.layers]
    tried: int = math.prod(ways) * math.prod(paces) * problem.most_pes ** len(ways)
    return tried <= MOST_PACES


@st.composite
def _machines(draw: st.DrawFn, like: TcpaMachine, free_delta: bool) -> TcpaMachine:
    """Rows and grids, a single PE among them, of slow and fast clocks, wide words, any links and borders; units as
    many as in ``like``, or very many where they are not tried one by one."""
    units = like.functional_units
    rows, columns = draw(st.sampled_from((*GRIDS, (1, like.pe_count), (1, like.pe_count))))
    many = not free_delta and draw(st.integers(0, 7)) == 0
    sides = draw(st.sampled_from((ALL_SIDES, ALL_SIDES, ["west"], ["north", "east"])))
    generators = draw(st.sampled_from((None, None, None, 3, 8)))
    return row(
        columns,
        4096 if many else units.convolution,
        units.pool,
        rows,
        clock_mhz=draw(st.sampled_from((50, 50, 1e-6, 333.333333, 1e6))),
        word_bytes=draw(st.sampled_from((1, 1, 2, 16))),
        links=draw(st.sampled_from((["mesh"], ["mesh"], ["torus"], ["mesh", "diagonal"]))),
        border={"sides": sides, "address_generators": generators},
    )


def _edge(value: int) -> st.SearchStrategy[int]:
    """What is just reached, and what just is not."""
    return st.sampled_from((value, max(1, value - 1)))


def _interval_of(draw: st.DrawFn, problem: AllocationProblem) -> int:
    """The cycles between frames of some allocation: the least, or that of any PEs without idle cycles but those that
    rates ask for."""
    least = least_interval(problem, problem.most_pes)
    if problem.mode == "layer-parallel" and least is not None and draw(st.booleans()):
        return least
    return _cost_of(draw, problem).interval


def _bytes_of(draw: st.DrawFn, problem: AllocationProblem) -> int:
    """The bytes of buffers of some allocation."""
    return _cost_of(draw, problem).buffer_bytes


def _cost_of(draw: st.DrawFn, problem: AllocationProblem) -> AllocationCost:
    layers = problem.network.layers
    pes = tuple(draw(st.integers(1, problem.most_pes)) for _ in layers)
    delta = tuple(problem.units(layer) for layer in layers)
    starts: tuple[int, ...] = (0,)
    if problem.mode == "mixed":
        starts = problem.segments or (0, *(at for at in range(1, len(layers)) if draw(st.booleans())))
    plain = calculus.unthrottled(problem.network, pes, delta)
    paces = plain if problem.mode == "layer-by-layer" else calculus.matched(problem.network, plain)
    idle = tuple(pace - cycles for pace, cycles in zip(paces, plain, strict=True))
    made = Allocation(problem.mode, pes, idle, delta, segments=starts, on_chip=(False,) * (len(starts) - 1))
    return evaluate(problem.network, problem.machine, made, problem.model)
