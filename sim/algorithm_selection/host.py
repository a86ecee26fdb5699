"""What runs beside the overlay, on its host, and how long its words take at the least, which come from DRAM and go
there."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

from mapper.arch.overlay import OverlayMachine
from mapper.workloads.network.network_layer import LayerNetwork


def hosted(network: LayerNetwork, ran: Collection[str], machine: OverlayMachine) -> list[dict[str, Any]]:
    """Every layer that is not among those that ``ran`` on the overlay: ``words`` that it reads and writes, and
    ``least_ms`` at the machine's bandwidth (None if the machine has none)."""
    found = []
    for layer in network.layers:
        if layer.name in ran:
            continue
        shapes = [*(one.shape for one in layer.inputs), *(shape for _, shape in layer.outputs)]
        words = sum(math.prod(shape) for shape in shapes)
        rate = machine.bandwidth_gb_s
        least = None if rate is None else words * machine.word_bytes / (rate * 1e6)
        found.append({"name": layer.name, "op": layer.op, "words": words, "least_ms": least})
    return found


def hosted_line(found: Collection[dict[str, Any]]) -> str:
    """The same in words."""
    if not found:
        return "beside the overlay: nothing"
    said = ", ".join(
        one["name"] if one["least_ms"] is None else f"{one['name']} (at least {one['least_ms']:.4g} ms)"
        for one in found
    )
    return f"beside the overlay, not counted: {said}"
