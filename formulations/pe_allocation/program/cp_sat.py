"""PE allocation as a constraint program: the same problem as in `ilp.py`, in integers throughout
[Heidorn2019, sec. 5.2]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mapper.formulations.cp_sat_formulation import CpSatFormulation
from mapper.formulations.formulation import family, index_set, objective, variables
from mapper.formulations.pe_allocation.program.choice import Groups, allocation_of, paces
from mapper.formulations.pe_allocation.program.instance import AllocationInstance
from mapper.models.pe_allocation.mapping import Allocation


class AllocationConstraintProgram(CpSatFormulation):
    """The constraint program of one instance."""

    title = "PE allocation as a constraint program"

    def __init__(self, instance: AllocationInstance) -> None:
        super().__init__()
        self.of = instance
        self.layers = instance.problem.network.layers

    def instance(self) -> str:
        problem = self.of.problem
        return f"{problem.network.name} on {problem.machine.name} ({self.of.limits.pes} PEs), model {problem.model}"

    @index_set(r"Q_i")
    def useful_choices(self) -> int:
        """PE counts of each layer that are worth having, with numbers of units where these are free."""
        return sum(map(len, self.of.choices))

    @variables(r"x_{i,q} \in \{0, 1\}")
    def chosen(self) -> None:
        """Whether layer i gets choice q."""
        self.x = [
            [self.model.new_bool_var(f"x_{i}_{c.pes}_{c.delta}") for c in left]
            for i, left in enumerate(self.of.choices)
        ]

    @variables(r"z_i,\ t_i,\ \Lambda,\ L,\ P")
    def quantities(self) -> None:
        """Cycles per position, start times, cycles between frames, cycles of latency, and PEs."""
        pace, start = self.of.pace, self.of.start
        self.z = [self.model.new_int_var(*bounds, f"z_{i}") for i, bounds in enumerate(pace)]
        self.t = [self.model.new_int_var(*bounds, f"t_{i}") for i, bounds in enumerate(start)]
        self.interval = self.model.new_int_var(*self.of.interval, "interval")
        self.cycles = self.model.new_int_var(*self.of.cycles, "cycles")
        self.pes = self.model.new_int_var(*self.of.pes, "pes")

    @variables(r"y_{i,q,r} \in \{0, 1\}")
    def shared_pes(self) -> None:
        """Whether layer i with choice q, of one PE, works on the PE of layer r, the first of the layers that
        share it."""
        self.y = {key: self.model.new_bool_var("y_{}_{}_{}".format(*key)) for key in self.of.sharing_places()}

    @family(r"\sum_q x_{i,q} = 1 \quad \forall i")
    def one_choice(self) -> None:
        """Every layer gets one choice."""
        for literals in self.x:
            self.model.add_exactly_one(literals)

    @family(r"z_i \ge \sum_q \lceil M_i/q \rceil \lceil N_i/\delta_q \rceil K_i^2\, x_{i,q}")
    def work(self) -> None:
        """A position takes no fewer cycles than its work takes on the chosen PEs (Eq. 6); pinned idle cycles
        are exact. One sum for all choices, which relaxes better than a condition for each."""
        for i, layer in enumerate(self.layers):
            idle = self.of.problem.pin(layer).throttle
            chosen = zip(self.of.choices[i], self.x[i], strict=True)
            work = sum((choice.cycles + (idle or 0)) * literal for choice, literal in chosen)
            self.model.add(self.z[i] == work if idle is not None else self.z[i] >= work)

    @family(r"z_i \ge F_i z_j \quad \forall j \to i")
    def matched_rates(self) -> None:
        """No layer works faster than its pixels arrive (Eq. 9); in the streaming model it waits instead."""
        for i, layer in enumerate(self.layers):
            for j in layer.feeds if not self.of.is_streaming else ():
                self.model.add(self.z[i] >= layer.new_pixels * self.z[j])

    @family(r"t_i \ge t_j + d_j + a z_j - b z_i")
    def starts(self) -> None:
        """A layer starts once the pixels that it needs are there (Eqs. 8 and 10, or the lines of the
        streaming model's delay and d cycles of the units)."""
        for i, layer in enumerate(self.layers):
            for j in layer.feeds:
                for a, b in self.of.lines(i, j):
                    ready = self.t[j] + self.of.drains[j]
                    self.model.add(self.t[i] >= ready + a * self.z[j] - b * self.z[i])

    @family(r"\Lambda \ge R_{i+1} C_{i+1} z_i,\quad L \ge t_i + R_{i+1} C_{i+1} z_i + d_i")
    def times(self) -> None:
        """Frames follow each other at the pace of the slowest layer (Eq. 13), and a frame is done when the
        last layer is (Eq. 12)."""
        for i, layer in enumerate(self.layers):
            self.model.add(self.interval >= layer.positions * self.z[i])
        for i in self.of.last_layers:
            done = self.layers[i].positions * self.z[i] + self.of.drains[i]
            self.model.add(self.cycles >= self.t[i] + done)

    @family(r"\sum_r y_{i,q,r} = x_{i,q},\quad y_{i,q,r} \le \sum_{q'} y_{r,q',r}")
    def one_place(self) -> None:
        """A layer of one PE has a PE of its own or works on that of another layer, which is the first of its
        group."""
        for (i, q), places in self.of.places_of(self.y).items():
            self.model.add(sum(places) == self.x[i][q])
        for (i, _, r), literal in self.y.items():
            if i != r:
                self.model.add_bool_or([~literal, *self.of.leading(self.y, r)])

    @family(r"y_{i,q,r} \Rightarrow R_{i+1} C_{i+1} z_i \ge \sum_{k,q'} w_{k,q'} y_{k,q',r}")
    def turns(self) -> None:
        """The work of all layers on a shared PE fits the time that each of them takes for a frame."""
        for r, work in self.of.work_on(self.y).items():
            total = sum(cycles * literal for cycles, literal in work)
            for (i, _, place), literal in self.y.items():
                if place == r:
                    self.model.add(self.layers[i].positions * self.z[i] >= total).only_enforce_if(literal)

    @family(r"\sum_i \sum_q q\, x_{i,q} \le P")
    def array_size(self) -> None:
        """All layers together use no more PEs than there are; a shared PE counts once."""
        self.model.add(sum(self.of.used_pes(self.x, self.y)) <= self.pes)

    @objective(r"\min \Lambda,\ L \text{ or } P")
    def least(self) -> None:
        """The least of one quantity."""
        goals = {"interval": self.interval, "cycles": self.cycles, "pes": self.pes}
        self.model.minimize(goals[self.of.goal] if self.of.goal in goals else sum(self.of.used_units(self.x)))

    def extract(self, value_of: Callable[[Any], int]) -> Allocation:
        """The allocation of a solution."""
        chosen = [
            next(c for c, x in zip(left, xs, strict=True) if value_of(x))
            for left, xs in zip(self.of.choices, self.x, strict=True)
        ]
        groups: Groups = self.of.groups(self.y, value_of)
        z_out = paces(self.of.problem, chosen, groups)
        if self.of.is_streaming:
            z_out = tuple(value_of(z) for z in self.z)
        return allocation_of(self.of.problem, chosen, z_out, groups)
