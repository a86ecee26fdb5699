"""What no mapping of a whole kernel can beat.

A loop that runs n iterations takes (n + SC - 1) * II cycles. Its operations issue over L cycles at least, the longest
path of its graph with edges of latency minus distance * II, so that SC - 1 >= floor(L / II). L does not grow with II,
and a larger II may save more stages than it costs where n is small: the least is taken over every II from the proven
one on. What the host does, and what a start takes before its first cycle, is the same for all mappings.
"""

from __future__ import annotations

from collections.abc import Iterator

from mapper.arch.cgra import CgraMachine
from mapper.formulations.modulo_schedule.whole.problem import WholeProblem
from mapper.models.modulo_schedule.bound import mii
from mapper.models.modulo_schedule.latency import edge_latency
from mapper.models.modulo_schedule.network.cost import load_cycles
from mapper.models.modulo_schedule.whole.cost import exit_cycles, host_cycles, start_cycles
from mapper.workloads.graph.dataflow_graph import DataflowGraph


def longest_path(graph: DataflowGraph, machine: CgraMachine, ii: int) -> int:
    """Cycles between the first issue and the last of one iteration, at the least; ``ii`` is RecMII or more."""
    at = [0] * len(graph.operations)
    edges = [
        (edge.source, edge.destination, edge_latency(graph, machine, edge) - edge.distance * ii)
        for edge in graph.edges
    ]
    changed = True
    while changed:
        changed = False
        for source, destination, weight in edges:
            if at[source] + weight > at[destination]:
                at[destination] = at[source] + weight
                changed = True
    return max(at, default=0)


def loop_bound(problem: WholeProblem, kernel: int, ii: int) -> int:
    """Cycles of all starts of a loop at ``ii``, and of loading it once, at the least."""
    tally, machine = problem.tally, problem.machine
    stages = longest_path(problem.whole.kernels[kernel].graph, machine, ii) // ii
    return (tally.iterations(kernel) + tally.starts(kernel) * stages) * ii + load_cycles(machine, ii)


def intervals(problem: WholeProblem, kernel: int, least_ii: int | None = None) -> Iterator[int]:
    """IIs of a loop from ``least_ii`` (None: MII) on, up to where none is better; none for a loop that never starts."""
    tally, machine = problem.tally, problem.machine
    if not tally.starts(kernel):
        return
    ii = max(least_ii or 0, mii(problem.whole.kernels[kernel].graph, machine).value)
    best = loop_bound(problem, kernel, ii)
    yield ii
    # No II is better at which the iterations and the loading alone take as long.
    while (tally.iterations(kernel) * ii) + load_cycles(machine, ii) < best:
        ii += 1
        best = min(best, loop_bound(problem, kernel, ii))
        yield ii


def least_loop_cycles(problem: WholeProblem, kernel: int, least_ii: int | None = None) -> int:
    """The same at the best of these; 0 for a loop that never starts."""
    return min((loop_bound(problem, kernel, ii) for ii in intervals(problem, kernel, least_ii)), default=0)


def outside_cycles(problem: WholeProblem) -> int:
    """Cycles that all mappings share: the host's, and those around each start.

    Raises: InputError if data decide how often loops run.
    """
    tally, machine = problem.tally, problem.machine
    total = host_cycles(machine, tally.operations.items())
    for number, (kernel, start) in enumerate(zip(problem.whole.kernels, problem.whole.starts, strict=True)):
        around = start_cycles(machine, kernel) + exit_cycles(machine, len(start.results))
        total += tally.starts(number) * around
    return total


def bound(problem: WholeProblem, least: tuple[int | None, ...] = ()) -> int:
    """Cycles that no mapping beats; ``least``: proven bounds of the loops' intervals.

    Raises: InputError as ``outside_cycles``.
    """
    known = least or (None,) * len(problem.whole.kernels)
    return outside_cycles(problem) + sum(
        least_loop_cycles(problem, number, ii) for number, ii in enumerate(known)
    )
