"""Pinned decisions of the kind ``modulo_schedule``: a kernel's interval, layers' algorithms."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from mapper.arch.cgra import CgraMachine
from mapper.workloads.document import InputError
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.text.number_text import whole_number

LEAST_LIMIT, MOST_INTERVAL = 1 << 10, 1 << 16
"""Intervals up to the first can always be pinned, beyond the second never."""


def pinned_interval(fix: Mapping[str, str], value: Kernel, machine: CgraMachine) -> int | None:
    """The initiation interval that ``ii=4`` pins, None if it is free.

    Raises: InputError for another decision, or a value that is no interval.
    """
    unknown = sorted(set(fix) - {"ii"})
    if unknown:
        raise InputError("--fix", unknown[0], "unknown decision; a kernel has ii")
    pinned = fix.get("ii")
    most = _most_interval(value, machine)
    fixed = None if pinned is None else whole_number(pinned, 1, most)
    if pinned is not None and fixed is None:
        raise InputError("--fix", "ii", f"{pinned[:40]!r} is not a whole number from 1 to {most}")
    return fixed


def pinned_algorithms(fix: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
    """The algorithm of each layer for which ``conv1.algorithm=im2col+gemm`` pins one, or ``algorithm=`` for all.

    Raises: InputError for a decision that no layer has.
    """
    pins: dict[str, str] = {}
    for key, value in fix.items():
        name, _, decision = key.rpartition(".")
        if decision != "algorithm" or (name and name not in names):
            raise InputError(
                "--fix", key, "unknown decision; a layer has algorithm, as in conv1.algorithm=im2col+gemm"
            )
        pins |= {one: value for one in names if name in ("", one)}
    return pins


def _most_interval(kernel: Kernel, machine: CgraMachine) -> int:
    """The largest interval that is worth to pin: in more cycles than all operations take one after another nothing
    changes but the size of the tables."""
    graph = kernel.graph
    serial = sum(machine.latency(operation.opcode) for operation in graph.operations)
    serial += sum(edge.latency or 0 for edge in graph.edges)
    return min(max(LEAST_LIMIT, serial), MOST_INTERVAL)
