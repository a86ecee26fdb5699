"""The routes of streams over the links, and the borders of buffers [Heidorn2019, Fig. 6(a)]."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence

from mapper.arch.tcpa import Pe, Side, TcpaMachine
from mapper.models.pe_allocation.configuration.program import Stream
from mapper.models.pe_allocation.stream.layer import StreamNetwork

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


def streams(
    network: StreamNetwork,
    machine: TcpaMachine,
    regions: Sequence[Sequence[Pe]] | None,
    runs: Sequence[range],
) -> tuple[Stream, ...]:
    """Every stream of the layers, run by run (``wiring.outside_streams`` counts them); without ``regions`` no stream
    has a route."""
    found: list[Stream] = []
    names = network.names

    def route(source: int | None, target: int | None) -> Route:
        if regions is None:
            return ()
        border = machine.border_pes
        return shortest_route(
            machine,
            border if source is None else regions[source],
            border if target is None else regions[target],
        )

    for members in runs:
        for at in members:
            layer = network.layers[at]
            found.append(Stream("weights", None, names[at], route(None, at)))
            if not layer.feeds:
                found.append(Stream("frame", None, names[at], route(None, at)))
            elif any(feed not in members for feed in layer.feeds):
                found.append(Stream("stored", None, names[at], route(None, at)))
            found += [
                Stream("maps", names[feed], names[at], route(feed, at))
                for feed in layer.feeds
                if feed in members
            ]
            readers = network.readers[at]
            if not readers or any(reader not in members for reader in readers):
                found.append(Stream("result" if not readers else "stored", names[at], None, route(at, None)))
    return tuple(found)
