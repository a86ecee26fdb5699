"""The comparisons of [Meng2021, sec. 6] by this model: bl1 (32 % and 35 %), Table 4, and the time of every
module of Figs. 11 and 12, under several readings of what the paper leaves open.

Every figure stands beside the published one. Rates above the array's peak and latencies below the least computation
time cannot come from the equations, and are named.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from bench.measure import show
from mapper.arch.overlay import OverlayMachine
from mapper.arch.source import load_machine
from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.models.algorithm_selection.cost import SelectionCost, evaluate
from mapper.models.algorithm_selection.mapping import Selection
from mapper.models.algorithm_selection.overlay.building import overlay_network
from mapper.models.algorithm_selection.overlay.module import module_of, module_units
from mapper.models.algorithm_selection.overlay.network import OverlayNetwork
from mapper.models.algorithm_selection.overlay.order import ordered
from mapper.solver.algorithm_selection.catalogue import METHODS
from mapper.solver.method import Effort
from mapper.workloads.network.network_layer import LayerNetwork
from mapper.workloads.source import load_layers

PUBLISHED: dict[str, dict[str, float]] = {
    "googlenet-224": {"bl1": 32, "bl3": 67.5, "bl4": 78, "bl5": 22, "ms": 1.34, "gops": 3568},
    "inception-v4": {"bl1": 35, "bl3": 86, "bl4": 61, "bl5": 17, "ms": 4.39, "gops": 3650},
}
"""Sections 6.1.1 and 6.2, Tables 3 and 4: percent of latency saved against a baseline, and the design itself."""
SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "dynamap-u200": ("dynamap-u200", {}),
    "dynamap-u200-paper": ("dynamap-u200-paper", {}),
    "dynamap-u200-model": ("dynamap-u200-model", {}),
    "dynamap-u200-model at 12.8 GB/s": ("dynamap-u200-model", {"bandwidth_gb_s": 12.8}),
}
BASELINES = ("bl1", "bl2", "bl3", "bl4", "bl5", "greedy")
SHOWN = ("joint", "algorithm-1", *BASELINES)


def main() -> None:
    """Print the percentages and, with ``--modules``, the time of every module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", nargs="*", default=list(PUBLISHED))
    parser.add_argument("--modules", action="store_true", help="Figs. 11 and 12 too")
    given = parser.parse_args()
    for name in given.networks:
        network = load_layers(name)
        lines, modules = [], []
        for setting, (preset, changed) in SETTINGS.items():
            problem = posed(network, preset, changed)
            known = selected(problem)
            costs = {method: evaluate(problem.network, mapping) for method, mapping in known.items()}
            lines.append([setting, *_line(costs)])
            if given.modules:
                modules.append((setting, problem.network, known, costs))
        published = PUBLISHED.get(name, {})
        said = [f"{published[key]:g}" if key in published else "-" for key in BASELINES]
        latency = f"{published['ms']:g}" if "ms" in published else "-"
        lines.append(["published", "-", latency, *said])
        heading = ["setting", "joint ms", "Algorithm 1 ms", *(f"against {key} %" for key in BASELINES)]
        show(f"{name}: latency that the paper's flow saves against its baselines", heading, lines)
        _limits(network, name)
        for entry in modules:
            _modules(name, *entry)


def posed(network: LayerNetwork, preset: str, changed: Mapping[str, Any]) -> SelectionProblem:
    """The problem of a network on a preset with fields changed."""
    machine, _ = load_machine(preset)
    assert isinstance(machine, OverlayMachine)
    fields = machine.model_dump(by_alias=True) | dict(changed)
    machine = OverlayMachine.model_validate(fields)
    return SelectionProblem(overlay_network(ordered(network, machine), machine))


def selected(problem: SelectionProblem) -> dict[str, Selection]:
    """What the joint search, the paper's flow and the baselines select."""
    found = {method: METHODS[method].search(problem, Effort()).mapping for method in SHOWN}
    return {method: mapping for method, mapping in found.items() if mapping is not None}


def saved(costs: Mapping[str, SelectionCost]) -> dict[str, float]:
    """Percent of latency that the paper's flow saves against each baseline."""
    own = costs["algorithm-1"]
    return {name: 100 * (1 - own.units / costs[name].units) for name in BASELINES}


def _line(costs: Mapping[str, SelectionCost]) -> list[str]:
    milliseconds = [f"{costs[name].cost_json()['latency_ms']:.4f}" for name in ("joint", "algorithm-1")]
    return milliseconds + [f"{percent:.1f}" for percent in saved(costs).values()]


def _limits(network: LayerNetwork, name: str) -> None:
    """What the published figures of a network contradict."""
    published = PUBLISHED.get(name)
    if published is None:
        return
    problem = posed(network, "dynamap-u200-model", {"bandwidth_gb_s": None})
    mapping = METHODS["joint"].search(problem, Effort()).mapping
    assert mapping is not None
    alone = evaluate(problem.network, mapping)
    least = alone.cost_json()["latency_ms"]
    peak = 2 * problem.machine.pes * problem.machine.clock_hz / 1e9
    beyond = "below it, so no bandwidth meets it" if published["ms"] < least else "above it"
    print(
        f"computation alone takes {least:.4f} ms at the least ({alone.array[0]}x{alone.array[1]}); "
        f"the published {published['ms']:g} ms is {beyond}"
    )
    reached = 2 * network.macs / published["ms"] / 1e6
    print(
        f"the array's peak is {peak:.0f} GOP/s without Winograd; published are {published['gops']:g} GOP/s, "
        f"and {published['ms']:g} ms of this network's {network.macs / 1e9:.3f} G MAC are {reached:.0f} GOP/s"
    )


def _modules(
    name: str,
    setting: str,
    network: OverlayNetwork,
    mappings: Mapping[str, Selection],
    costs: Mapping[str, SelectionCost],
) -> None:
    """Computation and traffic of the layers of every module, a module being what lies between concatenations."""
    part = module_of(network)
    methods = ("bl3", "bl4", "bl5", "algorithm-1", "joint")
    totals = {method: module_units(network, mappings[method], costs[method]) for method in methods}
    scale = network.machine.units_per_cycle * network.machine.clock_hz / 1e6
    lines = [
        [
            str(module),
            f"{network.names[part.index(module)]}-{network.names[len(part) - 1 - part[::-1].index(module)]}",
            *(f"{totals[method][module] / scale:.1f}" for method in methods),
        ]
        for module in range(max(part) + 1)
    ]
    show(f"{name}, {setting}: microseconds per module", ["module", "layers", *methods], lines)


if __name__ == "__main__":
    main()
