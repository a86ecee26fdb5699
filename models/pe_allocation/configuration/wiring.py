"""Wiring of a placement: links that the streams between layers, and from and to the buffers, run over.

The paper places its example by hand [Heidorn2019, Fig. 6(a)] and counts nothing; this count is the project's. A stream
between two layers takes the links of a shortest route between their regions, none if they share a PE. Every layer has a
stream from the buffers (weights and intermediate values), layers that read the frame one more, and layers whose maps
leave the array one more; each takes the links from the region to the nearest PE with buffers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from mapper.arch.tcpa import Pe, TcpaMachine
from mapper.models.pe_allocation.stream.layer import StreamNetwork


def distances(machine: TcpaMachine, sources: Iterable[Pe]) -> dict[Pe, int]:
    """Links from the nearest of ``sources`` to every PE that can be reached."""
    found = dict.fromkeys(sources, 0)
    waiting = deque(found)
    while waiting:
        pe = waiting.popleft()
        for near in machine.neighbours[pe]:
            if near not in found:
                found[near] = found[pe] + 1
                waiting.append(near)
    return found


def wiring(
    network: StreamNetwork, machine: TcpaMachine, regions: Sequence[Sequence[Pe]], members: Sequence[int]
) -> int:
    """Links of all streams of the layers ``members``, which work at once; maps of other layers come from buffers."""
    border = distances(machine, sorted(machine.border_pes))
    total = 0
    for position in members:
        total += outside_streams(network, position, members) * min(border[pe] for pe in regions[position])
        feeds = [feed for feed in network.layers[position].feeds if feed in members]
        total += sum(route(machine, regions[position], regions[feed]) for feed in feeds)
    return total


def route(machine: TcpaMachine, region: Sequence[Pe], other: Sequence[Pe]) -> int:
    """Links from the nearest PE of a region to the nearest of the other; no further PE is looked at."""
    goal, reached, rim, links = set(other), set(region), set(region), 0
    while goal.isdisjoint(rim):
        rim = {near for pe in rim for near in machine.neighbours[pe]} - reached
        reached |= rim
        links += 1
    return links


def outside_streams(network: StreamNetwork, position: int, members: Sequence[int]) -> int:
    """Streams between the layer at ``position`` and the buffers while the layers ``members`` work."""
    feeds, readers = network.layers[position].feeds, network.readers[position]
    from_buffers = not feeds or any(feed not in members for feed in feeds)
    to_buffers = not readers or any(reader not in members for reader in readers)
    return 1 + from_buffers + to_buffers
