"""The integer linear program of a recurrence's schedule, for tiles and an order that are given.

Everything that dependences ask is linear in the interval and the starts of tiles; the product of interval and steps
is too, since steps within a tile are numbers here. Tiles, order and layout are tried one by one outside of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mapper.formulations.formulation import family, index_set, objective, variables
from mapper.formulations.pe_allocation.recurrence.problem import RecurrenceProblem
from mapper.formulations.pulp_formulation import PulpFormulation
from mapper.models.pe_allocation.nest.work import LINK_LATENCY
from mapper.models.pe_allocation.recurrence.cost import NEVER, filled, last_steps
from mapper.models.pe_allocation.recurrence.feed import feeds, handed_on
from mapper.models.pe_allocation.recurrence.tiling import Axes, Demand, demands, shape_of


class ScheduleProgram(PulpFormulation):
    """The schedule of these tiles of ``problem`` whose last result is back first."""

    title = "The schedule of a recurrence's tiles as an integer linear program"

    def __init__(
        self, problem: RecurrenceProblem, axes: Axes, order: tuple[str, ...], tile: dict[str, int]
    ) -> None:
        super().__init__("recurrence")
        self.problem, self.axes, self.order, self.tile = problem, axes, order, tile
        self.asked = demands(problem.body, problem.grid, axes, order, tile) or []
        self.feeds = feeds(problem.body, axes, tile)
        self.shape = shape_of(problem.recurrence, axes, tile)

    def instance(self) -> str:
        sizes = ", ".join(f"{loop} {size:,} of {n:,}" for (loop, n), size in self._sizes())
        rows, columns = ("none" if loop is None else loop for loop in self.axes)
        where = f"rows {rows}, columns {columns}, order {' > '.join(self.order)}"
        return f"{self.problem.recurrence.name} on {self.problem.machine.name}: tiles of {sizes}; {where}"

    def _sizes(self) -> Iterator[tuple[tuple[str, int], int]]:
        for loop, bound in self.problem.recurrence.bounds:
            yield (loop, bound), self.tile[loop]

    @index_set(r"Q = \{(r, c)\}")
    def tiles(self) -> int:
        """Tiles, each on a PE."""
        return self.shape[0] * self.shape[1]

    @index_set(r"D = \{(v, d)\}")
    def dependences(self) -> int:
        """Tensors v whose values are read d iterations later."""
        return len(self.problem.body.dependences)

    @index_set(r"K_d \subseteq \{-1, 0, 1\}^2")
    def ways(self) -> int:
        """Ways over rows and columns that values at these distances go, all distances together."""
        return len(self.asked)

    @variables(r"\pi \in \mathbb{N}")
    def interval(self) -> None:
        """Cycles from an iteration of a PE to its next."""
        self.pi = self.integer("interval", None)

    @variables(r"\mu_r, \mu_c \in \mathbb{N}")
    def starts(self) -> None:
        """Cycles from a tile to the next one below, and to the next one on its right."""
        self.mu = self.integer("rows", None), self.integer("columns", None)

    @variables(r"z \in \mathbb{N}")
    def last(self) -> None:
        """The cycle in which the last result is back in a buffer."""
        self.z = self.integer("cycles", None)

    @family(r"\pi \ge \lceil n / u \rceil")
    def units(self) -> None:
        """The operations of an iteration find units."""
        self.model += self.pi >= self.problem.body.interval

    @family(r"\pi \sum_l \Lambda_l d_l \ge \delta_{v,d} \quad \forall (v, d): 0 \in K_d")
    def computed(self) -> None:
        """Within a tile, a value is computed before it is read; Lambda are the iterations from a step of a loop to its
        next, delta the cycles from one iteration's begin to the other's that operations take."""
        for one in self.asked:
            if not one.down and not one.across:
                self._ask(one)

    @family(
        r"\pi \sum_l \Lambda_l (d_l - k_l p_l) + \mu_r k_r + \mu_c k_c \ge \delta_{v,d} + \ell (|k_r| + |k_c|) "
        r"\quad \forall k \in K_d \setminus 0"
    )
    def sent(self) -> None:
        """From tile to tile, a value is computed and over the links before it is read."""
        for one in self.asked:
            if one.down or one.across:
                self._ask(one)

    @family(r"\mu_a \ge \ell \text{ if an input is the same along } a")
    def handed(self) -> None:
        """An input that tiles hand on takes a link's cycle to the next one."""
        for feed in self.feeds:
            for one in handed_on(feed):
                self._ask(one)

    @family(
        r"z \ge F + \mu_r r + \mu_c c + \pi s_{r,c} + \epsilon + \ell\, b_{r,c} \quad \forall (r, c) \in Q"
    )
    def back(self) -> None:
        """Every tile's last result is back: F cycles fill the array, s iterations come before it in its tile, epsilon
        cycles compute it, and b links lie between its PE and the border."""
        fill = filled(self.feeds, self.problem.grid)
        border = self.problem.grid.to_border
        steps = last_steps(self.problem.body, self.axes, self.order, self.tile)
        for count, end in steps:
            for row, column in np.argwhere(count != NEVER).tolist():
                begun = self.mu[0] * row + self.mu[1] * column + self.pi * int(count[row, column])
                self.model += self.z >= fill + begun + end + LINK_LATENCY * int(border[row, column])

    @objective(r"\min z")
    def soonest(self) -> None:
        """The fewest cycles."""
        self.model += self.z

    def _ask(self, one: Demand) -> None:
        left: Any = one.steps * self.pi + one.down * self.mu[0] + one.across * self.mu[1]
        self.model += left >= one.cycles


def build(
    problem: RecurrenceProblem, axes: Axes, order: tuple[str, ...], tile: dict[str, int]
) -> ScheduleProgram:
    """The program, built."""
    program = ScheduleProgram(problem, axes, order, tile)
    program.build()
    return program
