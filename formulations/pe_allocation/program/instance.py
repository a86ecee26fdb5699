"""What the programs of one instance are built from: limits, and the choices and ranges that they leave.

Both programs (ILP and CP-SAT) take the same instance, so that what one leaves out the other does too; brute force and
the referee know nothing of it. What is left out cannot lead to a better allocation than limits allow; every step is an
argument in integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mapper.formulations.pe_allocation.bound import fewest_pes, least_interval
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.choice import Choice, Groups
from mapper.formulations.pe_allocation.program.delay import Line, delay_lines
from mapper.formulations.pe_allocation.program.goal import Goal, Limits
from mapper.formulations.pe_allocation.program.narrowing import Narrowing

Place = tuple[int, int, int]
"""A layer, the number of its choice, and the layer on whose PE it works."""


@dataclass(frozen=True)
class AllocationInstance:
    """A problem, what is to be least, limits, and what they leave: ``choices`` of every layer, ``pace``: least and
    most z_out, ``start``: earliest and latest start, ``interval``, ``cycles`` and ``pes``: least and most.
    ``possible``: False if limits leave no allocation."""

    problem: AllocationProblem
    goal: Goal
    limits: Limits
    choices: tuple[tuple[Choice, ...], ...]
    pace: tuple[tuple[int, int], ...]
    start: tuple[tuple[int, int], ...]
    interval: tuple[int, int]
    cycles: tuple[int, int]
    pes: tuple[int, int]
    possible: bool

    @property
    def least(self) -> int:
        """A lower bound of the goal by these arguments."""
        if self.goal == "units":
            return sum(min(choice.units for choice in left) for left in self.choices)
        return {"interval": self.interval, "cycles": self.cycles, "pes": self.pes}[self.goal][0]

    @property
    def drains(self) -> tuple[int, ...]:
        """Of every layer the cycles until a position's pixels are there."""
        return self.problem.drains

    @property
    def is_streaming(self) -> bool:
        return self.problem.model == "streaming"

    @property
    def last_layers(self) -> Sequence[int]:
        """Layers that may end last: those that no layer reads, or any in the streaming model."""
        return range(len(self.choices)) if self.is_streaming else self.problem.network.sinks

    def sharing_places(self) -> Iterator[Place]:
        """Where layers of one PE can work, if they share: on their own PE or on that of one before."""
        if not self.problem.sharing:
            return
        single = [(i, q) for i, left in enumerate(self.choices) for q, c in enumerate(left) if c.pes == 1]
        for i, q in single:
            for r in sorted({leader for leader, _ in single if leader <= i}):
                yield i, q, r

    def used_pes(self, x: Sequence[Sequence[Any]], y: Mapping[Place, Any]) -> list[Any]:
        """Terms of the PEs in use; one that layers share counts once, by its first layer."""
        alone = [
            choice.pes * literal
            for left, literals in zip(self.choices, x, strict=True)
            for choice, literal in zip(left, literals, strict=True)
            if not (y and choice.pes == 1)
        ]
        return alone + [literal for (i, _, r), literal in y.items() if i == r]

    def used_units(self, x: Sequence[Sequence[Any]]) -> list[Any]:
        """Terms of the functional units in use."""
        return [
            choice.units * literal
            for left, literals in zip(self.choices, x, strict=True)
            for choice, literal in zip(left, literals, strict=True)
        ]

    def places_of(self, y: Mapping[Place, Any]) -> dict[tuple[int, int], list[Any]]:
        """Literals of the places of every layer and choice."""
        found: dict[tuple[int, int], list[Any]] = {}
        for (i, q, _), literal in y.items():
            found.setdefault((i, q), []).append(literal)
        return found

    def leading(self, y: Mapping[Place, Any], leader: int) -> list[Any]:
        """Literals of a layer's being the first on its PE."""
        return [literal for (i, _, r), literal in y.items() if i == r == leader]

    def work_on(self, y: Mapping[Place, Any]) -> dict[int, list[tuple[int, Any]]]:
        """For the PE of every first layer: cycles that each layer on it works for a frame, and its literal."""
        found: dict[int, list[tuple[int, Any]]] = {}
        for (i, q, r), literal in y.items():
            work = self.choices[i][q].cycles * self.problem.network.layers[i].positions
            found.setdefault(r, []).append((work, literal))
        return found

    def groups(self, y: Mapping[Place, Any], value_of: Callable[[Any], int]) -> Groups:
        """The layers that share a PE in a solution."""
        members: dict[int, list[int]] = {}
        for (i, _, r), literal in y.items():
            if value_of(literal):
                members.setdefault(r, []).append(i)
        return tuple(tuple(group) for _, group in sorted(members.items()) if len(group) > 1)

    def lines(self, position: int, feed: int) -> tuple[Line, ...]:
        """The start of a layer after that of ``feed`` and its drain: at least a*z_feed - b*z_out for every (a, b)."""
        layers = self.problem.network.layers
        if not self.is_streaming:
            return ((layers[position].new_pixels, 0),)
        return delay_lines(layers[position], layers[feed])


def instance_of(problem: AllocationProblem, goal: Goal, limits: Limits) -> AllocationInstance:
    """The instance, reduced until nothing changes."""
    left = Narrowing(problem, limits, goal)
    while left.possible and left.step():
        pass
    layers = problem.network.layers
    floor = least_interval(problem, limits.pes) if left.possible else None
    fewest = fewest_pes(problem, left.longest) if left.possible else None
    paced = [low * layer.positions for low, layer in zip(left.low, layers, strict=True)]
    ends = [head + time + wait for head, time, wait in zip(left.head, paced, left.drains, strict=True)]
    last = range(len(layers)) if left.streaming else problem.network.sinks
    most = left.latest_end() if left.limits.cycles is None else left.limits.cycles
    start = tuple((head, most) for head in left.head)
    slowest = max(high * layer.positions for high, layer in zip(left.high, layers, strict=True))
    interval = (max([floor or 0, *paced]), min(left.longest, slowest))
    cycles = (max(ends[at] for at in last), most)
    own = (
        1
        if problem.sharing
        else sum(min((c.pes for c in own_choices), default=1) for own_choices in left.choices)
    )
    pes = (max(fewest or 0, own), limits.pes)
    fits = left.possible and floor is not None and fewest is not None
    return AllocationInstance(
        problem,
        goal,
        limits,
        tuple(left.choices),
        tuple(zip(left.low, left.high, strict=True)),
        start,
        interval,
        cycles,
        pes,
        fits and all(low <= high for low, high in (*start, interval, cycles, pes)),
    )
