"""Proven optima beside Timeloop's evaluations: no row of DOSA's data may lie below the least value of its layer.

    python -m bench.hierarchy.least [--rows FILE] [--every N] [--machines N] [--objectives edp,energy,latency]

Takes every N-th layer of each machine (all of them by default), starting one layer later on each next machine, so that
a sample goes through machines and layers alike. Energies of accesses are fitted on the rows of a machine; a row lies
below an optimum if it does so by more than that fit's largest error. The exit code is 1 then. FILE is a table with the
columns of `gemmini_mappings.csv.gz`, plain or compressed; without it, that one. `--seconds` limits a layer (10).
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.hierarchy.gemmini import Row, accesses, by_machine, grouped, machine, nest
from bench.measure import measure, show
from mapper.arch.hierarchy import HierarchyMachine, hierarchy_from_document
from mapper.arch.source import machine_to_document
from mapper.formulations.hierarchy.problem import HierarchyProblem, ObjectiveName
from mapper.solver.hierarchy.catalogue import METHODS
from mapper.solver.hierarchy.exact.branch_and_bound import prepare
from mapper.solver.method import Effort

LAYER = ("C", "K", "P", "Q", "R", "S", "Wstride", "Hstride")
OBJECTIVES: tuple[ObjectiveName, ...] = ("edp", "energy", "latency")


@dataclass(frozen=True)
class Solved:
    """A layer on a machine: its optimum over the best row, whether it is proven, CPU seconds, and whether a row lies
    below."""

    ratio: float
    proven: bool
    cpu: float
    above: bool


def fitted(rows: Sequence[Row]) -> tuple[HierarchyMachine, float]:
    """The machine of rows with energies fitted on all of them, and the largest relative error of theirs."""
    counted = np.array([accesses(row) for row in rows], dtype=float)
    energies = np.array([float(row["energy"]) * 1e6 for row in rows])
    scale = counted.max(axis=0)
    found = np.linalg.lstsq(counted / scale / energies[:, None], np.ones(len(rows)), rcond=None)[0] / scale
    each = [round(max(0.0, float(one)), 6) for one in found]
    document = machine_to_document(machine(rows[0]))
    document["compute"]["energy_pj"] = each[0]
    for level, one in zip(document["levels"], each[1:], strict=True):
        level["energy_pj"] = {"read": one, "fill": one, "update": one}
    error = float(np.abs(counted @ np.array(each) / energies - 1).max())
    return hierarchy_from_document(document, "fitted"), error


def measured(row: Row, objective: ObjectiveName) -> float:
    """The objective of a row, in pJ and cycles."""
    energy, cycles = float(row["energy"]) * 1e6, int(row["cycle"])
    return {"edp": energy * cycles, "energy": energy, "latency": float(cycles)}[objective]


def solved(
    rows: Sequence[Row], own: HierarchyMachine, error: float, objective: ObjectiveName, seconds: float
) -> Solved:
    """The optimum of the layer of ``rows``, without padding, as Timeloop's mappings are."""
    problem = HierarchyProblem(nest(rows[0]), own, objective)
    search = METHODS["auto"].search
    run = measure(lambda: search(problem, Effort(deadline=time.monotonic() + seconds)))
    best, value = min(measured(row, objective) for row in rows), run.result.value
    assert value is not None, "the search begins with a mapping"
    slack = 0.0 if objective == "latency" else error + 1e-6
    return Solved(value / best, run.result.proven, run.cpu, value > best * (1 + slack))


def layers(rows: Sequence[Row], every: int, first: int) -> Iterator[list[Row]]:
    """The rows of every ``every``-th layer of a machine."""
    found: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows:
        found[tuple(row[key] for key in LAYER)].append(row)
    yield from list(found.values())[first % every :: every]


def _line(name: str, found: Sequence[Solved]) -> list[str]:
    seconds = [one.cpu for one in found]
    return [
        name,
        str(len(found)),
        str(sum(one.proven for one in found)),
        str(sum(one.above for one in found)),
        f"{min(one.ratio for one in found):.4f} to {max(one.ratio for one in found):.4f}",
        f"{statistics.median(seconds):.2f}",
        f"{max(seconds):.2f}",
    ]


def _machines(given: argparse.Namespace) -> dict[tuple[str, ...], list[Row]]:
    if given.rows is None:
        return by_machine()
    data = given.rows.read_bytes()
    text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()
    return grouped(list(csv.DictReader(io.StringIO(text))))


def main() -> int:
    """Exit code 1 if a row lies below an optimum."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--machines", type=int, default=None, help="take the first N alone")
    parser.add_argument("--objectives", default=",".join(OBJECTIVES))
    parser.add_argument("--seconds", type=float, default=10.0, help="limit of a layer")
    given = parser.parse_args()
    objectives = [one for one in OBJECTIVES if one in given.objectives.split(",")]
    prepare()
    lines, every = [], []
    for place, (name, rows) in enumerate(list(_machines(given).items())[: given.machines]):
        own, error = fitted(rows)
        found = [
            solved(layer, own, error, objective, given.seconds)
            for layer in layers(rows, given.every, place)
            for objective in objectives
        ]
        if found:
            lines.append(_line(" ".join(name), found))
            every += found
            print("  ".join(lines[-1]), file=sys.stderr, flush=True)
    heading = ("machine", "solved", "proven", "above a row", "optimum / best row", "median CPU s", "most")
    show("Optima beside Timeloop's rows", heading, [*lines, _line("all", every)])
    return 1 if any(one.above for one in every) else 0


if __name__ == "__main__":
    sys.exit(main())
