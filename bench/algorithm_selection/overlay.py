"""Optima under the overlay as it is generated: the model's cycles, those of the generated program, and its size."""

from __future__ import annotations

import argparse
import json

from bench.measure import show
from mapper.arch.overlay import OverlayMachine
from mapper.arch.source import load_machine
from mapper.codegen.algorithm_selection import overlay_files
from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.formulations.algorithm_selection.referee.verify import verify
from mapper.kind.algorithm_selection.part import limits
from mapper.models.algorithm_selection.control.selection import selection_control
from mapper.models.algorithm_selection.overlay.building import overlay_network
from mapper.models.algorithm_selection.overlay.order import ordered
from mapper.solver.algorithm_selection.exact.joint import joint
from mapper.solver.method import Effort
from mapper.workloads.source import load_layers

NETWORKS = ("lenet5", "cifar10", "squeezenet", "googlenet", "shufflenet", "inception-v4", "resnet50")


def main() -> None:
    """Print a line per network."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", nargs="*", default=list(NETWORKS))
    parser.add_argument("--arch", default="dynamap-u200")
    given = parser.parse_args()
    machine, _ = load_machine(given.arch)
    assert isinstance(machine, OverlayMachine)
    lines = []
    for name in given.networks:
        network = ordered(load_layers(name), machine)
        problem = SelectionProblem(overlay_network(network, machine))
        found = joint(problem, Effort()).mapping
        assert found is not None
        cost = verify(problem, found).cost
        assert cost is not None
        kept = limits(problem.network, found)
        files = overlay_files(selection_control(network, problem.network, found), network, limits=kept)
        said = json.loads(files["overlay.json"])
        cycles = sum(one["cycles"] for one in said["steps"])
        takes = said["resources"]
        lines.append(
            [
                name,
                "x".join(map(str, found.array)),
                f"{cost.cycles:,}",
                f"{cycles / cost.cycles:.3f}",
                f"{1e3 * cost.cycles / machine.clock_hz:.3f}",
                *(f"{takes[one]:,}" for one in ("dsp", "bram36", "uram", "lut")),
            ]
        )
    head = ["network", "array", "model", "program / model", "ms", "DSP", "BRAM", "URAM", "LUT"]
    show("Optima under the overlay as it is generated", head, lines)


if __name__ == "__main__":
    main()
