"""How often a loop of LLVM IR runs that counts."""

from __future__ import annotations

from dataclasses import dataclass

from mapper.workloads.loop.affine import Form, split
from mapper.workloads.loop.body import Value

MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
OPPOSITE = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}


@dataclass(frozen=True)
class Count:
    """The loop goes on as long as ``value`` (of its last iteration, by form) stands in ``order`` to ``bound``."""

    value: Form
    order: str
    bound: Value
    unsigned: bool

    def trips(self, symbols: dict[str, int]) -> int | None:
        """How often the loop runs with the numbers that live-ins stand at; None if it never ends."""
        parts = split(self.value)
        if parts is None or parts[0] == 0:
            return None
        step = parts[0]
        first = sum(factor * _product(term, symbols) for term, factor in parts[1].items())
        gap = int(self.bound.number) - first
        if self.order == "ne":
            return gap // step + 1 if gap % step == 0 and gap // step >= 0 else None
        if self.order in ("gt", "ge"):
            gap, step = -gap, -step
        elif self.order not in ("lt", "le"):
            return None
        if gap < 0 or (gap == 0 and self.order in ("lt", "gt")):
            return 1
        return None if step <= 0 else (gap // step + 2 if self.order in ("le", "ge") else -(-gap // step) + 1)


def _product(term: tuple[str, ...], symbols: dict[str, int]) -> int:
    total = 1
    for name in term:
        total *= symbols[name]
    return total
