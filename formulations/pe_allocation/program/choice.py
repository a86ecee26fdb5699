"""The choices of a layer: PE counts and units that can help, and the cycles of a position that each gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.models.pe_allocation.calculus import position_cycles, useful_pes
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.stream.layer import StreamLayer
from mapper.models.pe_allocation.word.need import has_limits, shortage

Groups = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Choice:
    """PEs, units of each, and the least cycles that one position then takes (Eq. 6)."""

    pes: int
    delta: int
    cycles: int

    @property
    def units(self) -> int:
        """Functional units in use."""
        return self.pes * self.delta


def choices(problem: AllocationProblem, layer: StreamLayer) -> tuple[Choice, ...]:
    """What can be chosen for ``layer``, PEs and units ascending; empty if pins leave nothing, or no PE has room for its
    program.

    PE counts with the same ceil(M/P) as a smaller one, and units with the same ceil(N/delta) as fewer, are left out:
    the smaller one does as well in every objective. Pins may name them.
    """
    pe = problem.machine.processing_element
    return tuple(one for one in offered(problem, layer) if shortage(layer, one.pes, one.delta, pe) is None)


def offered(problem: AllocationProblem, layer: StreamLayer) -> tuple[Choice, ...]:
    """The same, whether or not a PE has room for the program."""
    pin, most, units = problem.pin(layer), problem.most_pes, problem.units(layer)
    counts: Sequence[int] = useful_pes(layer, most) if pin.pes is None else (pin.pes,)
    deltas: Sequence[int] = (units,)
    if pin.delta is not None:
        deltas = (pin.delta,)
    elif problem.free_delta:
        # Which program is smaller does not follow from its units.
        limited = has_limits(problem.machine.processing_element)
        deltas = range(1, units + 1) if limited else _useful_units(layer, units)
    return tuple(
        Choice(pes, delta, position_cycles(layer, pes, delta))
        for pes in counts
        if 1 <= pes <= most
        for delta in deltas
        if 1 <= delta <= units
    )


def _useful_units(layer: StreamLayer, most: int) -> tuple[int, ...]:
    shares = [-(-layer.depth // delta) for delta in range(1, most + 1)]
    return tuple(at + 1 for at, share in enumerate(shares) if share not in shares[:at])


def paces(
    problem: AllocationProblem, chosen: Sequence[Choice], groups: Groups = (), matched: bool = False
) -> tuple[int, ...]:
    """The least z_out of chosen layers that starve none (Eq. 9, Fig. 7) and let groups take turns; pinned idle cycles
    as they are pinned. The streaming model knows no Eq. 9; ``matched`` keeps it there too, since a layer that does not
    run ahead of its pixels can start earlier, and so can those after it."""
    layers = problem.network.layers
    busy = [0] * len(layers)
    for group in groups:
        work = sum(chosen[at].cycles * layers[at].positions for at in group)
        for at in group:
            busy[at] = -(-work // layers[at].positions)
    found: list[int] = []
    for position, (layer, choice) in enumerate(zip(layers, chosen, strict=True)):
        idle = problem.pin(layer).throttle
        fed = 0
        if matched or problem.model != "streaming":
            fed = layer.new_pixels * max((found[feed] for feed in layer.feeds), default=0)
        least = max(choice.cycles, fed, busy[position])
        found.append(least if idle is None else choice.cycles + idle)
    return tuple(found)


def allocation_of(
    problem: AllocationProblem, chosen: Sequence[Choice], z_out: Sequence[int], groups: Groups = ()
) -> Allocation:
    """The allocation that gives every layer its choice and throttles it to ``z_out``."""
    return Allocation(
        problem.mode,
        tuple(choice.pes for choice in chosen),
        tuple(pace - choice.cycles for pace, choice in zip(z_out, chosen, strict=True)),
        tuple(choice.delta for choice in chosen),
        shared=groups,
    )
