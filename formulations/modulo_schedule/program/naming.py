"""Names for what a register file keeps: on a circle of II cycles, fewer values at a time than there are registers
can still be too many to be named."""

from __future__ import annotations

from collections.abc import Sequence

NAMINGS = 20_000
"""The most assignments that are tried."""


def named(lives: Sequence[tuple[int, int]], ii: int, registers: int) -> list[int] | None:
    """Registers for values that are kept from a first to a last cycle, less than II later, so that no two in one
    register meet in a cycle modulo II: depth first, the longest first; None if that does not succeed."""

    def longest_first(place: int) -> tuple[int, int, int]:
        first, last = lives[place]
        return first - last, first % ii, first

    order = sorted(range(len(lives)), key=longest_first)
    cycles = [sum(1 << (cycle % ii) for cycle in range(lives[at][0], lives[at][1] + 1)) for at in order]
    occupied = [0] * registers
    chosen = [-1] * len(order)
    position = 0
    for _ in range(NAMINGS):
        if position == len(order):
            return [register for _, register in sorted(zip(order, chosen, strict=True))]
        register = chosen[position]
        if register >= 0:
            occupied[register] &= ~cycles[position]
        # An empty register is as good as the next one.
        stop = registers if register < 0 or occupied[register] else register + 1
        free = next((r for r in range(register + 1, stop) if not occupied[r] & cycles[position]), -1)
        chosen[position] = free
        if free >= 0:
            occupied[free] |= cycles[position]
            position += 1
        elif position == 0:
            return None
        else:
            position -= 1
    return None
