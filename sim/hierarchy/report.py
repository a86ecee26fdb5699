"""A simulated mapping beside what the model says of it."""

from __future__ import annotations

from typing import Any

from mapper.arch.hierarchy import HierarchyMachine
from mapper.models.hierarchy.cost import evaluate
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.sim.hierarchy.simulation import simulate
from mapper.workloads.nest.loop_nest import LoopNest


def report(
    nest: LoopNest, machine: HierarchyMachine, mapping: HierarchyMapping, seed: int = 0
) -> dict[str, Any]:
    """What ``mapper simulate`` says of one layer.

    ``agrees``: accesses, cycles and energy of every level equal the model's; ``disagreements`` names those that do not.

    Raises: InputError as ``simulate`` does.
    """
    run, model = simulate(nest, machine, mapping, seed), evaluate(nest, machine, mapping)
    found = run.to_json()
    simulated = found["breakdown_simulated"]
    equal = {
        "energy_pj": run.charged.steps == model.energy_steps
        and (simulated["energy_pj"] or {}) == model.energy_of,
        "cycles": run.charged.cycles == model.cycles and simulated["cycles"] == model.cycles_of,
        "accesses": simulated["accesses"] == model.accesses,
        "tiles": simulated["tiles"] == model.tiles,
    }
    return {
        **found,
        "agrees": all(equal.values()),
        "disagreements": [quantity for quantity, same in equal.items() if not same],
    }
