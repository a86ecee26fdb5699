"""Proofs of what ``mapper`` claims, written, checked and measured: what is certified, and what is not and why.

The main job under three objectives; every network of the catalogue on tiling, overlay, TCPA and Snowflake machines;
every kernel of the catalogue on four arrays; PBQP instances. Each is solved within ``--seconds``, and its proofs are
checked by the program that anybody may run. Of what is bounded, a checker accepted value and bound. Exit code 1 if one
is refuted.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mapper
from bench.measure import show
from bench.pbqp.random_instance import k_tree, series_parallel
from mapper.api.search import Search
from mapper.proving.checker import check
from mapper.proving.proof_document import certify, write_proofs
from mapper.solver.method import Effort
from mapper.workloads.catalogue import catalogue_names
from mapper.workloads.graph.kernel_catalogue import KERNELS
from mapper.workloads.pbqp.file import write_pbqp
from mapper.workloads.pbqp.instance import PbqpInstance
from mapper.workloads.process.temporary import temporary_folder

KERNEL_ARRAYS = ("srp-2x2", "srp-4x4", "mesh-3x3", "torus-4x4")
MACHINES = ("dmazerunner-256", "dynamap-u200", "tcpa-16x16", "snowflake-1cc")
INSTANCES: dict[str, Callable[[], PbqpInstance]] = {
    "series-parallel N=1e4 d=10": lambda: series_parallel(10**4, 10, 1),
    "series-parallel N=1e5 d=3": lambda: series_parallel(10**5, 3, 1),
    "series-parallel N=1e5 d=10": lambda: series_parallel(10**5, 10, 1),
    "partial 3-tree N=1e4 d=10": lambda: k_tree(10**4, 10, 3, 0.8, 1),
}
LONGEST_REASON = 90


@dataclass(frozen=True)
class Case:
    """A problem as ``mapper solve`` takes it."""

    name: str
    workload: str
    arch: str | None
    objective: str | None = None


def main() -> int:
    """Print one line per solution and what of it is not certified."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="limit of one search")
    parser.add_argument("--only", default="", help="cases whose name holds this text")
    given = parser.parse_args()
    lines, refuted, total = [], 0, Counter[str]()
    with temporary_folder() as folder:
        for case in cases(folder):
            if given.only not in case.name:
                continue
            print(case.name, file=sys.stderr, flush=True)
            statuses, line = _line(case, folder, given.seconds)
            lines.append(line)
            total += statuses
            refuted += statuses["refuted"] + statuses["malformed"]
    heading = [
        "problem",
        "parts",
        "certified",
        "bounded",
        "by solver",
        "refuted",
        "kB",
        "solve s",
        "prove s",
        "check s",
        "not certified",
    ]
    show(
        f"Proofs, checked by checkers/check_KIND.py (searches of {given.seconds:g} s at the most):",
        heading,
        lines,
    )
    print(", ".join(f"{count} {status}" for status, count in total.most_common()))
    return 1 if refuted else 0


def cases(folder: Path) -> Iterator[Case]:
    """Everything that is solved and checked."""
    for objective in ("edp", "energy", "latency"):
        yield Case(f"resnet-dmazerunner, {objective}", "resnet-dmazerunner", "dmazerunner-256", objective)
    networks = [
        name
        for name, text in catalogue_names()
        if name != "resnet-dmazerunner" and not text.startswith(("loop nest", "kernel"))
    ]
    for machine in MACHINES:
        for network in networks:
            yield Case(f"{network} on {machine}", network, machine)
    for array in KERNEL_ARRAYS:
        for kernel in KERNELS:
            yield Case(f"{kernel} on {array}", kernel, array)
    for name, make in INSTANCES.items():
        path = folder / f"{len(name)}.pbqp"
        write_pbqp(make(), path)
        yield Case(f"pbqp {name}", str(path), None)


def _line(case: Case, folder: Path, seconds: float) -> tuple[Counter[str], list[str]]:
    try:
        began = time.perf_counter()
        search = Search(time_limit=seconds)
        solution = mapper.solve(case.workload, case.arch, case.objective, search=search)
        solved = time.perf_counter()
        proofs = certify(solution, Effort(deadline=time.monotonic() + seconds))
        path = folder / "proofs.json"
        write_proofs(proofs, path, "proofs")
        proven = time.perf_counter()
        checked = check(path)
        ended = time.perf_counter()
    except mapper.InputError as error:
        return Counter(), [case.name, *["–"] * 9, str(error)[:LONGEST_REASON]]
    statuses = Counter(_said(proof, status) for proof, (_, status, _) in zip(proofs, checked, strict=True))
    reasons = Counter(reason for _, status, reason in checked if status != "certified")
    why = "; ".join(f"{count}x {reason[:LONGEST_REASON]}" for reason, count in reasons.most_common(2))
    times = (solved - began, proven - solved, ended - proven)
    return statuses, [
        case.name,
        str(len(checked)),
        str(statuses["certified"]),
        str(statuses["bounded"]),
        str(statuses["not certified"]),
        str(statuses["refuted"] + statuses["malformed"]),
        f"{path.stat().st_size / 1000:,.0f}",
        *(f"{one:.1f}" for one in times),
        why,
    ]


def _said(proof: dict[str, Any], status: str) -> str:
    """What a checker said of a proof; a bound that it accepted is no optimum."""
    bounded = status == "certified" and proof["claim"]["status"] == "bounded"
    return "bounded" if bounded else status


if __name__ == "__main__":
    raise SystemExit(main())
