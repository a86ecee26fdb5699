"""Allocations whose line buffers keep a limit: paces at which little waits between layers.

A line buffer holds least where the layer that fills it and the one that empties it take as long for a frame; to either
side it fills up, the faster layer being early or late. So for given PEs one pace after another is moved to where all
buffers together hold least, within the time between frames that is asked for. It is a search along coordinates and may
stop short of the least; what it finds is judged by the referee, and is the best where it meets a bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mapper.formulations.pe_allocation.bound import cheapest, least_interval, most_interval
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.choice import Choice, allocation_of, paces
from mapper.formulations.pe_allocation.referee.verify import STORED, verify
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.needed import needed_bytes
from mapper.solver.method import Effort

SWEEPS = 6
POINTS = 8
"""Paces of a range that are tried at once, before it shrinks around the best."""
LONGER = 1.02
"""By how much the time between frames grows until the buffers keep their limit."""
HALVINGS = 8


def thrifty(
    problem: AllocationProblem, chosen: Sequence[Choice], interval: int, effort: Effort
) -> Allocation | None:
    """An allocation of the ``chosen`` PEs that keeps the limit on buffers and ``interval``; None if none is found."""
    paced = _Paced(problem, chosen, interval)
    best = min(paced.beginnings(), key=lambda one: one[0], default=None)
    for _ in range(SWEEPS):
        if best is None or paced.fits(best[0]) or effort.stopped() is not None:
            break
        before = best[0]
        for at in range(len(chosen)):
            best = paced.moved(best, at)
            if paced.fits(best[0]) or effort.stopped() is not None:
                break
        if best[0] == before:
            break
    return paced.allocation(best[1]) if best is not None and paced.fits(best[0]) else None


def thrifty_allocations(
    problem: AllocationProblem, chosen: Sequence[Choice], effort: Effort
) -> Iterator[Allocation]:
    """Allocations that keep the limit on buffers, the first at the best interval and with the fewest PEs there are for
    it; if there is none at longer intervals, and then at shorter ones of these."""
    asked = problem.interval_limit(most_interval(problem))
    least = least_interval(problem, problem.most_pes)
    if least is None:
        return
    first = asked if problem.objective == "pes" else max(least, min(asked, _interval(problem, chosen)))
    tight = max(least, 1) if problem.objective == "throughput" else first
    found = _at(problem, tight, chosen, effort)
    yield from found
    if found or problem.objective == "pes":
        return
    low, high = tight, tight
    while not found and high < asked and effort.stopped() is None:
        low, high = high, min(asked, int(high * LONGER) + 1)
        found = _at(problem, high, (), effort)
    yield from found
    for _ in range(HALVINGS if found else 0):
        middle = (low + high) // 2
        if middle in (low, high) or effort.stopped() is not None:
            return
        found = _at(problem, middle, (), effort)
        yield from found
        low, high = (low, middle) if found else (middle, high)


def _at(
    problem: AllocationProblem, interval: int, chosen: Sequence[Choice], effort: Effort
) -> list[Allocation]:
    few = cheapest(problem, interval)
    made = [thrifty(problem, one, interval, effort) for one in (chosen, few) if one]
    return [allocation for allocation in made if allocation is not None]


def _interval(problem: AllocationProblem, chosen: Sequence[Choice]) -> int:
    layers = problem.network.layers
    return max(choice.cycles * layer.positions for choice, layer in zip(chosen, layers, strict=True))


class _Paced:
    """Paces of chosen PEs, each at least its work and at most what the interval leaves."""

    def __init__(self, problem: AllocationProblem, chosen: Sequence[Choice], interval: int) -> None:
        self.problem, self.chosen = problem, chosen
        layers = problem.network.layers
        self.low = [choice.cycles for choice in chosen]
        self.high = [
            choice.cycles
            if problem.pin(layer).throttle is not None
            else max(choice.cycles, interval // layer.positions)
            for choice, layer in zip(chosen, layers, strict=True)
        ]
        self.pinned = [problem.pin(layer).throttle or 0 for layer in layers]

    def allocation(self, z_out: Sequence[int]) -> Allocation:
        made = [pace + idle for pace, idle in zip(z_out, self.pinned, strict=True)]
        return allocation_of(self.problem, self.chosen, made)

    def fits(self, held: int) -> bool:
        most = self.problem.most_bytes
        return most is None or held <= most

    def held(self, z_out: Sequence[int]) -> int | None:
        """Bytes of buffers at these paces; None if they break another rule."""
        allocation = self.allocation(z_out)
        verdict = verify(self.problem, allocation)
        if verdict.cost is None or any(rule.rule != STORED for rule in verdict.broken):
            return None
        return needed_bytes(self.problem.network, self.problem.machine, allocation, verdict.cost)

    def beginnings(self) -> Iterator[tuple[int, list[int]]]:
        """As fast as can be, at matched rates, and as slow as the interval allows."""
        least = [
            pace - idle for pace, idle in zip(paces(self.problem, self.chosen), self.pinned, strict=True)
        ]
        matched = paces(self.problem, self.chosen, matched=True)
        tried = (least, [pace - idle for pace, idle in zip(matched, self.pinned, strict=True)], self.high)
        for z_out in tried:
            held = self.held(z_out)
            if held is not None:
                yield held, list(z_out)

    def moved(self, best: tuple[int, list[int]], at: int) -> tuple[int, list[int]]:
        """The best paces that differ in layer ``at`` alone, by ranges that shrink around the best pace."""
        low, high = self.low[at], self.high[at]
        while low < high:
            step = max(1, (high - low) // POINTS)
            for pace in (*range(low, high, step), high):
                z_out = [*best[1][:at], pace, *best[1][at + 1 :]]
                held = None if pace == best[1][at] else self.held(z_out)
                if held is not None and held < best[0]:
                    best = held, z_out
            if step == 1:
                break
            middle = best[1][at]
            low, high = max(low, middle - step), min(high, middle + step)
        return best
