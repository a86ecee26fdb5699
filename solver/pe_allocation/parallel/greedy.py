"""Greedy: the next PEs go to the bottleneck, or where they shorten the latency most."""

from __future__ import annotations

from fractions import Fraction

from mapper.formulations.objective import THROUGHPUT
from mapper.formulations.pe_allocation.bound import interval_weights
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.choice import Choice, choices, paces
from mapper.formulations.pe_allocation.program.delay import least_delay
from mapper.models.pe_allocation.mapping import Allocation
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome
from mapper.solver.pe_allocation.parallel.outcome import outcome_of, paced


def greedy(problem: AllocationProblem, effort: Effort) -> Outcome[Allocation]:
    """From the fewest PEs of every layer on. For throughput the bottleneck comes first, and what is left shortens the
    latency; for latency the step that saves most cycles a PE; for the fewest PEs no more than the pace asks for."""
    return outcome_of(problem, greedy_allocation(problem, effort), effort)


def greedy_allocation(problem: AllocationProblem, effort: Effort) -> Allocation | None:
    """The greedy allocation; None if it breaks a rule."""
    offered = [_fronts(choices(problem, layer)) for layer in problem.network.layers]
    if not all(offered):
        return None
    state = _Choosing(problem, offered)
    if problem.objective != "latency":
        while not state.is_done and state.speed_up():
            pass
    while problem.objective != "pes" and effort.stopped() is None:
        if not state.shorten() and (problem.goal == THROUGHPUT or not state.speed_up()):
            break
    return paced(problem, state.chosen)


def _fronts(left: tuple[Choice, ...]) -> list[Choice]:
    """Choices of which none with fewer PEs or units is as fast, by PEs."""
    kept: list[Choice] = []
    for choice in sorted(left, key=lambda c: (c.pes, c.cycles, c.units)):
        if not kept or choice.cycles < kept[-1].cycles:
            kept.append(choice)
    return kept


class _Choosing:
    """What is chosen so far."""

    def __init__(self, problem: AllocationProblem, offered: list[list[Choice]]) -> None:
        self.problem, self.offered = problem, offered
        self.at = [0] * len(offered)
        self.weights = interval_weights(problem)
        self.spare = problem.most_pes - sum(own[0].pes for own in offered)

    @property
    def chosen(self) -> list[Choice]:
        return [own[at] for own, at in zip(self.offered, self.at, strict=True)]

    def _interval(self, position: int) -> int:
        return self.weights[position] * self.offered[position][self.at[position]].cycles

    @property
    def is_done(self) -> bool:
        """Whether the pace that is asked for is kept and no more is wanted."""
        asked = self.problem.longest_interval
        if self.problem.objective != "pes":
            return False
        return asked is None or max(map(self._interval, range(len(self.at)))) <= asked

    def speed_up(self) -> bool:
        """Give the slowest layer its next PEs, if there are enough."""
        slowest = max(range(len(self.at)), key=lambda at: (self._interval(at), -at))
        return self._step(slowest)

    def shorten(self) -> bool:
        """Take the step that saves most cycles of latency a PE, if one does."""
        now = self._latency()
        z_out = paces(self.problem, self.chosen, matched=True)
        best: tuple[Fraction, int] | None = None
        for position in range(len(self.at)):
            pes = self._price(position)
            throttled = self.offered[position][self.at[position]].cycles < z_out[position]
            if pes is None or throttled:
                continue
            self.at[position] += 1
            saved = now - self._latency()
            self.at[position] -= 1
            if saved > 0:
                best = max(best or (Fraction(0), 0), (Fraction(saved, pes), -position))
        return best is not None and self._step(-best[1])

    def _price(self, position: int) -> int | None:
        """PEs that the next choice of a layer takes beyond its own; None if it has none within what is spare."""
        own, at = self.offered[position], self.at[position]
        if at + 1 == len(own) or own[at + 1].pes - own[at].pes > self.spare:
            return None
        return own[at + 1].pes - own[at].pes

    def _step(self, position: int) -> bool:
        pes = self._price(position)
        if pes is None:
            return False
        self.at[position] += 1
        self.spare -= pes
        return True

    def _latency(self) -> int:
        """Cycles of a frame at matched paces."""
        layers, streaming = self.problem.network.layers, self.problem.model == "streaming"
        waits = self.problem.drains
        z_out = paces(self.problem, self.chosen, matched=True)
        starts: list[int] = []
        end = 0
        for position, layer in enumerate(layers):
            start = 0
            for feed in layer.feeds:
                if streaming:
                    lag = least_delay(layer, layers[feed], z_out[feed], z_out[position]) + waits[feed]
                else:
                    lag = layer.new_pixels * z_out[feed]
                start = max(start, starts[feed] + lag)
            starts.append(start)
            if streaming or not self.problem.network.readers[position]:
                end = max(end, start + layer.positions * z_out[position] + waits[position])
        return end


GREEDY: Method[AllocationProblem, Allocation] = Method(
    "greedy",
    False,
    "gives the next PEs to the bottleneck, then to where they shorten the latency most",
    greedy,
)
