"""Mixed mode by the streaming model: a shortest path over the boundaries between runs, solved as they are asked for.

Runs follow one another and each has the whole array, so that the cycles of a frame are the sum of the runs' least
latencies. Each of these is a problem of layers that work at once, with the maps of earlier runs there without waiting
(``pace``). All runs begin with a bound in closed form; the runs on the shortest path by bounds are solved, and so on
until the shortest path by bounds has solved runs only: no other path is shorter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.delay import least_line_buffers
from mapper.formulations.pe_allocation.program.instance import AllocationInstance
from mapper.formulations.pe_allocation.program.mixed.fused_run import useful_choices
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.stream.layer import StreamNetwork
from mapper.solver.method import Effort
from mapper.solver.pe_allocation.pace.search import decide
from mapper.solver.pe_allocation.parallel.outcome import cost_of, roomy
from mapper.solver.pe_allocation.parallel.stage import Decision, staged

Ends = tuple[int, int]
"""The first layer of a run and the one after its last."""


def run_network(network: StreamNetwork, first: int, end: int) -> StreamNetwork:
    """The layers of a run alone; what earlier runs made comes from the buffers, as a frame does."""
    layers = tuple(
        replace(layer, feeds=tuple(feed - first for feed in layer.feeds if feed >= first))
        for layer in network.layers[first:end]
    )
    return StreamNetwork(network.name, layers, ())


def run_problem(problem: AllocationProblem, first: int, end: int, pes: int) -> AllocationProblem:
    """The least latency of a run on ``pes`` PEs, whatever the buffers."""
    return replace(
        roomy(problem),
        network=run_network(problem.network, first, end),
        objective="latency",
        mode="layer-parallel",
        longest_interval=None,
        max_pes=pes,
        sharing=False,
        segments=None,
    )


@dataclass(frozen=True)
class SolvedRun:
    """The best allocation found of a run, its cycles (None: none fits), and a bound that holds."""

    allocation: Allocation | None
    cycles: int | None
    bound: float


@dataclass
class StreamedRuns:
    """The shortest path over runs on at most ``pes`` PEs. ``left_out``: a run did not fit the buffers as it was found,
    and might at other paces."""

    problem: AllocationProblem
    pes: int
    left_out: bool = False
    solved: dict[Ends, SolvedRun] = field(default_factory=dict)

    def __post_init__(self) -> None:
        count = len(self.problem.network.layers)
        self.starts = (*(self.problem.segments or range(count)), count)
        self._measure()

    def _measure(self) -> None:
        """For every layer its fewest PEs, its least time and its least work, as far as the PEs go."""
        problem = self.problem
        self.fewest: list[int] = []
        self.time: list[float] = []
        self.work: list[float] = []
        for at, layer in enumerate(problem.network.layers):
            idle = problem.pin(layer).throttle or 0
            left = [choice for choice in useful_choices(problem, at) if choice.pes <= self.pes]
            self.fewest.append(min((choice.pes for choice in left), default=self.pes + 1))
            pace = min((choice.cycles + idle for choice in left), default=math.inf)
            self.time.append(pace * layer.positions + problem.drains[at])
            busy = min((choice.pes * (choice.cycles + idle) for choice in left), default=math.inf)
            self.work.append(busy * layer.positions)

    def search(self, effort: Effort, limit: float = math.inf) -> None:
        """Solve runs until the shortest path is known, or known to be at most or beyond ``limit``."""
        while effort.stopped() is None:
            path, length = self._path(self._bound)
            open_runs = [run for run in path if run not in self.solved]
            if not open_runs or length > limit or (limit < math.inf and self.cycles() <= limit):
                return
            # The longest first: it moves the bound most.
            run = max(open_runs, key=lambda ends: ends[1] - ends[0])
            self.solved[run] = self._solve(run, effort)

    def bound(self) -> float:
        """No sequence of two runs or more takes fewer cycles."""
        return self._path(self._bound)[1]

    def cycles(self) -> float:
        """The least cycles of a sequence that was found."""
        return self._path(self._found)[1]

    def bounds(self) -> dict[Ends, float]:
        """No run of fewer than all layers takes fewer cycles."""
        pairs = pairwise(self.starts) if self.problem.segments is not None else combinations(self.starts, 2)
        whole = (0, self.starts[-1])
        return {run: self._bound(run) for run in pairs if run != whole}

    def runs(self) -> list[tuple[int, Allocation]]:
        """The first layers and the allocations of that sequence."""
        path, length = self._path(self._found)
        if length == math.inf:
            return []
        found = [
            (run[0], self._solve(run, Effort()) if run not in self.solved else self.solved[run])
            for run in path
        ]
        return [(first, one.allocation) for first, one in found if one.allocation is not None]

    def _bound(self, run: Ends) -> float:
        if run in self.solved:
            return self.solved[run].bound
        members = range(*run)
        if sum(self.fewest[at] for at in members) > self.pes:
            return math.inf
        busy = sum(self.work[at] for at in members)
        return max(
            max(self.time[at] for at in members), math.inf if busy == math.inf else -(-busy // self.pes)
        )

    def _found(self, run: Ends) -> float:
        if run in self.solved:
            cycles = self.solved[run].cycles
            return math.inf if cycles is None else cycles
        alone = run[1] - run[0] == 1 and self.problem.most_bytes is None
        return self.time[run[0]] if alone else math.inf

    def _path(self, length_of: object) -> tuple[list[Ends], float]:
        """The shortest path of two runs or more."""
        assert callable(length_of)
        free = self.problem.segments is None
        best: dict[int, tuple[float, list[Ends]]] = {0: (0, [])}
        for number, end in enumerate(self.starts[1:], 1):
            befores = self.starts[:number] if free else self.starts[number - 1 : number]
            options = []
            for first in befores:
                if (first, end) == (0, self.starts[-1]):
                    continue
                far, path = best[first]
                options.append((far + length_of((first, end)), first, path))
            far, first, path = min(options, key=lambda one: one[:2], default=(math.inf, 0, []))
            best[end] = far, [*path, (first, end)]
        far, path = best[self.starts[-1]]
        return path, far

    def _solve(self, run: Ends, effort: Effort) -> SolvedRun:
        posed = run_problem(self.problem, *run, self.pes)
        most = self.problem.most_bytes
        if most is not None and _least_bytes(posed) > most:
            return SolvedRun(None, None, math.inf)
        found = staged(posed, effort, decide, _untied)
        if found.mapping is None:
            return SolvedRun(None, None, math.inf if found.proven else self._bound(run))
        cost = cost_of(posed, found.mapping)
        bound = max(self._bound(run), found.bound or 0)
        if most is not None and cost.buffer_bytes > most:
            self.left_out = True
            return SolvedRun(None, None, bound)
        return SolvedRun(found.mapping, cost.cycles, bound)


def _least_bytes(posed: AllocationProblem) -> int:
    network = posed.network
    words = sum(layer.weight_words for layer in network.layers) + least_line_buffers(network)
    return words * posed.machine.word_bytes


def _untied(instance: AllocationInstance, effort: Effort, best: Allocation | None) -> Decision:
    """A run's ties are left as they are: its PEs are there, and its interval means nothing."""
    return Decision(best, False, None, "complete")


def sequence(problem: AllocationProblem, runs: Sequence[tuple[int, Allocation]]) -> Allocation:
    """Runs, given by their first layers, one after another, their maps off the chip."""
    return Allocation(
        "mixed",
        tuple(pes for _, run in runs for pes in run.pes),
        tuple(idle for _, run in runs for idle in run.throttle),
        tuple(delta for _, run in runs for delta in run.delta),
        segments=tuple(first for first, _ in runs),
        on_chip=(False,) * (len(runs) - 1),
    )
