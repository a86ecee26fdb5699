"""Whether a bound leaves room for anything better than the incumbent.

The innermost loops ask so often that handing them all tables of a problem would take longer than the answer.
"""

from __future__ import annotations

from typing import NamedTuple

from mapper.models.compiled import borrowing
from mapper.solver.tiling.exact.bound_kernel import SLACK
from mapper.solver.tiling.exact.float_price import EXACT
from mapper.solver.tiling.exact.incumbent_kernel import PRIMARY, REACH, SECONDARY, SURE
from mapper.solver.tiling.exact.kernel_table import EDP, ENERGY, Array, KernelTable


class Goal(NamedTuple):
    """The ``objective``; by how much rounding may lower an energy (``rounding``); whether DMA works ``beside`` the
    array; cycles that no mapping may take (``most``); whether energies are ``whole`` numbers."""

    objective: int
    rounding: float
    beside: bool
    most: float
    whole: bool


def _goal_of(t: KernelTable) -> Goal:
    return Goal(t.objective, 0.5 * t.per_pj if t.rounded else 0.0, t.buffers.spm, t.reach_cycles, t.whole)


def _misses(g: Goal, incumbent: Array, energy: float, processing: float, dma: float) -> bool:
    """Whether nothing can improve on the incumbent that takes at least this energy and these cycles: `bounded_out`
    with what is sure of them (`surely`, `together`)."""
    cycles = max(processing, dma) if g.beside else processing + dma
    if cycles > g.most:
        return True
    energy = energy * SLACK - g.rounding
    primary, second = cycles, energy
    if g.objective == EDP:
        primary = energy * cycles
    elif g.objective == ENERGY:
        primary, second = energy, cycles
    if primary > incumbent[REACH]:
        return True
    held: float = incumbent[PRIMARY]
    if g.objective == EDP or primary >= EXACT or held >= EXACT:
        return False
    if g.objective == ENERGY and not (g.whole and incumbent[SURE] > 0.0):
        return False
    return primary > held or (primary == held and second >= incumbent[SECONDARY])


def _hopeless(
    g: Goal, incumbent: Array, energies: Array, cycles: Array, out_energy: float, out_cycles: float
) -> bool:
    """The same of at least these energies and cycles, by the operand that stays, and those outside."""
    for stays in range(len(energies)):
        if not _misses(g, incumbent, energies[stays] + out_energy, cycles[stays], out_cycles):
            return False
    return True


goal_of = borrowing(_goal_of)
misses = borrowing(_misses)
hopeless = borrowing(_hopeless, _misses=misses)
