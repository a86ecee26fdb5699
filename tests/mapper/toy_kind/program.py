"""The problem as a constraint program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mapper.formulations.cp_sat_formulation import CpSatFormulation
from mapper.formulations.formulation import family, index_set, objective, variables
from tests.mapper.toy_kind.model import Packing
from tests.mapper.toy_kind.problem import PackingProblem


class PackingProgram(CpSatFormulation):
    """The constraint program of one problem."""

    title = "Packing jobs as a constraint program"

    def __init__(self, problem: PackingProblem) -> None:
        super().__init__()
        self.problem = problem
        self.jobs, self.budgets = problem.jobs.jobs, problem.machine.cycles

    def instance(self) -> str:
        return f"{self.problem.jobs.name}: {len(self.jobs)} jobs, {len(self.budgets)} workers"

    @index_set(r"J")
    def all_jobs(self) -> int:
        """Jobs."""
        return len(self.jobs)

    @variables(r"x_{j,w} \in \{0, 1\}")
    def given_to(self) -> None:
        """Whether job j is given to worker w."""
        places = ((job, worker) for job in range(len(self.jobs)) for worker in range(len(self.budgets)))
        self.x = {place: self.model.new_bool_var(f"x_{place[0]}_{place[1]}") for place in places}

    @family(r"\sum_w x_{j,w} \le 1 \quad \forall j \in J")
    def once(self) -> None:
        """A job is done once at the most."""
        for job in range(len(self.jobs)):
            self.model.add_at_most_one(x for (own, _), x in self.x.items() if own == job)

    @family(r"\sum_j t_j x_{j,w} \le T_w \quad \forall w")
    def in_time(self) -> None:
        """The jobs of a worker take no more cycles than it has."""
        for worker, cycles in enumerate(self.budgets):
            taken = (self.jobs[job].cycles * x for (job, own), x in self.x.items() if own == worker)
            self.model.add(sum(taken) <= cycles)

    @family(r"x_{j,w} = 1 \quad \text{where } j \text{ is pinned to } w")
    def pinned(self) -> None:
        """Pinned jobs are where they are pinned."""
        for place in self.problem.pins.items():
            self.model.add(self.x[place] == 1)

    @objective(r"\max \sum_{j,w} v_j x_{j,w}")
    def worth(self) -> None:
        """The worth of the jobs that are done."""
        self.model.maximize(sum(self.jobs[job].worth * x for (job, _), x in self.x.items()))

    def extract(self, value_of: Callable[[Any], int]) -> Packing:
        """The packing that a solution stands for."""
        taken = {job: worker for (job, worker), x in self.x.items() if value_of(x)}
        return Packing(tuple(taken.get(job) for job in range(len(self.jobs))))
