"""A simulated mapping beside what the model says of it."""

from __future__ import annotations

from typing import Any

from mapper.arch.dataflow import DataflowMachine
from mapper.models.tiling.cost import TilingCost, evaluate
from mapper.models.tiling.mapping import TilingMapping
from mapper.sim.tiling.physical import simulate_physical
from mapper.sim.tiling.simulation import Simulation, simulate
from mapper.workloads.nest.loop_nest import LoopNest


def report(nest: LoopNest, machine: DataflowMachine, mapping: TilingMapping, seed: int = 0) -> dict[str, Any]:
    """What ``mapper simulate`` says of one layer.

    ``agrees``: words, cycles and energy equal the model's under the machine's named rules;
    ``disagreements`` names those that do not. ``physical`` is the run under physical rules, whose difference from the
    model is reported and is no failure.

    Raises: InputError as ``simulate`` does.
    """
    run = simulate(nest, machine, mapping, seed)
    physical = simulate_physical(nest, machine, mapping)
    model = evaluate(nest, machine, mapping)
    return {
        **beside_model(run, model),
        "physical": {
            **physical.to_json(),
            "cycles_over_model": physical.cycles / model.cycles,
            "energy_over_model": physical.energy_pj / model.energy_pj if model.energy_pj else None,
        },
    }


def beside_model(run: Simulation, model: TilingCost) -> dict[str, Any]:
    """A run, and in what it differs from the model."""
    equal = {
        "energy_pj": run.energy_pj == model.energy_pj,
        "cycles": run.cycles == model.cycles,
        "words": run.words == model.words,
        "processing_cycles": run.processing_cycles == model.processing_cycles,
    }
    return {
        **run.to_json(),
        "agrees": all(equal.values()),
        "disagreements": [quantity for quantity, same in equal.items() if not same],
    }
