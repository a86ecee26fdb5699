"""How a tile of the scratch-pad is walked: which operands the loop order reuses and which ones stay put."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from mapper.formulations.tiling.program.order import Clause, OrderPattern


@dataclass(frozen=True)
class WalkingMode:
    """A pattern of the scratch-pad's order, and the operands that stay in the PE array from one scratch-pad
    pass to the next: they are reused in every RF pass and by the order at DRAM too [Dave2019, sec. 4.3.3].
    ``stationary`` gives each of them with its level, the layer of the DRAM pattern that reuses it (from 1)."""

    pattern: OrderPattern
    stationary: tuple[tuple[int, int], ...]

    @cached_property
    def stays(self) -> frozenset[int]:
        """The operands that stay."""
        return frozenset(k for k, _ in self.stationary)

    @cached_property
    def layers(self) -> tuple[frozenset[str], ...]:
        """Sets of loops over which some operand that does not stay is reused, inner to outer."""
        return tuple(layer for layer in self.pattern.layers if layer and self.moving(layer))

    def moving(self, layer: frozenset[str]) -> tuple[int, ...]:
        """Operands reused over exactly ``layer`` that do not stay."""
        return tuple(k for k in self.pattern.members(layer) if k not in self.stays)

    def follows(self, dram: OrderPattern) -> bool:
        """Whether the operands that stay are reused by ``dram`` at their levels."""
        return all(levels_of(dram)[k] == level for k, level in self.stationary)

    def clauses(self, reused: Iterable[int]) -> tuple[Clause, ...]:
        """What must hold of the loops that run in the scratch-pad if the order at DRAM reuses ``reused``."""
        loops = frozenset(self.pattern.loops)
        found = list(self.pattern.clauses)
        for k, _ in self.stationary:
            found += [(frozenset({loop}), frozenset[str]()) for loop in sorted(loops - self.pattern.reuse[k])]
        for k in sorted(set(reused) - self.stays):
            found.append((frozenset[str](), loops - self.pattern.reuse[k]))
        return tuple(dict.fromkeys(found))

    @cached_property
    def may_run(self) -> frozenset[str]:
        """Loops that may run in the scratch-pad in this mode; the others surely run once."""
        single = [idle for idle, running in self.clauses(()) if len(idle) == 1 and not running]
        return frozenset(self.pattern.loops).difference(*single)


def levels_of(dram: OrderPattern) -> tuple[int, ...]:
    """For every operand the layer of the DRAM pattern that reuses it, 0 if none does."""
    return tuple(dram.layers.index(over) for over in dram.reuse)


def walking_modes(spm: Iterable[OrderPattern], dram: Iterable[OrderPattern]) -> tuple[WalkingMode, ...]:
    """Every pattern with every set of operands that can stay under it, and the levels at which they change.

    Operands that are all reused in every RF pass, and by the order at DRAM, all stay.
    """
    together: set[tuple[tuple[int, int], ...]] = set()
    for pattern in dram:
        chosen: list[tuple[tuple[int, int], ...]] = [()]
        for k, level in enumerate(levels_of(pattern)):
            chosen += [(*some, (k, level)) for some in chosen] if level else []
        together |= set(chosen)
    return tuple(
        WalkingMode(pattern, stationary)
        for pattern in spm
        for stationary in sorted(together)
        if not any(pattern.reuse) or all(pattern.reuse[k] for k, _ in stationary)
    )
