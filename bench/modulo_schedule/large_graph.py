"""Graphs and arrays beyond the usual size: what is found within a limit, with which bound, and whether the limit
is kept."""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence
from functools import partial

from bench.measure import Measured, measure, peak_mebibytes, show
from mapper.arch.cgra import CgraMachine
from mapper.arch.source import load_machine
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.referee.verify import verify
from mapper.models.modulo_schedule.bound import mii
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.solver.method import Effort, Method
from mapper.solver.modulo_schedule.catalogue import AUTOMATIC, METHODS
from mapper.solver.modulo_schedule.exact.decoupled import DECOUPLED
from mapper.solver.outcome import Outcome
from mapper.workloads.document import InputError
from mapper.workloads.graph.dataflow_graph import DataflowGraph, Edge, Operation
from mapper.workloads.graph.kernel import Kernel

SECTIONS = ("middle", "large-array", "huge-graph")
MIDDLE_SIZES = (50, 60, 70, 80, 90, 100)
MIDDLE_ARRAY = "mesh-8x8"
LARGE_ARRAYS = ("mesh-20x20", "torus-20x20")
LARGE_ARRAY_SIZE, LARGE_ARRAY_SECONDS = 25, 60.0
HUGE_SIZE, HUGE_SECONDS = 2000, 5.0
WIDTH = 8
"""Operations of a layer, up to."""
FURTHEST = 3
"""Iterations that a recurrence spans, up to."""

Run = Measured[Outcome[ModuloSchedule]]
HEADING = ("graph", "method", "MII", "II", "bound", "proven", "valid", "wall s", "CPU s", "wall / limit")


def layered(size: int, seed: int) -> Kernel:
    """A random graph of ``size`` operations in layers of up to ``WIDTH``: one or two operands each, mostly of the
    layer before, and every twentieth operation closes a recurrence over a few layers."""
    draw = random.Random(seed)
    layers: list[list[int]] = []
    while sum(map(len, layers)) < size:
        first = sum(map(len, layers))
        layers.append(list(range(first, min(size, first + draw.randint(2, WIDTH)))))
    edges = []
    for depth, layer in enumerate(layers[1:], start=1):
        for operation in layer:
            for operand in range(draw.randint(1, 2)):
                above = layers[max(0, depth - draw.choice((1, 1, 1, 2)))]
                edges.append(Edge(draw.choice(above), operation, operand))
    readers = {edge.source: edge.destination for edge in edges}
    for start in draw.sample(range(size), size // 20):
        end = start
        for _ in range(draw.randint(1, FURTHEST)):
            end = readers.get(end, end)
        edges.append(Edge(end, start, 2, draw.randint(1, FURTHEST), initial=()))
    operations = tuple(Operation(f"v{place}", "op") for place in range(size))
    return Kernel(
        f"{size} operations, seed {seed}", DataflowGraph(f"layered{size}", operations, tuple(edges))
    )


def main() -> None:
    """Print one table per section that is asked for, all of them by default."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", default=list(SECTIONS), help=", ".join(SECTIONS))
    parser.add_argument("--sizes", nargs="+", type=int, default=list(MIDDLE_SIZES))
    parser.add_argument("--seeds", type=int, default=2, help="graphs of each size")
    parser.add_argument("--seconds", type=float, default=120.0, help=f"limit on {MIDDLE_ARRAY}")
    given = parser.parse_args()
    if unknown := sorted(set(given.sections) - set(SECTIONS)):
        parser.error(f"{unknown[0]!r} is not one of {', '.join(SECTIONS)}")
    AUTOMATIC.prepare()
    if "middle" in given.sections:
        middle = [layered(size, seed) for size in given.sizes for seed in range(given.seeds)]
        lines = [_line(kernel, MIDDLE_ARRAY, AUTOMATIC, given.seconds) for kernel in middle]
        show(f"Random layered graphs on {MIDDLE_ARRAY}, {given.seconds:g} s:", HEADING, lines)
    if "large-array" in given.sections:
        small = [layered(LARGE_ARRAY_SIZE, seed) for seed in range(given.seeds)]
        lines = [
            _line(kernel, array, DECOUPLED, LARGE_ARRAY_SECONDS) for array in LARGE_ARRAYS for kernel in small
        ]
        show(f"{LARGE_ARRAY_SIZE} operations on large arrays, {LARGE_ARRAY_SECONDS:g} s:", HEADING, lines)
    if "huge-graph" in given.sections:
        huge = layered(HUGE_SIZE, 0)
        lines = [_line(huge, MIDDLE_ARRAY, method, HUGE_SECONDS) for method in METHODS.values()]
        show(f"A graph beyond every method on {MIDDLE_ARRAY}, {HUGE_SECONDS:g} s:", HEADING, lines)
    print(f"peak memory {peak_mebibytes():.0f} MiB")


def _line(
    kernel: Kernel, array: str, method: Method[ModuloProblem, ModuloSchedule], seconds: float
) -> Sequence[str]:
    machine, _ = load_machine(array)
    assert isinstance(machine, CgraMachine)
    problem = ModuloProblem(kernel, machine)
    method.prepare()
    try:
        run: Run = measure(partial(_search, problem, method, seconds))
    except InputError as error:
        return [kernel.name, method.name, "–", error.remedy, *["–"] * 6]
    found = run.result
    valid = "–" if found.mapping is None else "NO" if verify(problem, found.mapping).broken else "yes"
    return [
        f"{kernel.name}, {array}",
        method.name,
        str(mii(kernel.graph, machine).value),
        found.stop if found.value is None else str(found.value),
        "–" if found.bound is None else str(found.bound),
        "yes" if found.proven else "no",
        valid,
        f"{run.wall:.1f}",
        f"{run.cpu:.1f}",
        f"{run.wall / seconds:.2f}",
    ]


def _search(
    problem: ModuloProblem, method: Method[ModuloProblem, ModuloSchedule], seconds: float
) -> Outcome[ModuloSchedule]:
    return method.search(problem, Effort(time.monotonic() + seconds, workers=2))


if __name__ == "__main__":
    main()
