"""Kernels by ``auto`` and by ``cp-sat`` alone: how much longer ``auto`` takes to an answer than what its heuristics may
take of the limit, and whether it proves what ``cp-sat`` proves."""

from __future__ import annotations

import argparse
from functools import partial

import mapper
from bench.measure import Measured, measure, show
from mapper.api.search import Search
from mapper.api.solution import Solution
from mapper.solver.modulo_schedule.catalogue import AUTOMATIC, BEGINNING, STAGES
from mapper.solver.modulo_schedule.exact.constraint_program import CONSTRAINT_PROGRAM
from mapper.workloads.graph.kernel_catalogue import KERNELS

MACHINES = ("srp-4x4", "torus-3x3")
EACH = ("II", "proven", "s", "CPU s")


def heuristics_share() -> float:
    """The share of a limit that heuristics take at the most before CP-SAT begins."""
    left = 1.0 - BEGINNING
    for method, _, share in STAGES:
        if method is CONSTRAINT_PROGRAM:
            break
        left *= 1.0 - share
    return 1.0 - left


def solved(workload: str, arch: str, method: str, seconds: float) -> Measured[Solution]:
    """A kernel from nothing, on two workers."""
    return measure(partial(mapper.solve, workload, arch, search=Search(method, seconds, workers=2)))


def cells(run: Measured[Solution]) -> list[str]:
    """What `EACH` says of a run."""
    found = run.result.certificate
    return [str(found.value or "–"), "yes" if found.proven else "no", f"{run.wall:.1f}", f"{run.cpu:.1f}"]


def main() -> None:
    """Print a line for each kernel and machine, and how often ``auto`` falls behind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arch", nargs="*", default=list(MACHINES))
    parser.add_argument("--workload", nargs="*", default=list(KERNELS))
    parser.add_argument("--seconds", type=float, default=10.0)
    given = parser.parse_args()
    allowed = heuristics_share() * given.seconds
    lines, slower, unproven = [], 0, 0
    for arch in given.arch:
        for workload in given.workload:
            auto = solved(workload, arch, AUTOMATIC.name, given.seconds)
            alone = solved(workload, arch, CONSTRAINT_PROGRAM.name, given.seconds)
            proven = alone.result.certificate.proven
            is_slower = proven and auto.wall > alone.wall + allowed
            slower += is_slower
            unproven += proven and not auto.result.certificate.proven
            name, ratio = f"{workload} on {arch}", f"{auto.wall / alone.wall:.2f}"
            lines.append([name, *cells(auto), *cells(alone), ratio, "yes" if is_slower else "no"])
    heading = [f"{method}: {one}" for method in ("auto", "cp-sat") for one in EACH]
    title = f"Limit {given.seconds:g} s, of which heuristics may take {allowed:.1f} s before CP-SAT:"
    show(title, ["kernel", *heading, "ratio", "slower"], lines)
    print(f"auto slower than cp-sat by more than that: {slower} of {len(lines)}")
    print(f"proven by cp-sat alone and not by auto: {unproven}")


if __name__ == "__main__":
    main()
