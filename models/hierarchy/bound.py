"""What no mapping onto a hierarchy can beat, by argument alone."""

from __future__ import annotations

from mapper.arch.hierarchy import HierarchyMachine
from mapper.workloads.nest.loop_nest import LoopNest


def ideal_cycles(nest: LoopNest, machine: HierarchyMachine) -> int:
    """All units compute in every cycle."""
    return -(-nest.iterations // (machine.units * machine.compute.rate))


def least_energy(nest: LoopNest, machine: HierarchyMachine) -> float | None:
    """Every operation is carried out; pJ, None where the machine gives no energies."""
    energy = machine.compute.energy_pj
    return None if energy is None else nest.iterations * energy
