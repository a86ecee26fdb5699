"""Placing allocations on the grid: seconds, wiring, and the bound that is proven of it.

Every network has the most throughput that the array's PEs give it, layers in parallel.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import partial

from bench.measure import measure, show
from mapper.arch.source import load_machine
from mapper.arch.tcpa import TcpaMachine
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.models.pe_allocation.placement import placement_json
from mapper.models.pe_allocation.stream.layer import stream_network
from mapper.solver.method import Effort
from mapper.solver.pe_allocation.catalogue import METHODS
from mapper.solver.pe_allocation.placement.place import place
from mapper.workloads.source import load_layers

CASES = (
    ("mnist-tcpa", "tcpa-4x4"),
    ("mnist-tcpa", "tcpa-8x8"),
    ("lenet5", "tcpa-8x8"),
    ("alexnet", "tcpa-8x8"),
    ("squeezenet", "tcpa-8x8"),
    ("squeezenet", "tcpa-16x16"),
    ("googlenet", "tcpa-16x16"),
    ("vgg19", "tcpa-16x16"),
    ("googlenet", "tcpa-64x64"),
    ("vgg19", "tcpa-64x64"),
)


def main() -> None:
    """Print one line per network and array."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", help="NETWORK@ARRAY, as squeezenet@tcpa-8x8")
    given = parser.parse_args()
    lines = [_line(network, array) for network, array in [*map(_case, given.cases)] or CASES]
    heading = [
        "network and array",
        "layers",
        "PEs",
        "status",
        "wiring",
        "bound",
        "wiring/bound",
        "seconds",
        "CPU s",
    ]
    show("Placement on the grid", heading, lines)


def _case(text: str) -> tuple[str, str]:
    network, _, array = text.partition("@")
    return network, array


def _line(name: str, array: str) -> list[str]:
    machine, _ = load_machine(array)
    assert isinstance(machine, TcpaMachine)
    network = stream_network(load_layers(name, None))
    problem = AllocationProblem(network, machine)
    found = METHODS["auto"].search(problem, Effort()).mapping
    label = f"{name} on {array}"
    if found is None:
        return [label, str(len(network.layers)), "–", "no allocation", "–", "–", "–", "–", "–"]
    run = measure(partial(place, problem, replace(found, placement=None)))
    said = placement_json(network, machine, run.result)
    ratio = f"{said['wiring'] / said['bound']:.2f}" if said["wiring"] and said["bound"] else "–"
    return [
        label,
        str(len(network.layers)),
        str(sum(found.pes)),
        said["status"],
        str(said["wiring"]),
        str(said["bound"]),
        ratio,
        f"{run.wall:.2f}",
        f"{run.cpu:.2f}",
    ]


if __name__ == "__main__":
    main()
