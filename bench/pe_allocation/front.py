"""Pareto fronts of PE allocation, and mixed mode: points, whether these are all, seconds; mixed mode against one run.

Fronts have a limit of ``SECONDS`` each. Mixed mode is held against layers in parallel on the same array.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial

from bench.measure import measure, show
from mapper.arch.source import load_machine
from mapper.arch.tcpa import TcpaMachine
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.models.pe_allocation.cost import Model
from mapper.models.pe_allocation.mapping import Mode
from mapper.models.pe_allocation.stream.layer import stream_network
from mapper.solver.method import Effort
from mapper.solver.pe_allocation.mixed.exact import search_mixed
from mapper.solver.pe_allocation.parallel.front import front
from mapper.workloads.source import load_layers

SECONDS = 60.0
CASES: tuple[tuple[str, str, Mode, Model], ...] = (
    ("mnist-tcpa", "tcpa-4x4", "layer-parallel", "calculus"),
    ("mnist-tcpa", "tcpa-4x4", "layer-parallel", "streaming"),
    ("mnist-tcpa", "tcpa-4x4", "mixed", "calculus"),
    ("mnist-tcpa", "tcpa-8x8", "mixed", "calculus"),
    ("lenet5", "tcpa-8x8", "layer-parallel", "streaming"),
    ("lenet5", "tcpa-8x8", "mixed", "calculus"),
    ("alexnet", "tcpa-8x8", "layer-parallel", "calculus"),
    ("alexnet", "tcpa-8x8", "layer-parallel", "streaming"),
    ("alexnet", "tcpa-8x8", "mixed", "calculus"),
    ("squeezenet", "tcpa-8x8", "layer-parallel", "calculus"),
    ("squeezenet", "tcpa-8x8", "mixed", "calculus"),
    ("vgg19", "tcpa-64x64", "layer-parallel", "calculus"),
    ("googlenet", "tcpa-16x16", "layer-parallel", "calculus"),
    ("googlenet", "tcpa-64x64", "layer-parallel", "calculus"),
)
"""Networks, arrays, modes and models."""


def main() -> None:
    """Print one line per front, and one per network of what fusing some layers gains over fusing all."""
    lines = [_front(*case) for case in CASES]
    show("Pareto fronts", ["network and array", "mode", "model", "points", "all", "seconds", "CPU s"], lines)
    compared = [
        _mixed(name, array)
        for name, array in (
            ("mnist-tcpa", "tcpa-4x4"),
            ("lenet5", "tcpa-8x8"),
            ("alexnet", "tcpa-8x8"),
            ("squeezenet", "tcpa-8x8"),
        )
    ]
    heading = [
        "network and array",
        "one run, fps",
        "mixed, fps",
        "ratio",
        "runs",
        "proven",
        "seconds",
        "CPU s",
    ]
    show("Mixed mode against layers in parallel", heading, compared)


def _problem(name: str, array: str, mode: Mode, model: Model = "calculus") -> AllocationProblem:
    machine, _ = load_machine(array)
    assert isinstance(machine, TcpaMachine)
    return AllocationProblem(stream_network(load_layers(name, None)), machine, model=model, mode=mode)


def _effort() -> Effort:
    return Effort(deadline=time.monotonic() + SECONDS)


def _front(name: str, array: str, mode: Mode, model: Model) -> list[str]:
    problem = _problem(name, array, mode, model)
    run = measure(partial(front, problem, _effort()))
    found = run.result
    complete = "yes" if found.complete else "no"
    return [
        f"{name} on {array}",
        mode,
        model,
        str(len(found.points)),
        complete,
        f"{run.wall:.2f}",
        f"{run.cpu:.2f}",
    ]


def _mixed(name: str, array: str) -> list[str]:
    problem = _problem(name, array, "mixed")
    fused = search_mixed(replace(problem, segments=(0,)), _effort())
    run = measure(partial(search_mixed, problem, _effort()))
    best = run.result
    line = [f"{name} on {array}"]
    if fused.value is None or best.value is None or best.mapping is None:
        return [*line, *["–"] * 5, f"{run.wall:.2f}", f"{run.cpu:.2f}"]
    ratio = f"{best.value / fused.value:.3f}"
    runs = str(len(best.mapping.segments))
    proven = "yes" if best.proven and fused.proven else "no"
    return [
        *line,
        f"{fused.value:.1f}",
        f"{best.value:.1f}",
        ratio,
        runs,
        proven,
        f"{run.wall:.2f}",
        f"{run.cpu:.2f}",
    ]


if __name__ == "__main__":
    main()
