"""Where passes of different length are not counted."""

from __future__ import annotations

from mapper.arch.hierarchy import HierarchyMachine
from mapper.workloads.nest.loop_nest import LoopNest


def why_only_perfect(nest: LoopNest, machine: HierarchyMachine) -> str | None:
    """Why all passes of a loop must have the same length, in a line with the remedy; None if they need not."""
    if machine.rules.link_transfers and machine.units > 1:
        return (
            f"{machine.name} hands words on between neighbours, which is not counted for passes of different length; "
            "give it rules: {link_transfers: false}"
        )
    for operand in nest.operands:
        rows = [index.coefficients for index in operand.index]
        loops = [loop for row in rows for loop, _ in row]
        plain = all(len(row) < 2 and all(abs(by) == 1 for _, by in row) for row in rows)
        if operand.writes and (not plain or len(set(loops)) < len(loops)):
            return f"words of {operand.name} overlap or have gaps, which is not counted for passes of different length"
    return None
