"""The cost of a mapping onto a memory hierarchy: the one model that every number of this kind comes from.

Timeloop's dense model [Parashar2019, sec. V; NVlabs/timeloop]: accesses of every tensor at every level, energies of
accesses to whole blocks, and cycles, which are those of computing or of the level whose bandwidth binds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mapper.arch.hierarchy import HierarchyMachine, MemoryLevel
from mapper.models.hierarchy.access import Accesses, accesses
from mapper.models.hierarchy.imperfect.access import uneven_accesses
from mapper.models.hierarchy.imperfect.digit import moments
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.models.hierarchy.role import tensor_roles
from mapper.models.hierarchy.tile import walk
from mapper.workloads.nest.loop_nest import LoopNest, Operand

STEPS_PER_PJ = 10**9
"""Energies of actions count in whole steps of 1e-9 pJ."""


@dataclass(frozen=True)
class HierarchyCost:
    """Energy (in steps; None where the machine gives none), cycles, utilisation of the units, and what they consist of.

    ``accesses`` are those of all instances of a level together. ``cycles_of`` says how long each level takes by itself,
    computing included, ``energy_of`` in pJ what each tensor costs there (computing and leaks under their own names).
    """

    energy_steps: int | None
    cycles: int
    latency_ms: float | None
    utilisation: float
    area_mm2: float | None
    energy_of: dict[str, dict[str, float]]
    accesses: dict[str, dict[str, dict[str, int]]]
    cycles_of: dict[str, int]
    tiles: dict[str, dict[str, int]]

    @property
    def energy_pj(self) -> float | None:
        return None if self.energy_steps is None else self.energy_steps / STEPS_PER_PJ

    @property
    def edp_pj_cycles(self) -> float | None:
        return None if self.energy_steps is None else self.energy_steps * self.cycles / STEPS_PER_PJ

    def cost_json(self) -> dict[str, Any]:
        return {
            "energy_pj": self.energy_pj,
            "cycles": self.cycles,
            "edp_pj_cycles": self.edp_pj_cycles,
            "latency_ms": self.latency_ms,
            "utilisation": self.utilisation,
            "area_mm2": self.area_mm2,
        }

    def breakdown_json(self) -> dict[str, Any]:
        # Computing is the last of them, and binds where a level takes no longer.
        binds = max(reversed(self.cycles_of), key=lambda name: self.cycles_of[name])
        return {
            "energy_pj": self.energy_of if self.energy_pj is not None else None,
            "accesses": self.accesses,
            "cycles": self.cycles_of,
            "tiles": self.tiles,
            "binds": binds,
        }


def evaluate(nest: LoopNest, machine: HierarchyMachine, mapping: HierarchyMapping) -> HierarchyCost:
    """The cost of a mapping whose factors, with their last passes, make the bounds, or what ``mapping.padded`` says."""
    counted = counts(nest, machine, mapping)
    operations, passes, units = _operations(nest, mapping)
    compute = -(-passes // machine.compute.rate)
    cycles_of = {
        memory.name: level_cycles(memory, counted[place], compute, machine.rules.throttling == "floating")
        for place, memory in enumerate(machine.levels)
    }
    cycles_of[machine.compute.name] = compute
    cycles = max(cycles_of.values())
    energy_of = _energies(machine, counted, operations, units, cycles)
    total = (
        None if energy_of is None else sum(count for level in energy_of.values() for count in level.values())
    )
    return HierarchyCost(
        total,
        cycles,
        None if machine.clock_mhz is None else cycles / (machine.clock_mhz * 1e3),
        nest.iterations / (machine.units * machine.compute.rate * cycles),
        machine.area_mm2,
        {
            level: {tensor: count / STEPS_PER_PJ for tensor, count in own.items()}
            for level, own in (energy_of or {}).items()
        },
        {memory.name: _totals(counted[place]) for place, memory in enumerate(machine.levels)},
        cycles_of,
        {
            memory.name: {tensor: one.words for tensor, one in counted[place].items()}
            for place, memory in enumerate(machine.levels)
        },
    )


LevelAccesses = dict[str, Accesses]
"""The accesses at one level by tensor, of those that it keeps."""


def counts(nest: LoopNest, machine: HierarchyMachine, mapping: HierarchyMapping) -> list[LevelAccesses]:
    """Accesses at every level, outer to inner."""
    found: list[LevelAccesses] = [{} for _ in machine.levels]
    bounds = {**nest.trip_counts, **dict(mapping.padded)}
    for operand in _in_order(nest):
        kept = [operand.name in level.keep for level in mapping.levels]
        if mapping.is_perfect:
            own = accesses(operand, walk(operand, mapping), kept, machine)
        else:
            own = uneven_accesses(operand, mapping, bounds, kept, machine)
        for place, one in enumerate(own):
            if one is not None:
                found[place][operand.name] = one
    return found


def _in_order(nest: LoopNest) -> list[Operand]:
    """Tensors in the order in which sums in floating point take them: weights, inputs, outputs."""
    roles = tensor_roles(nest)
    return sorted(nest.operands, key=lambda operand: "WIO".index(roles[operand.name]))


def _operations(nest: LoopNest, mapping: HierarchyMapping) -> tuple[int, int, int]:
    """Operations, how many follow one another on the unit that has most, and units."""
    passes = math.prod(loop.trips for level in mapping.levels for loop in level.temporal)
    units = math.prod(loop.trips for level in mapping.levels for loop in level.spatial)
    if mapping.is_perfect:
        return passes * units, passes, units
    bounds = {**nest.trip_counts, **dict(mapping.padded)}
    return math.prod(bounds.values()), moments(mapping, bounds), units


def level_cycles(memory: MemoryLevel, kept: LevelAccesses, compute: int, floating: bool) -> int:
    """Cycles that one instance of a level takes for its words, and at least those of computing."""
    reads = [one.reads for one in kept.values()]
    writes = [one.writes for one in kept.values()]
    limits = [
        (memory.bandwidth.read, [reads]),
        (memory.bandwidth.write, [writes]),
        (memory.bandwidth.shared, [writes, reads]),
    ]
    cycles = compute
    slowdown = 1.0
    for rate, moved in limits:
        if rate is None:
            continue
        words = sum(sum(one) for one in moved)
        if not floating:
            cycles = max(cycles, math.ceil(words / Fraction(str(rate))))
            continue
        demand = sum(_per_cycle(one, compute) for one in moved)
        if rate < demand:
            slowdown = min(slowdown, rate / demand)
    return math.ceil(compute / slowdown) if floating else cycles


def _per_cycle(words: list[int], compute: int) -> float:
    total = 0.0
    for count in words:
        total += count / compute
    return total


def _energies(
    machine: HierarchyMachine, counted: list[LevelAccesses], operations: int, units: int, cycles: int
) -> dict[str, dict[str, int]] | None:
    """Energy by level and tensor in steps; None if the machine lacks one that is needed."""
    found: dict[str, dict[str, int]] = {}
    present = 1
    for memory, kept in zip(machine.levels, counted, strict=True):
        actions, clusters = memory.actions, max(1, present // memory.cluster)
        present *= memory.fanout.x * memory.fanout.y
        if actions is None:
            if kept:
                return None
            continue
        found[memory.name] = {
            tensor: sum(
                paying
                * (
                    blocks(reads, memory) * steps(actions.read)
                    + blocks(fills, memory) * steps(actions.fill)
                    + blocks(updates, memory) * steps(actions.update)
                )
                for paying, reads, fills, updates in _paying(one, clusters)
            )
            for tensor, one in kept.items()
        }
        if actions.leak:
            used = max((one.used for one in kept.values()), default=1)
            found[memory.name]["leak"] = steps(actions.leak) * cycles * used
    compute = machine.compute
    if compute.energy_pj is None:
        return None
    found[compute.name] = {"operations": operations * steps(compute.energy_pj)}
    if compute.leak_pj:
        found[compute.name]["leak"] = steps(compute.leak_pj) * cycles * units
    return found


def _paying(one: Accesses, clusters: int) -> tuple[tuple[int, int, int, int], ...]:
    """Instances that pay for accesses, which clusters share: a cluster pays for what its instances do that do most."""
    if clusters >= one.used:
        return one.rows
    return ((clusters, one.reads, one.fills, one.updates),)


def steps(energy_pj: float) -> int:
    """An energy in the steps in which energies are summed, so that equal sums are equal numbers."""
    return round(energy_pj * STEPS_PER_PJ)


def blocks(words: int, memory: MemoryLevel) -> int:
    """Accesses to whole blocks that move so many words."""
    return -(-words // memory.block)


def _totals(kept: LevelAccesses) -> dict[str, dict[str, int]]:
    return {
        tensor: {
            "reads": sum(row[0] * row[1] for row in one.rows),
            "fills": sum(row[0] * row[2] for row in one.rows),
            "updates": sum(row[0] * row[3] for row in one.rows),
        }
        for tensor, one in kept.items()
    }
