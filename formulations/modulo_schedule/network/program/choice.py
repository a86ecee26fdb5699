"""The layer problem in symbols: one algorithm, and for every nest of it an innermost loop and unroll factors."""

from __future__ import annotations

from mapper.formulations.cp_sat_formulation import CpSatFormulation
from mapper.formulations.formulation import family, index_set, objective, variables
from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.formulations.modulo_schedule.network.program.cover import BoxWeight, CoverSearch
from mapper.models.modulo_schedule.network.cost import outside_cycles
from mapper.models.modulo_schedule.network.estimate import Estimator


class LayerFormulation(CpSatFormulation):
    """The program whose optimum is the bound on a layer's cycles: every box at its MII."""

    title = "Tuning a layer: algorithm, interchange and unroll factors"

    def __init__(self, problem: LayerProblem) -> None:
        super().__init__()
        self.problem = problem
        estimator = Estimator(problem.machine)
        self.weight = {
            (a, n, innermost, factors): cycles
            for a, algorithm in enumerate(problem.space)
            for n, nest in enumerate(algorithm.nests)
            for innermost in nest.innermost()
            for weight in [BoxWeight(nest, innermost, estimator)]
            for cycles, factors in CoverSearch(nest, innermost, weight.least_cycles).weighed()
        }
        self.build()

    def instance(self) -> str:
        return f"{self.problem.layer.name} ({self.problem.layer.op}) on {self.problem.machine.name}"

    @index_set(r"A")
    def algorithms(self) -> int:
        """Algorithms of the layer."""
        return len(self.problem.space)

    @index_set(r"N_a")
    def nests(self) -> int:
        """Loop nests of all algorithms."""
        return sum(len(algorithm.nests) for algorithm in self.problem.space)

    @index_set(r"V_n = \{(o, u)\} \quad 1 \le u_l \le 8")
    def vectors(self) -> int:
        """Innermost loops that dependences allow, with every vector of unroll factors."""
        return len(self.weight)

    @variables(r"y_a \in \{0,1\}")
    def algorithm(self) -> None:
        """The layer runs by algorithm a."""
        self.runs_by = [self.model.new_bool_var(f"y_{choice.name}") for choice in self.problem.space]

    @variables(r"x_{n,o,u} \in \{0,1\}")
    def unrolling(self) -> None:
        """Nest n has loop o innermost, and its main box is unrolled by the factors u."""
        self.unrolled = {
            key: self.model.new_bool_var(f"x_{key[0]}_{key[1]}_{key[2]}_{'_'.join(map(str, key[3]))}")
            for key in self.weight
        }

    @family(r"\sum_a y_a = 1")
    def one_algorithm(self) -> None:
        """The layer runs by one algorithm."""
        self.model.add_exactly_one(self.runs_by)

    @family(r"\sum_{o,u} x_{n,o,u} = y_a \quad \forall a, n \in N_a")
    def one_vector(self) -> None:
        """Every nest of the chosen algorithm has one innermost loop and one vector of unroll factors."""
        for a, algorithm in enumerate(self.problem.space):
            for n in range(len(algorithm.nests)):
                own = [variable for key, variable in self.unrolled.items() if key[:2] == (a, n)]
                self.model.add(sum(own) == self.runs_by[a])

    @objective(
        r"\min \sum_a c_a y_a + \sum w_{n,o,u} x_{n,o,u},\quad w_{n,o,u} = \text{runs}\,(\max(t\,MII,\ "
        r"(t-1)\,MII + D + 1) + s) + \ell\,MII + \sum_{\text{remainders } r} \min_{u'} w_{r,o,u'}"
    )
    def cycles(self) -> None:
        """Cycles in VLIW mode, and for every box its t iterations at MII, its longest path D and its set-up
        s, and once l cycles for each cycle of MII to load its words. What the factors leave over of a loop is a
        box of its own, unrolled as is best for it."""
        outside = [
            sum(outside_cycles(algorithm, self.problem.layer.op, self.problem.machine))
            for algorithm in self.problem.space
        ]
        self.model.minimize(
            sum(cycles * y for cycles, y in zip(outside, self.runs_by, strict=True))
            + sum(self.weight[key] * variable for key, variable in self.unrolled.items())
        )
