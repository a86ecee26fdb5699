"""What is known about an allocation's placement on the grid, as the breakdown says it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mapper.arch.tcpa import TcpaMachine
from mapper.models.pe_allocation.configuration.interconnect import shortest_ways
from mapper.models.pe_allocation.configuration.wiring import wiring
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.stream.layer import StreamNetwork
from mapper.models.pe_allocation.stream.plan import StreamPlan, has_room, least_wiring, stream_plan
from mapper.models.pe_allocation.stream.traffic import Roads, buffers_at, by_key, loads, sides, traffic


def runs(network: StreamNetwork, allocation: Allocation) -> tuple[tuple[range, StreamPlan], ...]:
    """The layers that work at once and what they ask of the grid, run by run; layer by layer each is a run of its
    own."""
    parts = allocation.parts()
    if allocation.mode == "layer-by-layer":
        parts = tuple(range(at, at + 1) for at in range(len(allocation.pes)))
    return tuple((members, stream_plan(network, allocation, members)) for members in parts)


def placement_json(network: StreamNetwork, machine: TcpaMachine, allocation: Allocation) -> dict[str, Any]:
    """``status`` (optimal, feasible, impossible or unknown), ``wiring`` in links (null without regions) and a proven
    lower ``bound`` of it.

    Layer by layer every layer may stand anywhere, next to the buffers too, so that no stream takes a link between
    PEs. Regions from a document come without a bound: the one by argument holds for them. Regions that the array has
    no PEs for are left to the referee: unknown here.
    """
    asked = runs(network, allocation)
    if allocation.unplaceable or not all(has_room(plan, machine) for _, plan in asked):
        return {"status": "impossible", "wiring": None, "bound": None}
    if allocation.mode == "layer-by-layer" and allocation.placement is None:
        return {"status": "optimal", "wiring": 0, "bound": 0}
    least = sum(least_wiring(plan, machine) for _, plan in asked)
    placed = allocation.placement
    if placed is None or not _on_the_array(placed.regions, len(network.layers), machine):
        return {"status": "unknown", "wiring": None, "bound": least}
    bound = least if placed.bound is None else max(least, placed.bound)
    found = sum(wiring(network, machine, placed.regions, members) for members, _ in asked)
    status = "optimal" if found == bound else "feasible" if found > bound else "unknown"
    return {"status": status, "wiring": found, "bound": bound}


def links_json(
    network: StreamNetwork, machine: TcpaMachine, allocation: Allocation, z_out: Sequence[int]
) -> dict[str, Any] | None:
    """What the streams ask of the links while layers work: the ``busiest`` link (``at``: from PE to PE, "buffers" at
    the border) with its ``words`` a cycle, and the most ``buffers`` of a border PE; the machine's limits beside them.
    None without regions. Streams without ways take shortest ones."""
    placed, asked = allocation.placement, runs(network, allocation)
    if placed is None:
        return None
    ways = by_key(placed.ways or shortest_ways(network, machine, placed.regions, [run for run, _ in asked]))
    busiest: tuple[float, list[Any]] = (0.0, [])
    fullest: tuple[int, list[int]] = (0, [])
    for members, _ in asked:
        plan = traffic(network, z_out, members)
        roads = Roads(network, machine, {at: placed.regions[at] for at in members}, plan)
        for link, words in loads(roads, ways).items():
            share = words / plan.cycles / sides(machine, link)
            busiest = max(
                busiest, (share, ["buffers" if pe is None else list(pe) for pe in link]), key=_first
            )
        for pe, count in buffers_at(plan, ways).items():
            fullest = max(fullest, (count, list(pe)), key=_first)
    return {
        "busiest": {"words": busiest[0], "at": busiest[1], "limit": machine.link_words},
        "buffers": {"most": fullest[0], "at": fullest[1], "limit": machine.border.buffers},
    }


def _first(pair: tuple[float, object]) -> float:
    return pair[0]


def _on_the_array(
    regions: tuple[tuple[tuple[int, int], ...], ...], layers: int, machine: TcpaMachine
) -> bool:
    return len(regions) == layers and all(
        region and all(0 <= row < machine.rows and 0 <= column < machine.columns for row, column in region)
        for region in regions
    )
