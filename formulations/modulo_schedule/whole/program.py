"""The problem of a whole kernel in symbols: who runs the outer loops, and an interval for every loop."""

from __future__ import annotations

from functools import cached_property

from mapper.formulations.cp_sat_formulation import CpSatFormulation
from mapper.formulations.formulation import family, index_set, objective, variables
from mapper.formulations.modulo_schedule.whole.bound import intervals, loop_bound, outside_cycles
from mapper.formulations.modulo_schedule.whole.problem import WholeProblem


class WholeFormulation(CpSatFormulation):
    """The program whose optimum is the bound on a whole kernel's cycles: every loop at an interval from its MII on."""

    title = "A whole kernel: its outer loops, and an interval for every loop"

    def __init__(self, problem: WholeProblem) -> None:
        super().__init__()
        self.problem = problem
        self.build()

    def instance(self) -> str:
        return f"{self.problem.whole.name} (nest {self.problem.whole.nest}) on {self.problem.machine.name}"

    @cached_property
    def weight(self) -> dict[tuple[int, int, int], int]:
        """Cycles of loop k of choice c at each interval that may be best."""
        return {
            (c, k, ii): loop_bound(choice, k, ii)
            for c, choice in enumerate(self.problem.choices)
            for k in range(len(choice.whole.kernels))
            for ii in intervals(choice, k)
        }

    @index_set(r"C")
    def choices(self) -> int:
        """Who may run the loops around the innermost ones."""
        return len(self.problem.choices)

    @index_set(r"K_c")
    def loops(self) -> int:
        """Loops that are started, of all choices."""
        return len({key[:2] for key in self.weight})

    @index_set(r"I_k = \{MII_k, \dots\}")
    def intervals(self) -> int:
        """Intervals of all loops at which their cycles may be least."""
        return len(self.weight)

    @variables(r"y_c \in \{0,1\}")
    def nest(self) -> None:
        """The outer loops are run as choice c says."""
        self.chosen = [
            self.model.new_bool_var(f"y_{choice.whole.nest}_{c}")
            for c, choice in enumerate(self.problem.choices)
        ]

    @variables(r"x_{k,i} \in \{0,1\}")
    def interval(self) -> None:
        """Loop k issues an iteration every i cycles."""
        self.taken = {key: self.model.new_bool_var(f"x_{key[0]}_{key[1]}_{key[2]}") for key in self.weight}

    @family(r"\sum_c y_c = 1")
    def one_nest(self) -> None:
        """One choice is taken."""
        self.model.add_exactly_one(self.chosen)

    @family(r"\sum_i x_{k,i} = y_c \quad \forall c, k \in K_c")
    def one_interval(self) -> None:
        """Every loop of the choice has one interval, and at it a schedule that keeps all rules of a loop's own
        program."""
        for c, k in sorted({key[:2] for key in self.weight}):
            own = [variable for key, variable in self.taken.items() if key[:2] == (c, k)]
            self.model.add(sum(own) == self.chosen[c])

    @objective(
        r"\min \sum_c h_c y_c + \sum_{k,i} w_{k,i} x_{k,i},\quad "
        r"w_{k,i} = (n_k + s_k \lfloor L_{k,i} / i \rfloor)\, i + \ell\, i"
    )
    def cycles(self) -> None:
        """Cycles h of the host and around starts, and for every loop its n iterations in s starts with the stages that
        its longest path L needs at the least, and once l cycles for each cycle of i to load its words. A schedule may
        need more stages; what it needs is counted."""
        outside = [outside_cycles(choice) for choice in self.problem.choices]
        self.model.minimize(
            sum(cycles * y for cycles, y in zip(outside, self.chosen, strict=True))
            + sum(self.weight[key] * variable for key, variable in self.taken.items())
        )
