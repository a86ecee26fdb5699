"""What a run's accesses cost: energies of whole blocks, and cycles of computing or of the level that takes longest.

Energies are added in whole steps of 1e-9 pJ, so that they can be compared exactly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from mapper.arch.hierarchy import HierarchyMachine, MemoryLevel
from mapper.sim.hierarchy.traffic import Traffic
from mapper.sim.hierarchy.uneven import Uneven, instances_alike

STEPS = 1_000_000_000
Ledger = Sequence[Mapping[str, Traffic | Uneven]]
"""For each level, outer to inner, the traffic of the tensors that it keeps."""
Row = tuple[int, int, int, int]
"""Instances, and words that each reads, fills and updates."""


@dataclass(frozen=True)
class Work:
    """Operations of a run, how many follow one another on the unit that has most, and units."""

    operations: int
    in_turn: int
    units: int


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


def charged(work: Work, machine: HierarchyMachine, ledger: Ledger) -> Charged:
    """Charge a run. Operations on words that only padding adds cost what others do."""
    busy = math.ceil(Fraction(work.in_turn, machine.compute.rate))
    cycles_of = {
        memory.name: max(_cycles(machine, memory, own, busy) for own in _loads(kept))
        for memory, kept in zip(machine.levels, ledger, strict=True)
    }
    cycles_of[machine.compute.name] = busy
    return Charged(cycles_of, _steps_of(machine, ledger, work, max(cycles_of.values())))


def _loads(kept: Mapping[str, Traffic | Uneven]) -> list[list[Row]]:
    """What instances of a level do, by tensor: those that do the same once."""
    uneven = [one for one in kept.values() if isinstance(one, Uneven)]
    if uneven:
        return instances_alike(uneven)
    return [[(one.instances, one.reads, one.fills, one.updates) for one in kept.values()]]  # type: ignore[misc]


def _cycles(machine: HierarchyMachine, memory: MemoryLevel, kept: Sequence[Row], busy: int) -> int:
    """Cycles until an instance has moved its words through each of its ports, or has computed."""
    read = [reads for _, reads, _, _ in kept]
    written = [fills + updates for _, _, fills, updates in kept]
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
    machine: HierarchyMachine, ledger: Ledger, work: Work, cycles: int
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
            rows = [row for (row,) in _loads({tensor: one})]
            # A cluster has as many accesses as its instances need that need most.
            own[tensor] = (
                sum(row[0] * _price(memory, row) for row in rows)
                if one.instances <= clusters
                else clusters * max(_price(memory, row) for row in rows)
            )
        if memory.actions.leak:
            in_use = max([one.instances for one in kept.values()] or [1])
            own["leak"] = _step(memory.actions.leak) * in_use * cycles
        found[memory.name] = own
    compute = machine.compute
    if compute.energy_pj is None:
        return None
    found[compute.name] = {"operations": _step(compute.energy_pj) * work.operations}
    if compute.leak_pj:
        found[compute.name]["leak"] = _step(compute.leak_pj) * work.units * cycles
    return found


def _price(memory: MemoryLevel, row: Row) -> int:
    """What an instance's accesses to whole blocks cost."""
    assert memory.actions is not None
    prices = (memory.actions.read, memory.actions.fill, memory.actions.update)
    return sum(
        math.ceil(Fraction(words, memory.block)) * _step(price)
        for words, price in zip(row[1:], prices, strict=True)
    )


def _step(energy_pj: float) -> int:
    return round(energy_pj * STEPS)
