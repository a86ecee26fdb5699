"""One colour for every operand and every cause, in all charts and pictures of a page."""

from __future__ import annotations

from collections.abc import Iterable
from zlib import crc32

OPERANDS = {
    "input": "#2f6fb3", "I": "#2f6fb3", "maps": "#2f6fb3",
    "weights": "#c8761a", "W": "#c8761a",
    "output": "#3b8f4f", "O": "#3b8f4f",
    "bias": "#8c6bb1", "residual": "#a65583", "table": "#7f6a5a", "instructions": "#8d9299",
    "intermediate": "#5aa6a1",
}  # fmt: skip
CAUSES = {
    "mac": "#59a14f", "compute": "#59a14f", "kernel": "#59a14f", "array": "#59a14f",
    "rf": "#f28e2b", "noc": "#4e79a7", "spm": "#b07aa1", "dram": "#4d9c97", "dma": "#4d9c97",
    "reduction": "#9c755f", "load": "#6ba3d0", "store": "#e8a15c", "issue": "#b9a44c",
    "conflict": "#e15759", "fill": "#c9b3d6", "start": "#6ba3d0", "drain": "#e8a15c", "host": "#8d9299",
    "last_layer": "#a7c796", "sync": "#d8c690", "sync_stall": "#d8c690", "streams": "#6ba3d0", "set_up": "#c9b3d6",
    "following": "#b9a44c", "copy": "#e8a15c", "model": "#59a14f",
    "operations": "#edc948", "routes": "#d6249f", "registers": "#f28e2b", "memory": "#4d9c97",
    "configuration": "#b07aa1", "vliw": "#b9a44c", "static": "#8d9299",
}  # fmt: skip
SERIES = ("#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#76b7b2", "#e15759", "#9c755f", "#bab0ac")
"""Of lines and bars that stand for neither."""
FURTHER = ("#ff9da7", "#86bcb6", "#d37295", "#bcbd22", "#79706e", "#17a2c8", "#d4a6c8", "#5c4b8a", "#f1ce63")
"""Of names that are neither, each unlike those above."""
VALUE, BOUND, PROVEN, BEST = "#4e79a7", "#f28e2b", "#59a14f", "#d6249f"
"""Of the best value and the bound of a search, of what is proven, and of the best of a grid."""


def colours(names: Iterable[str]) -> dict[str, str]:
    """A colour for each name: its own if it has one (in capitals too), else one that its letters choose, unlike the
    others'; the same whatever order the names come in."""
    wanted = sorted(set(names))
    known = CAUSES | OPERANDS
    found = {name: known.get(name) or CAUSES[name.lower()] for name in wanted
             if name in known or name.lower() in CAUSES}  # fmt: skip
    for name in wanted:
        if name not in found:
            first = crc32(name.encode()) % len(FURTHER)
            order = [FURTHER[(first + step) % len(FURTHER)] for step in range(len(FURTHER))]
            found[name] = next((one for one in order if one not in found.values()), order[0])
    return found
