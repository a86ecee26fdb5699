"""What binds the overlay as it is generated: the proven optimum with its terms left out, one by one and together.

A term left out says what a wider unit would bring at most, at the same clock and with the same PEs; a unit or a choice
left out, what it brings.
"""

from __future__ import annotations

import argparse
import copy
from collections.abc import Mapping
from typing import Any

from bench.measure import show
from mapper.arch.overlay import OverlayMachine
from mapper.arch.source import load_machine
from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.models.algorithm_selection.cost import evaluate
from mapper.models.algorithm_selection.overlay.building import overlay_network
from mapper.models.algorithm_selection.overlay.order import ordered
from mapper.solver.algorithm_selection.exact.joint import joint
from mapper.solver.method import Effort
from mapper.workloads.source import load_layers

WITHOUT: dict[str, Mapping[str, Any]] = {
    "as generated": {},
    "no pass waits": {"engines": {"short_passes": False}},
    "no max pool by itself": {"engines": {"pools": False}},
    "kernels always in time": {"engines": {"kernels": False, "kernel_parts": False}},
    "pieces without filling and draining": {"engines": {"fill_and_drain": False}},
    "twice the bandwidth, on any board": {"bandwidth_gb_s": 154, "board": None},
    "twice the bandwidth and buffers": {
        "bandwidth_gb_s": 154,
        "board": None,
        "engines": {"buffers": {"input": 3670016, "kernel": 4194304, "result": 3145728, "tensor": 1048576}},
    },
    "without F(4,3)": {"winograd": {"f_4_3": False}},
    "one wire for blocks": {"engines": {"block_wires": 1}},
    "kernels in no more parts than fit": {"engines": {"kernel_parts": False}},
    "inputs not ahead": {"engines": {"inputs_ahead": False}},
    "max pools by themselves": {"engines": {"pools_on_the_way": False}},
    "max pools where the file has them": {"engines": {"pools_first": False}},
}


def main() -> None:
    """Print a line per reading."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("network", nargs="?", default="googlenet")
    parser.add_argument("--arch", default="dynamap-u200")
    given = parser.parse_args()
    machine, _ = load_machine(given.arch)
    assert isinstance(machine, OverlayMachine)
    network, lines = load_layers(given.network), []
    for label, change in WITHOUT.items():
        fields = copy.deepcopy(machine.model_dump(by_alias=True))
        for key, value in change.items():
            fields[key] = {**fields[key], **value} if isinstance(value, Mapping) else value
        own = OverlayMachine.model_validate(fields)
        posed = SelectionProblem(overlay_network(ordered(network, own), own))
        found = joint(posed, Effort())
        assert found.mapping is not None and found.proven
        cost = evaluate(posed.network, found.mapping)
        spent = cost.breakdown_json(posed.network)["cycles"]
        causes = ("compute", "initialise", "load", "weights", "pools")
        shape = "x".join(map(str, found.mapping.array))
        time = f"{1e3 * cost.cycles / machine.clock_hz:.3f}"
        lines.append([label, shape, time, *(f"{spent[cause]:,}" for cause in causes)])
    head = ["with", "array", "ms", "products", "array adds", "movers add", "kernels", "pools"]
    show(f"What binds {given.network} on {given.arch}", head, lines)


if __name__ == "__main__":
    main()
