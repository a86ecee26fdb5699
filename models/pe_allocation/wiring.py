"""Wiring of a placement: links that the streams between layers, and from and to the buffers, run over.

The paper places its example by hand (002, Fig. 6(a)) and counts nothing; this count is the project's. A stream
between two layers takes the links of a shortest way between their regions, none if they share a PE. Every layer has a
stream from the buffers (weights and intermediate values), layers that read the frame one more, and layers whose maps
leave the array one more; each takes the links from the region to the nearest PE with buffers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from mapper.arch.tcpa import Pe, TcpaMachine
from mapper.models.pe_allocation.stream_layer import StreamNetwork


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
        layer = network.layers[position]
        feeds = [feed for feed in layer.feeds if feed in members]
        from_buffers = (not layer.feeds) or len(feeds) < len(layer.feeds)
        to_buffers = not network.readers[position] or any(
            reader not in members for reader in network.readers[position]
        )
        streams = 1 + from_buffers + to_buffers
        total += streams * min(border[pe] for pe in regions[position])
        away = distances(machine, regions[position])
        total += sum(min(away[pe] for pe in regions[feed]) for feed in feeds)
    return total
