"""Measuring and printing: CPU and wall seconds of a call, and tables of ratios."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from mapper.arch.source import load_machine
from mapper.cli.table import print_table
from mapper.formulations.tiling.problem import Objective, TilingProblem
from mapper.workloads.source import load_network

T = TypeVar("T")


@dataclass(frozen=True)
class Measured(Generic[T]):
    """What a call returned, and the seconds it took."""

    result: T
    wall: float
    cpu: float


def measure(call: Callable[[], T]) -> Measured[T]:
    """Call once and take the time."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = call()
    return Measured(result, time.perf_counter() - wall, time.process_time() - cpu)


def peak_mebibytes() -> float:
    """Largest memory this process has taken, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def show(title: str, heading: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    """Print one table."""
    print(title)
    print_table(heading, lines)


def layer_problems(objective: Objective) -> dict[str, TilingProblem]:
    """The six layers of the paper on its machine, batch 4."""
    machine, _ = load_machine("dmazerunner-256")
    layers = load_network("resnet-dmazerunner").layers
    return {layer.name: TilingProblem(layer.nest, machine, objective) for layer in layers}
