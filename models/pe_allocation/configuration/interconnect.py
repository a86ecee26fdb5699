"""The routes of streams over the links, and the borders of buffers [Heidorn2019, Fig. 6(a)]."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence

from mapper.arch.tcpa import Pe, Side, TcpaMachine
from mapper.models.pe_allocation.configuration.program import Stream
from mapper.models.pe_allocation.mapping import Placement, StreamKind, Way
from mapper.models.pe_allocation.stream.layer import StreamNetwork
from mapper.models.pe_allocation.stream.traffic import StreamKey, stream_keys

Route = tuple[Pe, ...]


def shortest_route(machine: TcpaMachine, sources: Collection[Pe], targets: Collection[Pe]) -> Route:
    """The PEs of a shortest route from one of ``sources`` to one of ``targets``, both included; a single PE if they
    share one. Ties go to the first PEs, row by row; empty if there is no route."""
    before: dict[Pe, Pe | None] = dict.fromkeys(sorted(sources))
    waiting = deque(before)
    ends = set(targets)
    while waiting:
        pe = waiting.popleft()
        if pe in ends:
            route: list[Pe] = []
            step: Pe | None = pe
            while step is not None:
                route.append(step)
                step = before[step]
            return tuple(reversed(route))
        for near in machine.neighbours[pe]:
            if near not in before:
                before[near] = pe
                waiting.append(near)
    return ()


def border_side(machine: TcpaMachine, pe: Pe) -> Side | None:
    """The border whose buffers ``pe`` reaches, the machine's first of several; None in the middle."""
    at = {
        "north": pe[0] == 0,
        "south": pe[0] == machine.rows - 1,
        "west": pe[1] == 0,
        "east": pe[1] == machine.columns - 1,
    }
    return next((side for side in machine.border.sides if at[side]), None)


def shortest_ways(
    network: StreamNetwork,
    machine: TcpaMachine,
    regions: Sequence[Sequence[Pe]] | Mapping[int, Sequence[Pe]],
    runs: Sequence[range],
) -> tuple[Way, ...]:
    """A shortest way for every stream of the layers, run by run, whatever the links carry then
    (``wiring.outside_streams`` counts the streams from and to the buffers)."""
    border = machine.border_pes

    def way(kind: StreamKind, source: int | None, target: int | None) -> Way:
        ends = (border if at is None else regions[at] for at in (source, target))
        return Way(kind, source, target, shortest_route(machine, *ends))

    return tuple(
        way(kind, source, target)
        for members in runs
        for kind, source, target in stream_keys(network, members)
    )


def streams(
    network: StreamNetwork,
    machine: TcpaMachine,
    placement: Placement | None,
    runs: Sequence[range],
) -> tuple[Stream, ...]:
    """Every stream of the layers, run by run, on the placement's ways or on shortest ones; without a placement no
    stream has a route."""
    found: dict[StreamKey, Route] = {}
    if placement is not None:
        ways = placement.ways or shortest_ways(network, machine, placement.regions, runs)
        found = {(way.kind, way.source, way.target): way.pes for way in ways}
    names = network.names
    return tuple(
        Stream(
            kind,
            None if source is None else names[source],
            None if target is None else names[target],
            found.get((kind, source, target), ()),
        )
        for members in runs
        for kind, source, target in stream_keys(network, members)
    )


def border_ends(connected: Sequence[Stream]) -> dict[tuple[StreamKind, str | None, str | None], Pe]:
    """The border PE of every routed stream from or to the buffers, by kind, source and target."""
    return {
        (stream.kind, stream.source, stream.target): stream.route[-1 if stream.target is None else 0]
        for stream in connected
        if stream.route and None in (stream.source, stream.target)
    }
