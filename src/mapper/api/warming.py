"""Compiling ahead: all that commands would otherwise compile when they first need it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from mapper.api.search import Search
from mapper.api.verb import simulate, solve
from mapper.kind import ENTRIES, imported
from mapper.solver.method import Method

SAMPLES = (
    ("resnet-dmazerunner/conv5_2", "dmazerunner-256"),
    ("gemm", "srp-4x4"),
    ("lenet5", "srp-2x2"),
    ("mnist-tcpa", "tcpa-4x4"),
    ("matmul", "tcpa-4x4"),
    ("lenet5", "dynamap-u200"),
    ("lenet5", "snowflake-1cc"),
    ("matmul", "gemmini-16"),
)
"""Problems that are solved and simulated in seconds, and so have compiled what their kinds need beyond searches."""
SECONDS_PER_SAMPLE = 10.0


def steps() -> Iterator[tuple[str, Callable[[], object]]]:
    """What there is to compile, by name, and what compiles it. What has been compiled on this machine by this version
    is read from disk and takes no time."""
    prepared: set[Callable[[], None]] = set()
    for entry in ENTRIES:
        methods: dict[str, Method[object, object]] = imported(entry).methods()
        for method in methods.values():
            if method.prepare not in prepared:
                prepared.add(method.prepare)
                yield f"{entry.name}: {method.name}", method.prepare
    for workload, arch in SAMPLES:
        yield f"{workload} on {arch}", partial(_run, workload, arch)


def _run(workload: str, arch: str) -> None:
    found = solve(workload, arch, search=Search(time_limit=SECONDS_PER_SAMPLE))
    if found.cost is not None:
        simulate(found.to_json())
