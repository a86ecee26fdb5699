"""A selection on the overlay as it is generated: seeded integers through its control sequence, and the cycles of its
program beside the model's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.models.algorithm_selection.control.selection import selection_control
from mapper.models.algorithm_selection.cost import SelectionCost, evaluate
from mapper.models.algorithm_selection.layer_cause import causes
from mapper.models.algorithm_selection.mapping import Selection
from mapper.sim.algorithm_selection.agreement import agrees, beyond, beyond_line
from mapper.sim.algorithm_selection.host import hosted, hosted_line
from mapper.sim.algorithm_selection.network import Drawn, drawn
from mapper.sim.algorithm_selection.report import compared
from mapper.workloads.network.network_layer import LayerNetwork


def report_running(
    problem: SelectionProblem,
    selection: Selection,
    network: LayerNetwork,
    timeline: Mapping[str, int],
    seed: int = 0,
    data: Drawn | None = None,
) -> dict[str, Any]:
    """What ``mapper simulate`` says where the machine counts the generated overlay's engines. ``timeline``: cycles of
    each step of the generated program, which are those of the Verilog. ``agrees``: all tensors equal the reference's,
    no layer misses a position in a stored layout, and the cycles of all steps, and of each, are the model's up to the
    tolerance (`agreement.py`).

    Raises: InputError if a layer has no form in integers, or an algorithm cannot compute one.
    """
    control = selection_control(network, problem.network, selection)
    data = data or drawn(network, seed)
    error, lost, wrong, results = compared(network, control, data.numbers, data.inputs)
    model, cycles = evaluate(problem.network, selection), sum(timeline.values())
    said = {name: own.cycles for name, own in causes(problem.network, selection).items()}
    off = beyond(timeline, said)
    beside = hosted(network, timeline, problem.machine)
    return {
        "outputs_equal": error == 0 and not wrong,
        "max_error": error,
        "results": results,
        "cost_simulated": _cost(model, cycles),
        "agrees": error == 0 and not lost and not wrong and not off and agrees(cycles, model.cycles),
        "physical": {"layers": _layers(said, timeline), "beyond": off, "lost": lost, "wrong": wrong},
        "host": beside,
        "notes": [
            f"the generated program takes {cycles:,} cycles, the model says {model.cycles:,}: "
            f"{100 * (cycles - model.cycles) / model.cycles:+.1f} %, within 5 % is agreement",
            beyond_line(off),
            hosted_line(beside),
        ],
    }


def _cost(model: SelectionCost, cycles: int) -> dict[str, Any]:
    """The cost keys of the kind; energy is the model's."""
    return {
        **model.cost_json(),
        "cycles": cycles,
        "latency_ms": 1000 * cycles / model.machine.clock_hz,
        "edp_pj_cycles": float(model.energy_pj * cycles),
    }


def _layers(said: Mapping[str, int], timeline: Mapping[str, int]) -> dict[str, dict[str, int | None]]:
    """Cycles of every step: the model's, and the program's."""
    return {name: {"model": said.get(name), "timeline": cycles} for name, cycles in timeline.items()}
