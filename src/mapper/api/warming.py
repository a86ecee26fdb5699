"""Compiling ahead: all that commands would otherwise compile when they first need it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from mapper.api.search import Search
from mapper.api.verb import simulate, solve
from mapper.kind import ENTRIES, imported
from mapper.solver.method import Method
from mapper.workloads.document import InputError
from mapper.workloads.text.nearest import meant

SAMPLES = {
    "tiling": (("resnet-dmazerunner/conv5_2", "dmazerunner-256"),),
    "modulo_schedule": (("gemm", "srp-4x4"), ("lenet5", "srp-2x2")),
    "pe_allocation": (("mnist-tcpa", "tcpa-4x4"), ("matmul", "tcpa-4x4")),
    "algorithm_selection": (("lenet5", "dynamap-u200"),),
    "trace_partition": (("lenet5", "snowflake-1cc"),),
    "hierarchy": (("matmul", "gemmini-16"),),
}
"""By kind: problems that are solved and simulated in seconds, and so have compiled what it needs beyond searches."""
SECONDS_PER_SAMPLE = 10.0


def steps(kinds: Sequence[str] = ()) -> Iterator[tuple[str, Callable[[], object]]]:
    """What there is to compile, by name, and what compiles it, for some kinds or, where none are named, for all. What
    has been compiled on this machine by this version is read from disk and takes no time.

    Raises: InputError for a kind that there is not.
    """
    known = list(dict.fromkeys(entry.name for entry in ENTRIES))
    for kind in kinds:
        if kind not in known:
            raise InputError(
                "warm-up", kind, f"is no kind; {meant(kind, known)}take one of {', '.join(known)}"
            )
    prepared: set[Callable[[], None]] = set()
    for entry in ENTRIES:
        if kinds and entry.name not in kinds:
            continue
        methods: dict[str, Method[object, object]] = imported(entry).methods()
        for method in methods.values():
            if method.prepare not in prepared:
                prepared.add(method.prepare)
                yield f"{entry.name}: {method.name}", method.prepare
        for workload, arch in SAMPLES[entry.name] if entry.schema is not None else ():
            yield f"{workload} on {arch}", partial(_run, workload, arch)


def _run(workload: str, arch: str) -> None:
    found = solve(workload, arch, search=Search(time_limit=SECONDS_PER_SAMPLE))
    if found.cost is not None:
        simulate(found.to_json())
