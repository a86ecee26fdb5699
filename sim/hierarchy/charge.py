"""What a run's accesses cost: energies of whole blocks, and cycles of computing or of the level that takes longest.

Energies are added in whole steps of 1e-9 pJ, so that they can be compared exactly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from mapper.arch.hierarchy import HierarchyMachine, MemoryLevel
from mapper.sim.hierarchy.traffic import Layout, Traffic

STEPS = 1_000_000_000
Ledger = Sequence[Mapping[str, Traffic]]
"""For each level, outer to inner, the traffic of the tensors that it keeps."""


@dataclass(frozen=True)
class Charged:
    """Cycles of each level and of computing, and steps of energy of each level and tensor (None: the machine gives no
    energies)."""

    cycles_of: dict[str, int]
    steps_of: dict[str, dict[str, int]] | None

    @property
    def cycles(self) -> int:
        return max(self.cycles_of.values())

    @property
    def steps(self) -> int | None:
        return None if self.steps_of is None else sum(sum(own.values()) for own in self.steps_of.values())


def charged(own: Layout, machine: HierarchyMachine, ledger: Ledger) -> Charged:
    """Charge a run. Operations on words that only padding adds cost what others do."""
    in_turn = math.prod(loop.trips for loop in own.loops if not loop.axis)
    at_once = math.prod(loop.trips for loop in own.loops if loop.axis)
    busy = math.ceil(Fraction(in_turn, machine.compute.rate))
    cycles_of = {
        memory.name: _cycles(machine, memory, list(kept.values()), busy)
        for memory, kept in zip(machine.levels, ledger, strict=True)
    }
    cycles_of[machine.compute.name] = busy
    return Charged(cycles_of, _steps_of(machine, ledger, in_turn, at_once, max(cycles_of.values())))


def _cycles(machine: HierarchyMachine, memory: MemoryLevel, kept: Sequence[Traffic], busy: int) -> int:
    """Cycles until an instance has moved its words through each of its ports, or has computed."""
    read = [one.reads for one in kept]
    written = [one.fills + one.updates for one in kept]
    ports = (
        (memory.bandwidth.read, (read,)),
        (memory.bandwidth.write, (written,)),
        (memory.bandwidth.shared, (written, read)),
    )
    if machine.rules.throttling == "exact":
        times = [Fraction(sum(map(sum, words))) / Fraction(str(rate)) for rate, words in ports if rate]
        return max(busy, *(math.ceil(time) for time in times), 0)
    speed = 1.0
    for rate, words in ports:
        wanted = 0.0
        for direction in words:
            # Words a cycle of one direction after the other: sums in floating point depend on their order.
            demand = 0.0
            for count in direction:
                demand += count / busy
            wanted += demand
        if rate is not None and rate < wanted:
            speed = min(speed, rate / wanted)
    return math.ceil(busy / speed)


def _steps_of(
    machine: HierarchyMachine, ledger: Ledger, in_turn: int, at_once: int, cycles: int
) -> dict[str, dict[str, int]] | None:
    found: dict[str, dict[str, int]] = {}
    built = 1
    for memory, kept in zip(machine.levels, ledger, strict=True):
        # An access serves all instances of a cluster, used or not.
        clusters = max(1, built // memory.cluster)
        built *= memory.fanout.x * memory.fanout.y
        if memory.actions is None:
            if kept:
                return None
            continue
        own = {}
        for tensor, one in kept.items():
            each = sum(
                math.ceil(Fraction(words, memory.block)) * _step(price)
                for words, price in (
                    (one.reads, memory.actions.read),
                    (one.fills, memory.actions.fill),
                    (one.updates, memory.actions.update),
                )
            )
            own[tensor] = each * min(clusters, one.instances)
        if memory.actions.leak:
            in_use = max([one.instances for one in kept.values()] or [1])
            own["leak"] = _step(memory.actions.leak) * in_use * cycles
        found[memory.name] = own
    compute = machine.compute
    if compute.energy_pj is None:
        return None
    found[compute.name] = {"operations": _step(compute.energy_pj) * in_turn * at_once}
    if compute.leak_pj:
        found[compute.name]["leak"] = _step(compute.leak_pj) * at_once * cycles
    return found


def _step(energy_pj: float) -> int:
    return round(energy_pj * STEPS)
