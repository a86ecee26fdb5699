"""Every trade-off of a run of fused layers in the calculus: PEs, interval between frames, latency.

An exact dynamic programme over the layers of the run, in order. In the calculus [Heidorn2019, Eqs. 6 to 13] all that
later layers see of earlier ones is, for each layer that is still to come, how fast it is fed and when it may start:

    z_r >= F_r z_i,    t_r >= t_i + F_r z_i    for each layer i that r reads.

A label holds the PEs so far, the largest z_i R_{i+1} C_{i+1} so far, the latest end so far, and, for each layer ahead
that reads one of those done, these two numbers. Whatever later layers choose, a label that is at most as large as
another in all of them leads to an answer that is at most as large in everything; so only the Pareto set of the labels
is kept. Paces are the least that the choices allow (Fig. 7): no quantity falls when a layer takes longer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.formulations.objective import THROUGHPUT
from mapper.formulations.pareto import pareto
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.choice import Choice, choices
from mapper.models.pe_allocation.cost import evaluate
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.storage import fused_words
from mapper.workloads.document import InputError

Column = npt.NDArray[np.int64]
Picks = npt.NDArray[np.int32]
FAR = 1 << 62
"""Beyond every number of cycles."""


@dataclass(frozen=True)
class RunPoint:
    """PEs, cycles between frames if the run were all there is, cycles until its last pixel, and every layer's choice
    and pace z_out."""

    pes: int
    interval: int
    cycles: int
    chosen: tuple[Choice, ...]
    z_out: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class RunFront:
    """The Pareto set of the run of layers from ``first`` on, PEs ascending: rows of PEs, interval and cycles, and for
    each the layers' picks among what is ``offered``."""

    problem: AllocationProblem
    first: int
    rows: Column
    picks: Picks
    offered: tuple[tuple[Choice, ...], ...]

    def point(self, row: int) -> RunPoint:
        """One point in full."""
        chosen = tuple(left[pick] for left, pick in zip(self.offered, self.picks[row], strict=True))
        paces: list[int] = []
        for at, choice in enumerate(chosen, self.first):
            layer = self.problem.network.layers[at]
            idle = self.problem.pin(layer).throttle
            fed = max((paces[feed - self.first] for feed in layer.feeds if feed >= self.first), default=0)
            paces.append(max(choice.cycles, layer.new_pixels * fed) if idle is None else choice.cycles + idle)
        pes, interval, cycles = (int(value) for value in self.rows[row])
        return RunPoint(pes, interval, cycles, chosen, tuple(paces))

    def points(self) -> tuple[RunPoint, ...]:
        """All of them."""
        return tuple(map(self.point, range(len(self.rows))))


@dataclass(frozen=True)
class Scope:
    """What is asked of a run: the most PEs, cycles between frames and cycles until its last pixel (None: no limit).
    ``whole``: the run is all of the network, whose latency ends with the layers that no other reads (Eq. 12), and its
    intervals count; of a shorter one they do not, and any layer may be the last."""

    most_pes: int
    longest: int | None = None
    latest: int | None = None
    whole: bool = False


@dataclass(frozen=True)
class _Labels:
    """Labels after a layer: PEs, interval, latest end, then z and t of each layer in ``ahead``."""

    rows: Column
    ahead: tuple[int, ...]


def refuse_streaming(problem: AllocationProblem) -> None:
    """Raises: InputError where only the calculus tells what a run costs without solving it."""
    if problem.model != "calculus":
        remedy = "trade-offs and the program of mixed mode are those of the calculus; give --model calculus"
        raise InputError("--model", problem.model, remedy)


def useful_choices(problem: AllocationProblem, position: int) -> tuple[Choice, ...]:
    """The choices of a layer that none of no more PEs is as fast as, PEs ascending; all if its idle cycles are
    pinned, where slower can be what is needed."""
    layer = problem.network.layers[position]
    found = sorted(choices(problem, layer), key=lambda choice: (choice.pes, choice.cycles, choice.delta))
    if problem.pin(layer).throttle is not None:
        return tuple(found)
    kept: list[Choice] = []
    for choice in found:
        if not kept or choice.cycles < kept[-1].cycles:
            kept.append(choice)
    return tuple(kept)


def grow(
    problem: AllocationProblem, first: int, scope: Scope, stopped: Callable[[], bool]
) -> Iterator[tuple[int, RunFront]]:
    """For each layer ``last`` from ``first`` on the Pareto set of the run from ``first`` to ``last``; ends where no run
    fits, or once ``stopped`` says so."""
    sweep = _Sweep(problem, first, scope)
    count = len(problem.network.layers)
    labels = sweep.start()
    for position in range(first, count):
        if stopped():
            return
        labels = sweep.step(labels, position)
        if not len(labels.rows):
            return
        if not scope.whole or position == count - 1:
            yield position, sweep.front(labels, position)


