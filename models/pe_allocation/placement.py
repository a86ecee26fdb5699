"""What is known about an allocation's placement on the grid, as the breakdown says it."""

from __future__ import annotations

from typing import Any

from mapper.arch.tcpa import TcpaMachine
from mapper.models.pe_allocation.configuration.wiring import wiring
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.stream.layer import StreamNetwork
from mapper.models.pe_allocation.stream.plan import StreamPlan, has_room, least_wiring, stream_plan


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


def _on_the_array(
    regions: tuple[tuple[tuple[int, int], ...], ...], layers: int, machine: TcpaMachine
) -> bool:
    return len(regions) == layers and all(
        region and all(0 <= row < machine.rows and 0 <= column < machine.columns for row, column in region)
        for region in regions
    )
