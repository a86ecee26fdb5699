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
}  # fmt: skip
SERIES = ("#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#76b7b2", "#e15759", "#9c755f", "#bab0ac")
"""Of lines and bars that stand for neither."""
FURTHER = ("#76b7b2", "#edc948", "#af7aa1", "#ff9da7", "#86bcb6", "#d37295", "#bab0ac", "#499894", "#d4a6c8")
VALUE, BOUND, PROVEN = "#4e79a7", "#f28e2b", "#59a14f"
"""Of the best value and the bound of a search, and of what is proven."""


def colours(names: Iterable[str]) -> dict[str, str]:
    """A colour for each name: its own if it has one, else one that its letters choose, unlike the others'."""
    wanted = list(dict.fromkeys(names))
    known = OPERANDS | CAUSES
    found = {name: known[name] for name in wanted if name in known}
    for name in wanted:
        if name not in found:
            first = crc32(name.encode()) % len(FURTHER)
            order = [FURTHER[(first + step) % len(FURTHER)] for step in range(len(FURTHER))]
            found[name] = next((one for one in order if one not in found.values()), order[0])
    return found
