"""Graphs that others publish as files of edges, on tori: the II that one method finds and proves, and in what time.

FOLDER has files ``NAME_edges`` (source, destination, distance and latency a line), such as the seven of SAT-MapIt's
benchmarks [Tirelli2023]. That mapper has links as a torus has, and hands no value on by moves.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

import mapper
from bench.measure import measure, show
from mapper.api.search import Search
from mapper.api.solution import Solution
from mapper.arch.cgra import CgraMachine
from mapper.arch.source import load_machine
from mapper.models.modulo_schedule.bound import mii
from mapper.workloads.graph.kernel_source import load_kernel

ARRAYS = tuple(f"torus-{side}x{side}" for side in (2, 3, 4, 5))
HEADING = ["graph", "operations", "MII", "II", "bound", "proven", "valid", "wall s", "CPU s", "wall / limit"]


def main() -> None:
    """Print one line per graph and array."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--arrays", nargs="+", default=list(ARRAYS))
    parser.add_argument("--method", default="cp-sat")
    parser.add_argument("--seconds", type=float, default=60.0, help="limit of one graph on one array")
    given = parser.parse_args()
    files = sorted(path for path in given.folder.glob("*_edges") if "live" not in path.name)
    lines = []
    for file in files:
        for array in given.arrays:
            machine, _ = load_machine(array)
            assert isinstance(machine, CgraMachine)
            graph = load_kernel(str(file))[0].graph
            run = measure(partial(_solved, str(file), array, given.method, given.seconds))
            found = run.result.certificate
            lines.append(
                [
                    f"{graph.name} on {array}",
                    str(len(graph.operations)),
                    str(mii(graph, machine).value),
                    "–" if found.value is None else str(found.value),
                    "–" if found.bound is None else str(found.bound),
                    "yes" if found.proven else "no",
                    "yes" if found.verified else "NO",
                    f"{run.wall:.1f}",
                    f"{run.cpu:.1f}",
                    f"{run.wall / given.seconds:.2f}",
                ]
            )
    show(f"{given.method}, {given.seconds:g} s at the most each:", HEADING, lines)
    proven = sum(line[HEADING.index("proven")] == "yes" for line in lines)
    print(f"proven: {proven} of {len(lines)}")


def _solved(graph: str, array: str, method: str, seconds: float) -> Solution:
    return mapper.solve(graph, array, search=Search(method, seconds, workers=2))


if __name__ == "__main__":
    main()
