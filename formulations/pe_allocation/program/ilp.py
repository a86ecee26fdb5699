"""The integer linear program of PE allocation [Heidorn2019, secs. 5.2, 6 and 7].

The ceilings of Eq. 6 are exact: one binary variable for every PE count that can help, with the cycles that it gives as
its coefficient. docs/formulation/pe-allocation.md says what the proof rests on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pulp

from mapper.formulations.formulation import family, index_set, objective, variables
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.choice import allocation_of, paces
from mapper.formulations.pe_allocation.program.goal import GOALS, Limits
from mapper.formulations.pe_allocation.program.instance import AllocationInstance, instance_of
from mapper.formulations.pe_allocation.program.sequential.ilp import SequentialProgram
from mapper.formulations.pulp_formulation import PulpFormulation
from mapper.models.pe_allocation.mapping import Allocation

SENSES: dict[str, str] = {
    "interval": "cycles between frames",
    "cycles": "cycles of latency",
    "pes": "PEs",
    "units": "functional units",
}


class AllocationProgram(PulpFormulation):
    """The program of one instance.

    z, t and the two times are counted from their least values, which keeps coefficients small.
    """

    title = "PE allocation as an integer linear program"

    def __init__(self, instance: AllocationInstance) -> None:
        super().__init__("pe_allocation")
        self.of = instance
        self.layers = instance.problem.network.layers

    def instance(self) -> str:
        problem = self.of.problem
        return (
            f"{problem.network.name} on {problem.machine.name} ({self.of.limits.pes} PEs), model {problem.model}, "
            f"least {SENSES[self.of.goal]}"
        )

    @index_set(r"V")
    def network_layers(self) -> int:
        """Layers that run on the array."""
        return len(self.layers)

    @index_set(r"Q_i = \{q \le P : \lceil M_i/q \rceil < \lceil M_i/(q-1) \rceil\}")
    def useful_choices(self) -> int:
        """PE counts of each layer that are worth having, with numbers of units delta where these are free: no
        smaller count is as fast, and the limits leave time and PEs for them."""
        return sum(map(len, self.of.choices))

    @variables(r"x_{i,q} \in \{0, 1\}")
    def chosen(self) -> None:
        """Whether layer i gets choice q."""
        self.x = [
            [self.binary(f"x_{i}_{c.pes}_{c.delta}") for c in left] for i, left in enumerate(self.of.choices)
        ]

    @variables(r"z_i \in \mathbb Z,\ \underline z_i \le z_i \le \bar z_i")
    def throttled_paces(self) -> None:
        """Cycles that layer i takes per position, idle cycles included: the throttle is z minus the cycles of
        the work."""
        self.z = [self._above(f"z_{i}", low, high) for i, (low, high) in enumerate(self.of.pace)]

    @variables(r"t_i \ge 0")
    def start_times(self) -> None:
        """The cycle in which layer i starts."""
        self.t = [self._above(f"t_{i}", low, high) for i, (low, high) in enumerate(self.of.start)]

    @variables(r"\Lambda, L \in \mathbb Z,\quad P \in \mathbb Z")
    def costs(self) -> None:
        """Cycles between frames, cycles of latency, and PEs."""
        self.interval = self._above("interval", *self.of.interval)
        self.cycles = self._above("cycles", *self.of.cycles)
        self.pes = self._above("pes", *self.of.pes)

    @variables(r"y_{i,q,r} \in \{0, 1\} \quad r \le i")
    def shared_pes(self) -> None:
        """Where layers may share a PE: whether layer i with choice q, of one PE, works on the PE of layer r,
        the first of the layers on it."""
        self.y = {place: self.binary("y_{}_{}_{}".format(*place)) for place in self.of.sharing_places()}

    @family(r"\sum_{q \in Q_i} x_{i,q} = 1 \quad \forall i")
    def one_choice(self) -> None:
        """Every layer gets one choice."""
        for literals in self.x:
            self.model += pulp.lpSum(literals) == 1

    @family(
        r"z_i \ge \sum_{q} \lceil M_i/q \rceil \lceil N_i/\delta_q \rceil K_i^2\, x_{i,q} \quad \forall i"
    )
    def work(self) -> None:
        """A position takes no fewer cycles than its work takes on the chosen PEs (Eq. 6), plus those by which
        it is throttled; pinned idle cycles are exact."""
        for i, layer in enumerate(self.layers):
            low, idle = self.of.pace[i][0], self.of.problem.pin(layer).throttle
            if idle is not None:
                self.model += self.z[i] == pulp.lpSum(
                    (c.cycles + idle) * x for c, x in zip(self.of.choices[i], self.x[i], strict=True)
                )
                continue
            above = [
                (c.cycles - low, x)
                for c, x in zip(self.of.choices[i], self.x[i], strict=True)
                if c.cycles > low
            ]
            if above:
                self.model += self.z[i] - low >= pulp.lpSum(more * x for more, x in above)

    @family(r"z_i \ge F_i z_j \quad \forall j \to i")
    def matched_rates(self) -> None:
        """No layer works faster than its pixels arrive (Eqs. 8 and 9); in the streaming model it waits
        instead."""
        if self.of.is_streaming:
            return
        for i, layer in enumerate(self.layers):
            for j in layer.feeds:
                self.model += self.z[i] >= layer.new_pixels * self.z[j]

    @family(
        r"t_i \ge t_j + F_i z_j,\quad \text{streaming: } t_i \ge t_j + d_j + a z_j - b z_i \quad \forall j \to i"
    )
    def starts(self) -> None:
        """A layer starts once the first pixels that it needs are there (Eqs. 8 and 10). In the streaming
        model no position may find a pixel missing; the corners (a, b) of a convex hull suffice to say so. Units
        hand pixels on d cycles after their position's time."""
        for i, layer in enumerate(self.layers):
            for j in layer.feeds:
                for a, b in self.of.lines(i, j):
                    ready = self.t[j] + self.of.drains[j]
                    self.model += self.t[i] >= ready + a * self.z[j] - b * self.z[i]

    @family(r"\Lambda \ge R_{i+1} C_{i+1} z_i \quad \forall i")
    def frame_interval(self) -> None:
        """Frames follow each other at the pace of the slowest layer (Eqs. 11 and 13)."""
        for i, layer in enumerate(self.layers):
            self.model += self.interval >= layer.positions * self.z[i]

    @family(r"L \ge t_i + R_{i+1} C_{i+1} z_i + d_i \quad \forall i \text{ that no layer reads}")
    def frame_latency(self) -> None:
        """A frame is done when the last layer is (Eq. 12); in the streaming model any layer may be the
        last."""
        for i in self.of.last_layers:
            done = self.layers[i].positions * self.z[i] + self.of.drains[i]
            self.model += self.cycles >= self.t[i] + done

    @family(r"\sum_r y_{i,q,r} = x_{i,q},\quad \sum_q y_{i,q,r} \le \sum_{q} y_{r,q,r}")
    def one_place(self) -> None:
        """A layer of one PE works on a PE of its own, or on that of an earlier layer that works on its
        own."""
        for (i, q), places in self.of.places_of(self.y).items():
            self.model += pulp.lpSum(places) == self.x[i][q]
        for (i, r), literals in self._at_leader().items():
            if i != r:
                self.model += pulp.lpSum(literals) <= pulp.lpSum(self.of.leading(self.y, r))

    @family(
        r"R_{i+1} C_{i+1} z_i \ge W_r - \bar W (1 - \sum_q y_{i,q,r}), \quad W_r = \sum_{k,q} w_{k,q} y_{k,q,r}"
    )
    def turns(self) -> None:
        """The work W of all layers on a shared PE fits the time that each of them takes for a frame."""
        work = {
            r: pulp.lpSum(cycles * y for cycles, y in terms) for r, terms in self.of.work_on(self.y).items()
        }
        total = {r: sum(cycles for cycles, _ in terms) for r, terms in self.of.work_on(self.y).items()}
        for (i, r), literals in self._at_leader().items():
            positions, low = self.layers[i].positions, self.of.pace[i][0]
            most = max(positions * low, min(self.of.interval[1], total[r]))
            free = (most - positions * low) * (1 - pulp.lpSum(literals))
            self.model += positions * self.z[i] >= work[r] - free

    def _at_leader(self) -> dict[tuple[int, int], list[Any]]:
        """Literals of a layer's working on the PE of another, whatever its choice."""
        found: dict[tuple[int, int], list[Any]] = {}
        for (i, _, r), literal in self.y.items():
            found.setdefault((i, r), []).append(literal)
        return found

    @family(r"\sum_i \sum_q q\, x_{i,q} \le P")
    def array_size(self) -> None:
        """All layers together use no more PEs than there are; a shared PE counts once, by its first layer's
        y."""
        self.model += pulp.lpSum(self.of.used_pes(self.x, self.y)) <= self.pes

    @objective(r"\min \Lambda,\ L \text{ or } P")
    def least(self) -> None:
        """The least of one quantity; ties are broken by further programs that have it as a limit."""
        goals = {
            "interval": self.interval,
            "cycles": self.cycles,
            "pes": self.pes,
            "units": pulp.lpSum(self.of.used_units(self.x)),
        }
        goal = goals[self.of.goal]
        self.least_goal = round(goal.constant)
        self.model.setObjective(goal - self.least_goal)

    def extract(self, value_of: Callable[[Any], int]) -> Allocation:
        """The allocation of a solution. Paces are the least for its choices, or what was solved for where taking
        longer can help (streaming)."""
        chosen = [
            next((c for c, x in zip(left, xs, strict=True) if value_of(x)), left[0])
            for left, xs in zip(self.of.choices, self.x, strict=True)
        ]
        groups = self.of.groups(self.y, value_of)
        z_out = paces(self.of.problem, chosen, groups)
        if self.of.is_streaming:
            z_out = tuple(
                least if self.of.problem.pin(layer).throttle is not None else max(least, value_of(z))
                for least, z, layer in zip(z_out, self.z, self.layers, strict=True)
            )
        return allocation_of(self.of.problem, chosen, z_out, groups)

    def _above(self, name: str, low: int, high: int) -> Any:
        """An integer from ``low`` to ``high``, counted from ``low``."""
        return low + self.integer(name, max(0, high - low))


def build(problem: AllocationProblem) -> AllocationProgram | SequentialProgram:
    """The program of the problem's objective on the whole machine, built. It is the first of its ties' programs."""
    program: AllocationProgram | SequentialProgram
    if problem.mode == "layer-by-layer":
        program = SequentialProgram(problem)
    else:
        limits = Limits(problem.most_pes, problem.longest_interval)
        program = AllocationProgram(instance_of(problem, GOALS[problem.objective][0], limits))
    program.build()
    return program
