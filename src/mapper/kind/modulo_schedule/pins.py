"""Pinned decisions of the kind ``modulo_schedule``: a kernel's interval, layers' algorithms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from mapper.arch.cgra import CgraMachine
from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.workloads.document import InputError
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.text.nearest import meant
from mapper.workloads.text.number_text import whole_number

DECISIONS = ("algorithm", "im2col")
"""What can be pinned of a layer."""
LEAST_LIMIT, MOST_INTERVAL = 1 << 10, 1 << 16
"""Intervals up to the first can always be pinned, beyond the second never."""


def pinned_interval(fix: Mapping[str, str], value: Kernel, machine: CgraMachine) -> int | None:
    """The initiation interval that ``ii=4`` pins, None if it is free.

    Raises: InputError for another decision, or a value that is no interval.
    """
    unknown = sorted(set(fix) - {"ii"})
    if unknown:
        raise InputError(
            "--fix",
            unknown[0],
            f"unknown decision; {meant(unknown[0], ('ii', 'nest'))}a loop has ii, and a function in C nest",
        )
    pinned = fix.get("ii")
    most = _most_interval(value, machine)
    fixed = None if pinned is None else whole_number(pinned, 1, most)
    if pinned is not None and fixed is None:
        raise InputError("--fix", "ii", f"{pinned[:40]!r} is not a whole number from 1 to {most}")
    return fixed


def pinned_layers(fix: Mapping[str, str], problems: Sequence[LayerProblem]) -> list[LayerProblem]:
    """The problems with what ``conv1.algorithm=im2col+gemm`` or ``conv1.im2col=array`` pins, or ``im2col=array`` for
    all layers that offer it.

    Raises: InputError for a decision that no layer has, or a value that it cannot take.
    """
    names = {problem.layer.name: place for place, problem in enumerate(problems)}
    found = list(problems)
    for key, value in fix.items():
        name, _, decision = key.rpartition(".")
        if decision not in DECISIONS or (name and name not in names):
            keys = [f"{one}.{word}" for one in names for word in DECISIONS]
            remedy = (
                f"unknown decision; {meant(key, (*DECISIONS, *keys))}"
                "a layer has algorithm and im2col, as in conv1.algorithm=im2col+gemm"
            )
            raise InputError("--fix", key, remedy)
        pinned = {
            place: _pinned(found[place], decision, value) for one, place in names.items() if name in ("", one)
        }
        offering = {place: problem for place, problem in pinned.items() if problem.choices}
        if not offering:
            raise InputError(
                "--fix", key, f"{value[:40]!r} is not one of {_offered(found, pinned, decision)}"
            )
        for place, problem in offering.items():
            found[place] = problem
    return found


def _pinned(problem: LayerProblem, decision: str, value: str) -> LayerProblem:
    return replace(problem, algorithm=value) if decision == "algorithm" else replace(problem, im2col=value)


def _offered(problems: Sequence[LayerProblem], places: Iterable[int], decision: str) -> str:
    choices = [choice for place in places for choice in problems[place].choices]
    values = [choice.name if decision == "algorithm" else choice.im2col for choice in choices]
    return ", ".join(dict.fromkeys(value for value in values if value)) or "the decisions of this layer"


def _most_interval(kernel: Kernel, machine: CgraMachine) -> int:
    """The largest interval that is worth to pin: in more cycles than all operations take one after another nothing
    changes but the size of the tables."""
    graph = kernel.graph
    serial = sum(machine.latency(operation.opcode) for operation in graph.operations)
    serial += sum(edge.latency or 0 for edge in graph.edges)
    return min(max(LEAST_LIMIT, serial), MOST_INTERVAL)
