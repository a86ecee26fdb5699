"""All runs of fused layers that mixed mode can be made of: their trade-offs, words and traffic.

Runs follow each other, so that each has the whole array for itself and the network's numbers are

    P = max_r P_r,    L = sum_r L_r = the interval between frames (two runs or more),    B = max_r B_r.

With at most P PEs every run takes its own least latency, whatever the others do; with every map off the chip its words
are its own as well (weights and intermediate words, [Heidorn2019], Eq. 15). Maps that stay on the chip save traffic
and cost words, but no time: with time, PEs or buffers as criteria none needs to stay, and those that may are chosen
at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from mapper.formulations.objective import THROUGHPUT
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.mixed.fused_run import RunFront, RunPoint, Scope, grow
from mapper.models.pe_allocation.cost import evaluate
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.storage import entering_words, fused_words, leaving_words

Table = npt.NDArray[np.int64]
NEVER = 1 << 60
"""Cycles of what cannot be."""


@dataclass(frozen=True, eq=False)
class Run:
    """Layers ``first`` to ``last``: its words if no map stays on the chip, its traffic then, and its trade-offs of PEs
    and latency, PEs ascending."""

    first: int
    last: int
    words: int
    traffic: int
    front: RunFront


@dataclass(frozen=True)
class Partition:
    """Runs that follow each other, each with the trade-off it takes."""

    runs: tuple[Run, ...]
    points: tuple[RunPoint, ...]


@dataclass(frozen=True)
class RunTable:
    """Every run but the one of all layers, by its first layer, and numbers of PEs at which one gets faster."""

    count: int
    runs: tuple[tuple[Run, ...], ...]
    pes: tuple[int, ...]
    complete: bool

    def words(self) -> tuple[int, ...]:
        """The words that single runs need, ascending."""
        return tuple(sorted({run.words for begun in self.runs for run in begun}))

    @cached_property
    def latency(self) -> dict[Run, Table]:
        """The least latency of each run with at most each of ``pes``."""
        return {run: self._latency(run) for begun in self.runs for run in begun}

    def _latency(self, run: Run) -> Table:
        found = np.full(len(self.pes), NEVER, dtype=np.int64)
        for pes, _, cycles in run.front.rows:
            found[np.searchsorted(self.pes, pes) :] = cycles
        return found


def run_table(
    problem: AllocationProblem, stopped: Callable[[], bool], known: Allocation | None = None
) -> RunTable:
    """The runs that keep the problem's limits and pins, two or more of which are a network.

    Runs that alone take longer than all of the allocation ``known`` are in no better one, and left out. Short ones
    come first: if ``stopped`` says so before all are found, ``complete`` is False and those of up to some number of
    layers are there.
    """
    count = len(problem.network.layers)
    starts = tuple(range(count)) if problem.segments is None else problem.segments
    ends = {*(start - 1 for start in starts[1:]), count - 1}
    growing = {first: _growing(problem, first, stopped, known) for first in starts}
    found: dict[int, list[Run]] = {first: [] for first in starts}
    while growing:
        for first in tuple(growing):
            run = next(growing[first], None)
            if run is None:
                del growing[first]
                continue
            if run.last in ends and (first, run.last) != (0, count - 1):
                found[first].append(run)
            if run.last in ends and problem.segments is not None:
                del growing[first]
    runs = tuple(tuple(found.get(first, ())) for first in range(count))
    pes = sorted({int(row[0]) for begun in runs for run in begun for row in run.front.rows})
    return RunTable(count, runs, tuple(pes), not stopped())


def _growing(
    problem: AllocationProblem, first: int, stopped: Callable[[], bool], known: Allocation | None
) -> Iterator[Run]:
    network = problem.network
    most = None if problem.most_bytes is None else problem.most_bytes // problem.machine.word_bytes
    scope = Scope(problem.most_pes)
    if known is not None:
        cost = evaluate(network, problem.machine, known, problem.model)
        if problem.objective == "pes":
            scope = Scope(min(problem.most_pes, cost.pes))
        else:
            scope = Scope(
                problem.most_pes, latest=cost.interval if problem.goal == THROUGHPUT else cost.cycles
            )
    for last, front in grow(problem, first, scope, stopped):
        members = range(first, last + 1)
        weights, between = fused_words(network, members)
        if most is not None and weights + between > most:
            # A longer run needs no fewer words.
            return
        traffic = weights + entering_words(network, members) + leaving_words(network, members)
        yield Run(first, last, weights + between, traffic, front)


class Partitions:
    """The best partitions of a table's runs whose words are at most ``words``, for every number of PEs.

    A shortest path over the boundaries between layers: least latency, then least traffic with all maps off the chip.
    """

    def __init__(self, table: RunTable, words: int | None) -> None:
        self.table = table
        width = len(table.pes)
        self.cycles = np.full((table.count + 1, width), NEVER, dtype=np.int64)
        self.traffic = np.zeros((table.count + 1, width), dtype=np.int64)
        self.came = np.zeros((table.count + 1, width), dtype=np.int64)
        self.cycles[0] = 0
        for first, begun in enumerate(table.runs):
            for run in begun:
                if words is None or run.words <= words:
                    self._relax(first, run, table.latency[run])

    def _relax(self, first: int, run: Run, latency: Table) -> None:
        end = run.last + 1
        cycles, traffic = self.cycles[first] + latency, self.traffic[first] + run.traffic
        same = (cycles == self.cycles[end]) & (traffic < self.traffic[end])
        better = ((cycles < self.cycles[end]) | same) & (cycles < NEVER)
        self.cycles[end][better] = cycles[better]
        self.traffic[end][better] = traffic[better]
        self.came[end][better] = first

    @property
    def latency(self) -> Table:
        """The least latency of the network for each number of PEs."""
        found: Table = self.cycles[-1]
        return found

    def faster(self, longest: int) -> tuple[int, ...]:
        """The columns at which a frame takes fewer cycles than with fewer PEs, and ``longest`` at most."""
        before = np.concatenate(([NEVER], self.latency[:-1]))
        return tuple(int(at) for at in np.flatnonzero((self.latency < before) & (self.latency <= longest)))

    def partition(self, column: int) -> Partition:
        """The partition for one number of PEs."""
        runs: list[Run] = []
        end = self.table.count
        while end:
            first = int(self.came[end, column])
            runs.append(next(run for run in self.table.runs[first] if run.last == end - 1))
            end = first
        most = self.table.pes[column]
        rows = [int(np.searchsorted(run.front.rows[:, 0], most, side="right")) - 1 for run in runs]
        points = [run.front.point(row) for run, row in zip(runs, rows, strict=True)]
        return Partition(tuple(runs[::-1]), tuple(points[::-1]))