def fused_front(
    problem: AllocationProblem, stopped: Callable[[], bool], known: Allocation | None = None
) -> RunFront | None:
    """The Pareto set of all layers in one run within the problem's limits; None if there is no such allocation. What
    is no better than the allocation ``known`` is left out."""
    if problem.segments not in (None, (0,)):
        return None
    words = sum(fused_words(problem.network, range(len(problem.network.layers))))
    if problem.most_bytes is not None and words * problem.machine.word_bytes > problem.most_bytes:
        return None
    most, longest, latest = problem.most_pes, problem.longest_interval, None
    if known is not None:
        cost = evaluate(problem.network, problem.machine, known, problem.model)
        if problem.goal == THROUGHPUT:
            longest = cost.interval if longest is None else min(longest, cost.interval)
        elif problem.objective == "latency":
            latest = cost.cycles
        else:
            most = min(most, cost.pes)
    scope = Scope(most, longest, latest, whole=True)
    return next((run for _, run in grow(problem, 0, scope, stopped)), None)


class _Sweep:
    def __init__(self, problem: AllocationProblem, first: int, scope: Scope) -> None:
        self.problem, self.first, self.scope = problem, first, scope
        self.network = problem.network
        every = range(first, len(self.network.layers))
        self.choices = {at: useful_choices(problem, at) for at in every}
        self.low = self._least_paces()
        self.spare = dict.fromkeys(every, scope.most_pes)
        if scope.whole:
            after = 0
            for at in reversed(every):
                self.spare[at] = scope.most_pes - after
                after += min((choice.pes for choice in self.choices[at]), default=FAR)
        sizes = (self.low[at] * self.network.layers[at].positions for at in every)
        self.floor = max(sizes) if scope.whole else 0
        # How the labels after each layer came about: from which of those before, and by which pick.
        self.parent: list[npt.NDArray[np.int32]] = []
        self.pick: list[Picks] = []

    def _least_paces(self) -> dict[int, int]:
        """The least z_out of every layer, fed by layers of the run."""
        found: dict[int, int] = {}
        for at, left in self.choices.items():
            layer = self.network.layers[at]
            own = min((choice.cycles for choice in left), default=0) + (self.problem.pin(layer).throttle or 0)
            found[at] = max([own, *(layer.new_pixels * found[feed] for feed in layer.feeds if feed in found)])
        return found

    def start(self) -> _Labels:
        rows = np.zeros((1, 3), dtype=np.int64)
        rows[0, 1] = self.floor
        return _Labels(rows, ())

    def step(self, labels: _Labels, position: int) -> _Labels:
        """The labels after the layer at ``position``."""
        layer, rows = self.network.layers[position], labels.rows
        fed = started = np.zeros(len(rows), dtype=np.int64)
        if position in labels.ahead:
            at = 3 + 2 * labels.ahead.index(position)
            fed, started = rows[:, at], rows[:, at + 1]
        left = self.choices[position]
        idle = self.problem.pin(layer).throttle
        cycles = np.array([choice.cycles + (idle or 0) for choice in left], dtype=np.int64)
        pes = rows[:, :1] + np.array([choice.pes for choice in left], dtype=np.int64)
        pace = np.maximum(cycles, fed[:, None])
        fits = pes <= self.spare[position]
        if idle is not None:
            fits &= cycles >= fed[:, None]
        if self.scope.whole and self.scope.longest is not None:
            fits &= pace * layer.positions <= self.scope.longest
        parent, pick = np.nonzero(fits)
        now, z = rows[parent], pace[fits]
        start = started[parent]
        columns = [pes[fits], now[:, 1], now[:, 2]]
        if self.scope.whole:
            columns[1] = np.maximum(columns[1], z * layer.positions)
        if not self.scope.whole or not self.network.readers[position]:
            columns[2] = np.maximum(columns[2], start + z * layer.positions)
        readers = self.network.readers[position]
        ahead = tuple(sorted({at for at in labels.ahead if at > position} | set(readers)))
        for reader in ahead:
            new = self.network.layers[reader].new_pixels
            old = 3 + 2 * labels.ahead.index(reader) if reader in labels.ahead else None
            rate = np.full(len(z), self.low[reader]) if old is None else now[:, old]
            begin = np.zeros(len(z), dtype=np.int64) if old is None else now[:, old + 1]
            if reader in readers:
                rate, begin = np.maximum(rate, new * z), np.maximum(begin, start + new * z)
            columns += [rate, begin]
        grown = np.stack(columns, axis=1)
        if self.scope.latest is not None:
            soon = grown[:, 2] <= self.scope.latest
            grown, parent, pick = grown[soon], parent[soon], pick[soon]
        kept = pareto(grown)
        self.parent.append(parent[kept].astype(np.int32))
        self.pick.append(pick[kept].astype(np.int32))
        return _Labels(grown[kept], ahead)

    def front(self, labels: _Labels, last: int) -> RunFront:
        """The Pareto set of the run that ends with ``last``."""
        kept = pareto(labels.rows[:, :3])
        picks = np.zeros((len(kept), last + 1 - self.first), dtype=np.int32)
        place: npt.NDArray[np.signedinteger[Any]] = kept
        for step in reversed(range(picks.shape[1])):
            picks[:, step] = self.pick[step][place]
            place = self.parent[step][place]
        offered = tuple(self.choices[at] for at in range(self.first, last + 1))
        return RunFront(self.problem, self.first, labels.rows[kept, :3], picks, offered)
