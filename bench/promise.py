"""What ``solve`` reports against what ``simulate`` measures: every kind on what it takes of the catalogue.

Each of them is solved for the kind's default objective and its solution is simulated. A kind keeps its promise where
cycles are no further apart than the tolerance that its documentation states.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mapper
from bench.measure import show
from mapper.api.search import Search
from mapper.workloads.catalogue import CATALOGUE
from mapper.workloads.graph.kernel_source import kernel_names

NETWORKS = tuple(name for name, entry in CATALOGUE.items() if entry.origin != "document")
NESTS = tuple(name for name, entry in CATALOGUE.items() if entry.origin == "document")
KERNELS = tuple(name for name, _ in kernel_names())
BESIDE = {"tiling": NESTS, "pe_allocation": NESTS, "hierarchy": NESTS, "modulo_schedule": KERNELS}
"""What kinds map beside networks."""


@dataclass(frozen=True)
class Promise:
    """A kind's usual machine, and by what part of the simulated cycles the reported ones may be off."""

    kind: str
    machine: str
    tolerance: Fraction

    @property
    def workloads(self) -> tuple[str, ...]:
        """All of the catalogue that the kind maps."""
        return NETWORKS + BESIDE.get(self.kind, ())


PROMISES = (
    Promise("tiling", "dmazerunner-256", Fraction(0)),
    Promise("modulo_schedule", "srp-4x4", Fraction(0)),
    Promise("pe_allocation", "tcpa-16x16", Fraction(1, 20)),
    Promise("trace_partition", "snowflake-1cc", Fraction(1, 20)),
    Promise("algorithm_selection", "dynamap-u200", Fraction(1, 20)),
    Promise("hierarchy", "eyeriss-like", Fraction(0)),
)


@dataclass(frozen=True)
class Kept:
    """Cycles reported and simulated, and the simulation's verdict on outputs and costs."""

    promise: Promise
    workload: str
    reported: int
    simulated: int
    equal: bool
    agrees: bool

    @property
    def off(self) -> Fraction:
        """By what part of the simulated cycles the reported ones are off; negative if they are fewer."""
        return Fraction(self.reported - self.simulated, self.simulated)

    @property
    def within(self) -> bool:
        """Whether the promise is kept."""
        return self.equal and abs(self.off) <= self.promise.tolerance


def kept(promise: Promise, workload: str, seconds: float | None = None, method: str = "auto") -> Kept:
    """Solve ``workload`` within ``seconds`` by a method and simulate the solution.

    Raises: InputError if the machine cannot run it; ValueError if there is no solution.
    """
    solution = mapper.solve(workload, promise.machine, search=Search(method, seconds))
    if not solution.certificate.found:
        raise ValueError(f"{workload} has no solution on {promise.machine} within {seconds} s")
    found: dict[str, Any] = mapper.simulate(solution.to_json())
    reported, simulated = (found[key]["cycles"] for key in ("cost_model", "cost_simulated"))
    return Kept(promise, workload, reported, simulated, found["outputs_equal"], found["agrees"])


def main() -> int:
    """Exit code 1 if a promise is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="limit of one search")
    parser.add_argument("--kind", choices=[one.kind for one in PROMISES], action="append")
    parser.add_argument(
        "--only", action="append", metavar="WORKLOAD", help="workloads (default: the catalogue)"
    )
    given = parser.parse_args()
    lines, broken = [], 0
    for promise in (one for one in PROMISES if not given.kind or one.kind in given.kind):
        for workload in given.only or promise.workloads:
            print(f"{workload} on {promise.machine}", file=sys.stderr, flush=True)
            try:
                one = kept(promise, workload, given.seconds)
            except (mapper.InputError, ValueError) as error:
                lines.append((promise.kind, workload, "", "", "", " ".join(str(error).split())[:90]))
                continue
            broken += not one.within
            lines.append((promise.kind, workload, *cells(one)))
    show("reported and simulated", ("kind", "workload", "reported", "simulated", "off", "verdict"), lines)
    return 1 if broken else 0


def cells(one: Kept) -> tuple[str, str, str, str]:
    """Cycles, difference and verdict as text."""
    verdict = f"within {float(100 * one.promise.tolerance):g} %" if one.within else "BROKEN"
    return f"{one.reported:,}", f"{one.simulated:,}", f"{100 * float(one.off):+.2f} %", verdict


if __name__ == "__main__":
    sys.exit(main())
