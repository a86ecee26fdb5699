"""No paper: what ``solve`` reports against what ``simulate`` measures, for every kind."""

from __future__ import annotations

from functools import partial

from bench.promise import BESIDE, NETWORKS, PROMISES, Kept, Promise, kept
from docs.papers.row import Found, Item, Paper, Row
from mapper import InputError

SEARCH = 30.0
"""Seconds of one search."""
SOME = ("lenet5", "cifar10", "squeezenet", "resnet18")
"""Networks where a run of one takes minutes; ``python -m bench.promise`` does them all."""


def rows(promise: Promise, workloads: tuple[str, ...]) -> Found:
    """A row for every workload that the machine runs: cycles."""
    found = []
    for workload in workloads:
        try:
            found.append(row(kept(promise, workload, SEARCH)))
        except (InputError, ValueError) as error:
            reason = " ".join(str(error).split())
            found.append(Row(workload, "cycles", "none", "", None, f"not run on {promise.machine}: {reason}"))
    return Found(tuple(found))


def row(one: Kept) -> Row:
    """Reported and simulated cycles, with the verdict on the promise."""
    if one.reported == one.simulated:
        reason = ""
    else:
        said = "within" if one.within else "BEYOND"
        reason = (
            f"{100 * float(one.off):+.2f} %, {said} the tolerance of {100 * float(one.promise.tolerance):g} %"
        )
    return Row(one.workload, "cycles", one.reported, "", one.simulated, reason)


def _items(promise: Promise) -> tuple[Item, ...]:
    """One for networks, and one for what the kind maps beside them."""
    networks = NETWORKS if promise.kind in ("tiling", "pe_allocation") else SOME
    if promise.kind == "modulo_schedule":
        networks = ("lenet5",)
    about = f"Least of the default objective on {promise.machine}; searches are cut after {SEARCH:g} s."
    found = [Item(promise.kind, about, 1200, partial(rows, promise, networks))]
    if promise.kind in BESIDE:
        place = f"{promise.kind}, nests and kernels"
        found.append(Item(place, about, 600, partial(rows, promise, BESIDE[promise.kind])))
    return tuple(found)


PAPER = Paper(
    "promise",
    "What solve reports, and what simulate measures",
    "No paper: under \u201cpublished\u201d stands what solve reports of its solution, under \u201ccomputed\u201d what "
    "the simulator of the kind measures when it runs that solution.",
    tuple(item for promise in PROMISES for item in _items(promise)),
)
