"""The linear program of a node, kept from node to node: paces, starts, and shares of the steps of a layer's price.

    min L   subject to   t_i >= t_j + d_j + a z_j - b z_i for every line of the delay of i after j,
    L >= t_i + N_i z_i + d_i,
    z_i >= sum_q x_iq w_iq,   sum_q x_iq = 1,   sum_iq p_iq x_iq <= P.

It computes in floating point, so that nothing it says of a bound is believed: its multipliers are (``weight``). All
times are counted as fractions of ``UNIT`` of the longest latency, which keeps coefficients alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mapper.formulations.pe_allocation.program.instance import AllocationInstance
from mapper.solver.highs import HighsLimit, run_highs
from mapper.solver.method import Effort
from mapper.solver.pe_allocation.pace.node import Node, Steps

UNIT = 1000.0
SHORT = 4.0 * UNIT
"""What a missing PE costs: more than any latency."""


@dataclass(frozen=True)
class Start:
    """Layer ``layer`` starts at least ``wait`` + a * (pace of ``feed``) - b * (its own pace) after it."""

    layer: int
    feed: int
    a: int
    b: int
    wait: int


def starts_of(instance: AllocationInstance) -> tuple[Start, ...]:
    """All lines of all delays."""
    layers = instance.problem.network.layers
    return tuple(
        Start(at, feed, a, b, instance.drains[feed])
        for at, layer in enumerate(layers)
        for feed in layer.feeds
        for a, b in instance.lines(at, feed)
    )


@dataclass(frozen=True)
class Relaxed:
    """A solution: every layer's pace and price, and the multipliers of ends, starts and PEs (cycles a PE)."""

    paces: list[float]
    prices: list[float]
    ends: list[float]
    starts: list[float]
    pes: float


class Relaxation:
    """The program of an instance, bounded anew for each node."""

    def __init__(
        self,
        instance: AllocationInstance,
        steps: Sequence[Steps],
        starts: Sequence[Start],
        longest: int,
        program: str = "GLOP",
    ) -> None:
        from ortools.linear_solver import pywraplp

        self.steps, self.starts = steps, starts
        self.positions = [layer.positions for layer in instance.problem.network.layers]
        self.drains = instance.drains
        self.scale = UNIT / max(1, longest)
        self.optimal = pywraplp.Solver.OPTIMAL
        solver = self.solver = pywraplp.Solver.CreateSolver(program)
        if program == "GLOP":
            # What is preprocessed anew for each node cannot go on from the solution before.
            solver.SetSolverSpecificParametersAsString("use_dual_simplex:true use_preprocessing:false")
        infinity = solver.infinity()
        # What a frame takes of each layer, z_i * N_i.
        self.times = [solver.NumVar(0.0, infinity, "") for _ in steps]
        share = solver.NumVar if program == "GLOP" else solver.IntVar
        self.shares = [[share(0.0, 1.0, "") for _ in one.paces] for one in steps]
        self.begins = [solver.NumVar(0.0, infinity, "") for _ in steps]
        self.latency = latency = solver.NumVar(0.0, infinity, "")
        short = solver.NumVar(0.0, infinity, "")
        self.budget = self._row(-infinity, instance.limits.pes, [(short, -1.0)])
        self.bounds: list[tuple[int, int, range] | None] = [None] * len(steps)
        for time, shares, one, positions in zip(self.times, self.shares, steps, self.positions, strict=True):
            self._row(1.0, 1.0, [(share, 1.0) for share in shares])
            work = [
                (share, -float(pace * positions) * self.scale)
                for share, pace in zip(shares, one.paces, strict=True)
            ]
            self._row(0.0, 0.0 if one.single else infinity, [(time, 1.0), *work])
            for share, pes in zip(shares, one.pes, strict=True):
                self.budget.SetCoefficient(share, float(pes))
        self.start_rows = [
            self._row(
                start.wait * self.scale,
                infinity,
                [
                    (self.begins[start.layer], 1.0),
                    (self.begins[start.feed], -1.0),
                    (self.times[start.feed], -start.a / self.positions[start.feed]),
                    (self.times[start.layer], start.b / self.positions[start.layer]),
                ],
            )
            for start in starts
        ]
        self.end_rows = [
            self._row(wait * self.scale, infinity, [(latency, 1.0), (begin, -1.0), (time, -1.0)])
            for begin, time, wait in zip(self.begins, self.times, self.drains, strict=True)
        ]
        objective = solver.Objective()
        objective.SetCoefficient(latency, 1.0)
        objective.SetCoefficient(short, SHORT)
        objective.SetMinimization()

    def _row(self, least: float, most: float, terms: Sequence[tuple[Any, float]]) -> Any:
        made = self.solver.Constraint(float(least), float(most))
        for variable, times in terms:
            made.SetCoefficient(variable, times)
        return made

    def solve(self, node: Node, taken: Mapping[int, int] | None = None) -> Relaxed | None:
        """The solution for the paces of ``node``, and for the steps that are ``taken`` of some layers; None if the
        solver has none to tell."""
        self._bound_all(node, taken or {})
        if self.solver.Solve() != self.optimal:
            return None
        return Relaxed(
            [
                time.solution_value() / self.scale / positions
                for time, positions in zip(self.times, self.positions, strict=True)
            ],
            [self._price(at) for at in range(len(self.steps))],
            [abs(row.dual_value()) for row in self.end_rows],
            [abs(row.dual_value()) for row in self.start_rows],
            abs(self.budget.dual_value()) / self.scale,
        )

    def whole_steps(
        self, node: Node, below: int, effort: Effort, limit: HighsLimit
    ) -> tuple[int, ...] | None:
        """The step of every layer, of an integer program: with a latency less than ``below`` and as near a bound of the
        solver's own as the limit says, which proves nothing here; None if it has none within the limit."""
        self._bound_all(node, {})
        self.latency.SetUb((below - 1) * self.scale)
        values = run_highs(self.solver, effort, limit)
        if values is None:
            return None
        return tuple(
            max(range(len(shares)), key=lambda at: values[shares[at].index()]) for shares in self.shares
        )

    def _bound_all(self, node: Node, taken: Mapping[int, int]) -> None:
        for at, (low, high) in enumerate(zip(node.low, node.high, strict=True)):
            kept = self.steps[at].within(low, high)
            if at in taken:
                kept = range(taken[at], taken[at] + 1)
            before = self.bounds[at]
            if before != (low, high, kept):
                self._bound(at, low, high, kept, range(len(self.shares[at])) if before is None else before[2])
                self.bounds[at] = (low, high, kept)

    def _price(self, at: int) -> float:
        bounds, pes, shares = self.bounds[at], self.steps[at].pes, self.shares[at]
        assert bounds is not None
        return sum(float(shares[number].solution_value()) * int(pes[number]) for number in bounds[2])

    def _bound(self, at: int, low: int, high: int, kept: range, before: range) -> None:
        for number in before:
            if number not in kept:
                self.shares[at][number].SetUb(0.0)
        for number in kept:
            if number not in before:
                self.shares[at][number].SetUb(1.0)
        unit = self.positions[at] * self.scale
        self.times[at].SetBounds(low * unit, high * unit)
