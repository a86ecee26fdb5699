"""Ranges and choices that limits leave: every step is an argument in integers, until nothing changes."""

from __future__ import annotations

from collections.abc import Sequence

from mapper.formulations.pe_allocation.bound import most_interval
from mapper.formulations.pe_allocation.magnitude import longest_time
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.choice import Choice, choices
from mapper.formulations.pe_allocation.program.delay import least_delay
from mapper.formulations.pe_allocation.program.goal import Goal, Limits


class Narrowing:
    """Ranges and choices while they shrink."""

    def __init__(self, problem: AllocationProblem, limits: Limits, goal: Goal) -> None:
        self.problem, self.limits, self.drains = problem, limits, problem.drains
        self.layers = problem.network.layers
        self.streaming = problem.model == "streaming"
        self.choices = [choices(problem, layer) for layer in self.layers]
        self.possible = all(self.choices)
        slowest = most_interval(problem)
        self.longest = min(slowest, limits.interval) if limits.interval is not None else slowest
        if self.streaming:
            # Here taking longer may let a reader start earlier, so that only limits say how long is too long.
            if limits.cycles is None and goal == "cycles" and self.possible:
                self.limits = limits = limits.at_most("cycles", self._slowest_latency())
            if limits.interval is not None or limits.cycles is not None:
                given = [limit for limit in (limits.interval, limits.cycles) if limit is not None]
                # Beyond this time nothing is gained: paces may then fall to the least that the work takes.
                self.longest = min(*given, longest_time(problem))
        self.low = [0] * len(self.layers)
        self.high = [self.longest // layer.positions for layer in self.layers]
        self.head = [0] * len(self.layers)

    def step(self) -> bool:
        """Narrow once; whether anything changed."""
        before = ([len(left) for left in self.choices], list(self.low), list(self.high))
        self._raise_low()
        self._lower_high()
        if self.possible:
            self._leave_out()
        return self.possible and before != ([len(left) for left in self.choices], self.low, self.high)

    def _idle(self, position: int) -> int | None:
        return self.problem.pin(self.layers[position]).throttle

    def _raise_low(self) -> None:
        for position, layer in enumerate(self.layers):
            least = min(choice.cycles for choice in self.choices[position]) + (self._idle(position) or 0)
            if not self.streaming:
                least = max([least, *(layer.new_pixels * self.low[feed] for feed in layer.feeds)])
            self.low[position] = max(self.low[position], least)
        for position, layer in enumerate(self.layers):
            self.head[position] = max(
                (self.head[feed] + self._delay(position, feed) for feed in layer.feeds), default=0
            )
            self.head[position] = max(0, self.head[position])

    def _delay(self, position: int, feed: int) -> int:
        if not self.streaming:
            return self.layers[position].new_pixels * self.low[feed]
        lag = least_delay(self.layers[position], self.layers[feed], self.low[feed], self.high[position])
        return lag + self.drains[feed]

    def _lower_high(self) -> None:
        """Eq. 9 towards readers, and the limit on latency."""
        network, most = self.problem.network, self.limits.cycles
        for position in reversed(range(len(self.layers))):
            layer = self.layers[position]
            if not self.streaming:
                for reader in network.readers[position]:
                    cap = self.high[reader] // self.layers[reader].new_pixels
                    self.high[position] = min(self.high[position], cap)
            if most is not None:
                if self.streaming:
                    left = most - self.head[position] - self.drains[position]
                    self.high[position] = min(self.high[position], left // layer.positions)
                else:
                    self.high[position] = self._within(position, most)
            if self.high[position] < self.low[position]:
                self.possible = False
                return

    def _within(self, position: int, most: int) -> int:
        """The longest pace of a layer at which the latency can be ``most``."""
        low, high = self.low[position], self.high[position]
        if high < low or self._through(position, high) <= most:
            return high
        if self._through(position, low) > most:
            return low - 1
        while low < high:
            middle = (low + high + 1) // 2
            if self._through(position, middle) <= most:
                low = middle
            else:
                high = middle - 1
        return low

    def _through(self, position: int, pace: int) -> int:
        """The least latency of any path through a layer of this pace."""
        paces = {position: pace}
        starts = {position: self.head[position]}
        worst = 0
        for at in range(position, len(self.layers)):
            if at not in paces:
                feeds = [feed for feed in self.layers[at].feeds if feed in paces]
                if not feeds:
                    continue
                new = self.layers[at].new_pixels
                paces[at] = max([self.low[at], *(new * paces[feed] for feed in feeds)])
                starts[at] = max([self.head[at], *(starts[feed] + new * paces[feed] for feed in feeds)])
            if not self.problem.network.readers[at]:
                worst = max(worst, starts[at] + paces[at] * self.layers[at].positions)
        return worst

    def _leave_out(self) -> None:
        """Choices that are too slow, need too many PEs given the others' fewest, or are no better than another."""
        for position in range(len(self.layers)):
            idle = self._idle(position) or 0
            high = self.high[position]
            self.choices[position] = tuple(c for c in self.choices[position] if c.cycles + idle <= high)
            if not self.choices[position]:
                self.possible = False
                return
        if not self.problem.sharing:
            fewest = [min(choice.pes for choice in left) for left in self.choices]
            spare = self.limits.pes - sum(fewest)
            if spare < 0:
                self.possible = False
                return
            self.choices = [
                tuple(choice for choice in left if choice.pes <= least + spare)
                for left, least in zip(self.choices, fewest, strict=True)
            ]
        self.choices = [self._undominated(position) for position in range(len(self.layers))]

    def _undominated(self, position: int) -> tuple[Choice, ...]:
        """Without choices that need no fewer PEs and units than another that is as fast, given that the layer takes
        its least pace anyhow. What shares a PE counts by its own work."""
        left = self.choices[position]
        floor = 0 if self._idle(position) is not None else self.low[position]
        if self._idle(position) is not None and not self.streaming:
            return left
        kept: list[Choice] = []
        for choice in sorted(left, key=lambda c: (c.pes, c.units, c.cycles)):
            for other in kept:
                shared = self.problem.sharing and other.pes == 1 and choice.pes == 1
                slow = other.cycles if shared else max(other.cycles, floor)
                fast = choice.cycles if shared else max(choice.cycles, floor)
                if other.units <= choice.units and slow <= fast:
                    break
            else:
                kept.append(choice)
        return tuple(kept)

    def latest_end(self) -> int:
        """A latency that no allocation within the ranges exceeds."""
        delays = (self._longest_delay(at, self.high, self.low[at]) for at in range(len(self.layers)))
        return self.longest + sum(delays) + max(self.drains)

    def _slowest_latency(self) -> int:
        """The latency of layers on their fewest PEs, all that can on a single one: it keeps any rule that can be
        kept, so that the least latency is not above it."""
        slow = [max(choice.cycles for choice in left) for left in self.choices]
        work = sum(cycles * layer.positions for cycles, layer in zip(slow, self.layers, strict=True))
        paces = [
            max(cycles, -(-work // layer.positions)) + (self.problem.pin(layer).throttle or 0)
            for cycles, layer in zip(slow, self.layers, strict=True)
        ]
        ends = max(pace * layer.positions for pace, layer in zip(paces, self.layers, strict=True))
        return ends + sum(self._longest_delay(at, paces, 0) for at in range(len(paces))) + max(self.drains)

    def _longest_delay(self, position: int, paces: Sequence[int], own: int) -> int:
        """The most that a layer can start after those it reads, at their ``paces`` and its ``own`` least one."""
        layer = self.layers[position]
        if not self.streaming:
            return layer.new_pixels * max((paces[feed] for feed in layer.feeds), default=0)
        delays = [
            least_delay(layer, self.layers[feed], paces[feed], own) + self.drains[feed]
            for feed in layer.feeds
        ]
        return max([0, *delays])
