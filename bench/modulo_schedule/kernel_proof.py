"""Every catalogue kernel on small arrays: initiation intervals, and how many of them are proven optimal.

Meshes and tori of 2x2 to 5x5 unless machines are given; ``--all-arrays`` adds the paper's nine arrays and
a mesh whose left column alone loads and stores.
"""

from __future__ import annotations

import argparse
from functools import partial

import mapper
from bench.measure import measure, peak_mebibytes, show
from mapper.api.search import Search
from mapper.api.solution import Solution
from mapper.arch.cgra import CgraMachine
from mapper.arch.cgra_preset import srp_names
from mapper.arch.source import load_machine
from mapper.models.modulo_schedule.bound import mii
from mapper.solver.modulo_schedule.catalogue import AUTOMATIC
from mapper.workloads.graph.kernel_catalogue import KERNELS
from mapper.workloads.graph.kernel_source import load_kernel

GRIDS = tuple(f"{family}-{side}x{side}" for family in ("mesh", "torus") for side in (2, 3, 4, 5))
OTHERS = (*srp_names(), "left-memory-4x4")
TARGET_SHARE = 0.9
TARGET_SECONDS = 60.0


def main() -> None:
    """Print one line per kernel and machine, and the share that is proven."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernels", nargs="*", default=list(KERNELS))
    parser.add_argument("--machines", nargs="+", default=list(GRIDS))
    parser.add_argument("--all-arrays", action="store_true", help=f"also {', '.join(OTHERS)}")
    parser.add_argument("--seconds", type=float, default=TARGET_SECONDS, help="limit of one kernel")
    parser.add_argument("--method", default="auto")
    given = parser.parse_args()
    AUTOMATIC.prepare()
    lines = []
    proven = at_mii = wall = cpu = 0.0
    for name in [*given.machines, *(OTHERS if given.all_arrays else ())]:
        machine, _ = load_machine(name)
        assert isinstance(machine, CgraMachine)
        for kernel in given.kernels:
            graph = load_kernel(kernel)[0].graph
            run = measure(partial(_solved, kernel, name, given.method, given.seconds))
            found = run.result.certificate
            least = mii(graph, machine).value
            lines.append(
                [
                    f"{kernel} on {name}",
                    str(len(graph.operations)),
                    str(least),
                    "–" if found.value is None else str(found.value),
                    "–" if found.bound is None else str(found.bound),
                    "yes" if found.proven else "no",
                    "yes" if found.verified else "NO",
                    found.method,
                    f"{run.wall:.1f}",
                    f"{run.cpu:.1f}",
                ]
            )
            proven += found.proven
            at_mii += found.value == least
            wall, cpu = wall + run.wall, cpu + run.cpu
    heading = ["kernel", "operations", "MII", "II", "bound", "proven", "valid", "method", "wall s", "CPU s"]
    show(f"Least initiation interval, {given.seconds:g} s at the most each:", heading, lines)
    share = proven / len(lines)
    print(
        f"proven: {share:.1%} of {len(lines)} ({share / TARGET_SHARE:.2f} of the target), "
        f"at MII: {at_mii / len(lines):.1%}; {wall:.0f} s, {cpu:.0f} CPU s, "
        f"peak memory {peak_mebibytes():.0f} MiB"
    )


def _solved(kernel: str, machine: str, method: str, seconds: float) -> Solution:
    return mapper.solve(kernel, machine, search=Search(method, seconds))


if __name__ == "__main__":
    main()
