"""A tree that refutes: no allocation of layers that work at once keeps to so many PEs, cycles a frame and of latency.

Paces are parted in two until the caps of `narrowed` leave nothing, or a linear program finds multipliers with which a
sum of the program's inequalities cannot hold. Prices of PEs are those of a layer's steps, of which the linear program
takes the lower hull. Multipliers are rounded to integers; what they show is counted exactly before it is kept.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.choice import choices
from mapper.formulations.pe_allocation.program.delay import delay_lines
from mapper.models.pe_allocation.stream.layer import StreamLayer
from mapper.models.pe_allocation.stream.timing import last_needed
from mapper.solver.method import Effort
from mapper.solver.proof import NotCertifiedError

UNLIMITED = 1 << 40000
MOST_NODES, MOST_SHARED_NODES = 20_000, 2_000
"""Nodes of a tree; where layers share PEs, what is not shown soon is hardly ever shown later."""
ROUNDS = 3
SCALES = (1 << 8, 1 << 16, 1 << 28, 1 << 44)
CLOSE = 1e-6
LARGEST = 1 << 62
"""The largest number that documents hold."""
BEYOND = 1 << 40
"""Paces that the linear program takes for any longer one."""

Price = int | Fraction
Way = list[tuple[int, Price]]
Start = tuple[int, int, int, int]
"""Layers i after j by the row and the column of a position of i."""


@dataclass(frozen=True)
class Scope:
    """What is to be refuted: so many PEs, cycles between frames and of latency at most."""

    pes: int
    interval: int
    cycles: int


@dataclass(frozen=True)
class Relaxed:
    """A solution of the linear program: paces, prices, and the multipliers of its rows."""

    paces: list[float]
    prices: list[float]
    pes: float
    ends: dict[int, float]
    starts: dict[Start, float]
    rates: dict[tuple[int, int], float]


class Refutation:
    """The search for the tree. ``every``: any layer may end last, as in a run of mixed mode."""

    def __init__(self, problem: AllocationProblem, scope: Scope, every: bool = False) -> None:
        self.problem, self.scope = problem, scope
        self.network = problem.network
        self.layers = self.network.layers
        self.streaming, self.drains = problem.model == "streaming", problem.drains
        self.indices = range(len(self.layers))
        self.last = range(len(self.layers)) if self.streaming or every else self.network.sinks
        self.pinned = [problem.pin(layer).throttle is not None for layer in self.layers]
        self.steps = [self._steps(layer) for layer in self.layers]
        self.paces = [[pace for pace, _, _ in steps] for steps in self.steps]

    def nodes(self, effort: Effort) -> list[Any]:
        """The tree in preorder: a split [layer, pace], or how a leaf is closed.

        Raises: NotCertifiedError if none is found.
        """
        most = [
            min(self.scope.interval, self.scope.cycles - self.drains[at] if at in self.last else UNLIMITED)
            for at in self.indices
        ]
        high = [time // layer.positions for time, layer in zip(most, self.layers, strict=True)]
        limit = MOST_SHARED_NODES if self.problem.sharing else MOST_NODES
        found: list[Any] = []
        stack = [([0] * len(high), high)]
        while stack:
            if len(found) >= limit or effort.stopped() is not None:
                raise NotCertifiedError("the tree that rules out better allocations was not finished")
            low, high = stack.pop()
            node = self._closed(low, high)
            found.append(node)
            if isinstance(node, list):
                at, pace = node
                stack.append(([*low[:at], max(low[at], pace + 1), *low[at + 1 :]], list(high)))
                stack.append((low, [*high[:at], min(high[at], pace), *high[at + 1 :]]))
        return found

    def _closed(self, low: list[int], high: list[int]) -> Any:
        """How a node is closed, or where it is split; ``low`` and ``high`` become narrower."""
        ways = self._narrowed(low, high)
        if ways is None:
            return "caps"
        for prices in self._priced(ways, high):
            relaxed = self._relaxed(prices)
            for scale in SCALES:
                leaf = self._leaf(relaxed, scale)
                if max(_multipliers(leaf)) <= LARGEST and self._left(leaf, prices) < 0:
                    return leaf
        return self._split(relaxed, ways)

    def _steps(self, layer: StreamLayer) -> list[tuple[int, int, int]]:
        """(pace, fewest PEs, work) of a layer, paces ascending."""
        problem = self.problem
        idle = problem.pin(layer).throttle
        best: dict[int, tuple[int, int]] = {}
        for choice in choices(problem, layer):
            if choice.pes > self.scope.pes:
                continue
            pace = choice.cycles + (idle or 0)
            best[pace] = min(best.get(pace, (choice.pes, choice.cycles)), (choice.pes, choice.cycles))
        kept: list[tuple[int, int, int]] = []
        for pace in sorted(best):
            pes, work = best[pace]
            if idle is not None or not kept or pes < kept[-1][1]:
                kept.append((pace, pes, work))
        return kept

    def _ends(self, at: int, low: int, high: int) -> Way:
        """The first and last pace of each step within a range, with the PEs that it costs; of a PE that may be shared,
        the share that the layer has of it at the least."""
        steps, paces, found = self.steps[at], self.paces[at], Way()
        begin = max(0, bisect_right(paces, low) - 1)
        for number in range(begin, len(steps)):
            pace, pes, work = steps[number]
            if pace > high:
                break
            after = paces[number + 1] if number + 1 < len(paces) else high + 1
            first, last = (pace, pace) if self.pinned[at] else (max(low, pace), min(high, after - 1))
            if low <= first <= last <= high:
                share = Fraction(work, high) if high < LARGEST else 0
                price = share if self.problem.sharing and pes == 1 else pes
                found += [(first, price), (last, price)]
        return found

    def _narrowed(self, low: list[int], high: list[int]) -> list[Way] | None:
        ways: list[Way] = []
        for _ in range(ROUNDS):
            if not self.streaming:
                for i, layer in enumerate(self.layers):
                    low[i] = max([low[i], *(layer.new_pixels * low[j] for j in layer.feeds)])
                for i in reversed(range(len(low))):
                    caps = [high[r] // self.layers[r].new_pixels for r in self.network.readers[i]]
                    high[i] = min([high[i], *caps])
            ways = [self._ends(i, low[i], high[i]) for i in range(len(low))]
            if not all(ways):
                return None
            masks = []
            for prices in self._priced(ways, high):
                least = [min(price for _, price in way) for way in prices]
                spare = self.scope.pes - sum(least)
                if math.ceil(sum(least)) > self.scope.pes:
                    return None
                masks.append(
                    [[end[1] <= one + spare for end in way] for way, one in zip(prices, least, strict=True)]
                )
            ways = [
                [end for end, *near in zip(way, *kept, strict=True) if all(near)]
                for way, *kept in zip(ways, *masks, strict=True)
            ]
            if not all(ways):
                return None
            low[:] = [min(pace for pace, _ in way) for way in ways]
            high[:] = [max(pace for pace, _ in way) for way in ways]
        return ways

    def _priced(self, ways: list[Way], high: list[int]) -> Iterator[list[Way]]:
        """Shares of PEs as they are; and prices of a PE each for layers no two of which share one, none for others."""
        yield ways
        if not self.problem.sharing:
            return
        times = [pace * layer.positions for pace, layer in zip(high, self.layers, strict=True)]
        shares = [min(price for _, price in way) for way in ways]
        busy = [share * time for share, time in zip(shares, times, strict=True)]
        found: list[int] = []
        for i in sorted(self.indices, key=times.__getitem__):
            if shares[i] <= 1 and all(busy[i] + busy[j] > min(times[i], times[j]) for j in found):
                found.append(i)
        yield [
            [(pace, price if price > 1 else int(i in found)) for pace, price in way]
            for i, way in enumerate(ways)
        ]

    @cached_property
    def _lines(self) -> dict[tuple[int, int], list[tuple[Start, int, int]]]:
        """For each layer and feed the inequalities of the start: the position, and (a, b) of a*z_feed - b*z_layer."""
        found: dict[tuple[int, int], list[tuple[Start, int, int]]] = {}
        for i, layer in enumerate(self.layers):
            for j in layer.feeds:
                feed = self.layers[j]
                if not self.streaming:
                    found[i, j] = [((i, j, 0, 0), layer.new_pixels, 0)]
                elif feed.positions == 1:
                    found[i, j] = [((i, j, 0, 0), 1, 0)]
                else:
                    wide = layer.output_size[1]
                    rows, columns = (last_needed(layer, feed, axis) for axis in (0, 1))
                    made = {divmod(b, wide): (a, b) for a, b in delay_lines(layer, feed)}
                    found[i, j] = [
                        ((i, j, row, column), a, b)
                        for (row, column), (a, b) in made.items()
                        if int(rows[row]) * feed.output_size[1] + int(columns[column]) + 1 == a
                    ]
        return found

    @cached_property
    def _line_of(self) -> dict[Start, tuple[int, int]]:
        return {start: (a, b) for lines in self._lines.values() for start, a, b in lines}

    def _relaxed(self, ways: list[Way]) -> Relaxed:
        """The linear program: least latency (or PEs, where latency has no limit) with prices on their lower hulls; PEs
        beyond the limit cost more than any latency."""
        from ortools.linear_solver import pywraplp

        solver = pywraplp.Solver.CreateSolver("GLOP")
        infinity, timed = solver.infinity(), self.scope.cycles < UNLIMITED

        def at_least(*terms: tuple[Any, float], least: float = 0.0) -> Any:
            """The sum of terms is no less."""
            made = solver.Constraint(least, infinity)
            for variable, times in terms:
                made.SetCoefficient(variable, times)
            return made

        over = solver.NumVar(0.0, infinity, "over")
        pes = solver.Constraint(-infinity, float(self.scope.pes))
        pes.SetCoefficient(over, -1.0)
        paces, prices = [], []
        for way in ways:
            one, pace = solver.Constraint(1.0, 1.0), solver.Constraint(0.0, 0.0)
            paces.append(solver.NumVar(0.0, infinity, ""))
            pace.SetCoefficient(paces[-1], -1.0)
            shares = []
            for z, price in lower_hull(way):
                share = solver.NumVar(0.0, infinity, "")
                one.SetCoefficient(share, 1.0)
                pace.SetCoefficient(share, float(min(z, BEYOND)))
                pes.SetCoefficient(share, float(price))
                shares.append((share, float(price)))
            prices.append(shares)
        rates = {}
        if not self.streaming:
            for i, layer in enumerate(self.layers):
                for j in layer.feeds:
                    rates[i, j] = at_least((paces[i], 1.0), (paces[j], -float(layer.new_pixels)))
        ends, starts = {}, {}
        objective = solver.Objective()
        objective.SetCoefficient(over, 1.0)
        if timed:
            cycles = solver.NumVar(0.0, infinity, "cycles")
            t = [solver.NumVar(0.0, infinity, "") for _ in ways]
            for start, (a, b) in self._line_of.items():
                i, j, *_ = start
                terms = ((t[i], 1.0), (t[j], -1.0), (paces[j], -float(a)), (paces[i], float(b)))
                starts[start] = at_least(*terms, least=float(self.drains[j]))
            for i in self.last:
                done = (paces[i], -float(self.layers[i].positions))
                ends[i] = at_least((cycles, 1.0), (t[i], -1.0), done, least=float(self.drains[i]))
            objective.SetCoefficient(cycles, 1.0)
            objective.SetCoefficient(over, 4.0 * (self.scope.cycles + 1))
        objective.SetMinimization()
        if solver.Solve() != pywraplp.Solver.OPTIMAL:
            raise NotCertifiedError("the tree found nothing that rules out a better allocation")
        return Relaxed(
            [float(pace.solution_value()) for pace in paces],
            [sum(share.solution_value() * price for share, price in shares) for shares in prices],
            abs(pes.dual_value()),
            {key: abs(row.dual_value()) for key, row in ends.items()},
            {key: abs(row.dual_value()) for key, row in starts.items()},
            {key: abs(row.dual_value()) for key, row in rates.items()},
        )

    def _leaf(self, relaxed: Relaxed, scale: int) -> dict[str, Any]:
        """Multipliers as integers: what leaves a layer's start is no less than what enters it, so that late starts gain
        nothing."""
        ends = {at: round(scale * times) for at, times in relaxed.ends.items()}
        into: dict[int, list[Start]] = defaultdict(list)
        for start in relaxed.starts:
            into[start[0]].append(start)
        leaving = defaultdict(int, ends)
        starts: dict[Start, int] = {}
        for at in reversed(range(len(self.layers))):
            left = leaving[at]
            for start in into[at]:
                starts[start] = min(left, round(scale * relaxed.starts[start]))
                left -= starts[start]
                leaving[start[1]] += starts[start]
        rates = {key: round(scale * times) for key, times in relaxed.rates.items()}
        return {
            "pes": round(scale * relaxed.pes),
            "ends": [[at, times] for at, times in ends.items() if times],
            "starts": [[*start, times] for start, times in starts.items() if times],
            "rates": [[*key, times] for key, times in rates.items() if times],
        }

    def _left(self, leaf: dict[str, Any], ways: list[Way]) -> Price:
        """The most that the sum of inequalities can be; below 0 it cannot hold."""
        start, pace, total = [0] * len(ways), [0] * len(ways), leaf["pes"] * self.scope.pes
        for i, times in leaf["ends"]:
            total += times * (self.scope.cycles - self.drains[i])
            start[i] -= times
            pace[i] -= times * self.layers[i].positions
        for i, j, row, column, times in leaf["starts"]:
            a, b = self._line_of[i, j, row, column]
            total -= times * self.drains[j]
            start[i] += times
            start[j] -= times
            pace[i] += b * times
            pace[j] -= a * times
        for i, j, times in leaf["rates"]:
            pace[i] += times
            pace[j] -= times * self.layers[i].new_pixels
        total += sum(max(0, times) * self.scope.cycles for times in start)
        worst: Price = total
        for times, way in zip(pace, ways, strict=True):
            worst += max(times * z - leaf["pes"] * price for z, price in way)
        return worst

    def _split(self, relaxed: Relaxed, ways: list[Way]) -> list[int]:
        """The layer whose PEs are underestimated most, parted where its price falls; else a pace that is no integer."""
        gaps: list[tuple[float, int, int]] = []
        for at, (pace, price) in enumerate(zip(relaxed.paces, relaxed.prices, strict=True)):
            reached = max(number for number, z in enumerate(self.paces[at]) if z <= pace + CLOSE)
            after = self.paces[at][reached + 1 :]
            exact = min(cost for z, cost in ways[at] if z <= pace + CLOSE)
            gap = float(exact) - price
            _, pes, work = self.steps[at][reached]
            first, last = ways[at][0][0], ways[at][-1][0]
            if self.problem.sharing and pes == 1 and not self.pinned[at] and first < last:
                # A shorter pace asks for a larger share of a PE.
                shared = work / max(pace, 1.0) - price
                if shared > max(gap, CLOSE):
                    gaps.append((shared, -at, min(max(math.floor(pace + CLOSE), first), last - 1)))
                    continue
            if gap > CLOSE and after:
                gaps.append((gap, -at, self.paces[at][reached] if self.pinned[at] else after[0] - 1))
        if gaps:
            _, at, pace = max(gaps)
            return [-at, pace]
        for at, pace in enumerate(relaxed.paces):
            if min(pace % 1, -pace % 1) > CLOSE and not self.pinned[at]:
                return [at, math.floor(pace)]
        if self.problem.sharing:
            # In narrower ranges of paces layers have larger shares of a PE, and fewer of them go together.
            sharing = [
                (float(ways[at][-1][1]), at, min(max(math.floor(pace), way[0][0]), way[-1][0] - 1))
                for at, (pace, way) in enumerate(zip(relaxed.paces, ways, strict=True))
                if way[0][0] < way[-1][0] and way[-1][1] < 1 and not self.pinned[at]
            ]
            if sharing:
                return list(max(sharing)[1:])
            raise NotCertifiedError(
                "that layers do not fit on fewer shared PEs is not shown by their work alone"
            )
        raise NotCertifiedError("the tree found nothing that rules out a better allocation")


def _multipliers(leaf: dict[str, Any]) -> list[int]:
    return [leaf["pes"], *(row[-1] for rows in ("ends", "starts", "rates") for row in leaf[rows])]


def lower_hull(way: Way) -> Way:
    """The corners of the lower hull of paces and prices, paces ascending."""
    kept: Way = []
    for pace, price in sorted(set(way)):
        if kept and price >= kept[-1][1] and kept[-1][0] == pace:
            continue
        while len(kept) > 1:
            (z0, p0), (z1, p1) = kept[-2:]
            if (p1 - p0) * (pace - z1) < (price - p1) * (z1 - z0):
                break
            kept.pop()
        kept.append((pace, price))
    return kept
