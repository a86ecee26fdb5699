"""Evidence for mixed mode: what each run takes at the least, and potentials that add these up.

A run's least latency on so many PEs comes from the solver's own table, or from the search of its runs in the streaming
model; a tree (`refutation`) shows as much of it as the
potentials ask for. A run takes no less than any part of it, so that long runs seldom need a tree.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.delay import least_line_buffers
from mapper.formulations.pe_allocation.program.mixed.run_table import NEVER, run_table
from mapper.models.pe_allocation.storage import fused_words
from mapper.solver.method import Effort
from mapper.solver.pe_allocation.mixed.streamed_runs import StreamedRuns, run_network
from mapper.solver.pe_allocation.refutation import UNLIMITED, Refutation, Scope


def refuted_runs(problem: AllocationProblem, scope: Scope, effort: Effort) -> dict[str, Any]:
    """No allocation to runs keeps ``scope``: the tree for one run of all layers, potentials, and trees for shorter
    runs."""
    count = len(problem.network.layers)
    starts = tuple(range(count)) if problem.segments is None else problem.segments
    alone: list[Any] = []
    if problem.segments in (None, (0,)) and _has_room(problem, 0, count):
        alone = Refutation(problem, scope).nodes(effort)
    least = _latencies(problem, scope, effort) if len(starts) > 1 else {}
    potentials = _potentials(problem, starts, least, min(scope.interval, scope.cycles))
    known: dict[tuple[int, int], int] = {}
    trees: list[Any] = []
    pairs = combinations(range(count + 1), 2) if problem.segments is None else pairwise((*starts, count))
    for first, end in sorted(pairs, key=lambda ends: ends[1] - ends[0]):
        if (first, end) == (0, count):
            continue
        known[first, end] = max(known.get((first, end - 1), 0), known.get((first + 1, end), 0))
        gain = potentials[end] - potentials[first]
        if known[first, end] >= gain or not _has_room(problem, first, end):
            continue
        part = replace(problem, network=run_network(problem.network, first, end))
        tree = Refutation(part, Scope(scope.pes, UNLIMITED, gain - 1), every=True).nodes(effort)
        trees.append([first, end, gain if gain <= NEVER else None, tree])
        known[first, end] = gain
    return {
        "alone": alone,
        "potentials": [at if at <= NEVER else None for at in potentials],
        "runs": trees,
    }


def _latencies(problem: AllocationProblem, scope: Scope, effort: Effort) -> dict[tuple[int, int], int]:
    """The least latency of every run that is possible on the scope's PEs, or a bound in the streaming model."""
    if scope.pes == 0:
        return {}
    if problem.model == "streaming":
        runs = StreamedRuns(problem, scope.pes)
        runs.search(effort)
        bounds = runs.bounds()
        return {ends: math.ceil(bound) for ends, bound in bounds.items() if bound < math.inf}
    table = run_table(replace(problem, max_pes=scope.pes), lambda: effort.stopped() is not None)
    return {
        (run.first, run.last + 1): int(run.front.rows[-1][2])
        for begun in table.runs
        for run in begun
        if len(run.front.rows)
    }


def _potentials(
    problem: AllocationProblem, starts: tuple[int, ...], least: dict[tuple[int, int], int], limit: int
) -> list[int]:
    """The shortest way to every boundary between layers, no longer than it takes to pass ``limit``."""
    count = len(problem.network.layers)
    bounds = (*starts, count)
    reached = [UNLIMITED + 1] * (count + 1)
    reached[0] = 0
    for end in bounds[1:]:
        ways = [reached[at] + least[at, end] for at in starts if at < end and (at, end) in least]
        reached[end] = min([UNLIMITED + 1, *ways])
    for before, after in pairwise(bounds):
        for inner in range(before + 1, after):
            reached[inner] = reached[before]
    return [min(limit + 1, one) for one in reached]


def _has_room(problem: AllocationProblem, first: int, end: int) -> bool:
    if problem.most_bytes is None:
        return True
    weights, between = fused_words(problem.network, range(first, end))
    if problem.model == "streaming":
        between = least_line_buffers(run_network(problem.network, first, end))
    words = weights + between
    return words * problem.machine.word_bytes <= problem.most_bytes
