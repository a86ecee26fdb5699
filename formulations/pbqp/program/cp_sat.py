"""PBQP as a constraint program, in integers throughout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mapper.formulations.cp_sat_formulation import CpSatFormulation
from mapper.formulations.formulation import family, index_set, objective, variables
from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.models.pbqp.mapping import PbqpAssignment


class PbqpConstraintProgram(CpSatFormulation):
    """The constraint program of one problem with integer costs; infinite costs leave their variable out."""

    title = "PBQP as a constraint program"

    def __init__(self, problem: PbqpProblem) -> None:
        super().__init__()
        self.problem, self.given = problem, problem.pinned

    def instance(self) -> str:
        pinned = f", {len(self.problem.pins)} pinned" if self.problem.pins else ""
        return f"{self.given.name}: {self.given.vertices} vertices, {self.given.edges} edges{pinned}"

    @index_set(r"V")
    def vertices(self) -> int:
        """Vertices of the graph."""
        return self.given.vertices

    @index_set(r"E \subseteq V \times V")
    def edges(self) -> int:
        """Edges of the graph; parallel edges count one by one."""
        return self.given.edges

    @variables(r"x_{u,i} \in \{0, 1\}")
    def chosen(self) -> None:
        """Whether vertex u takes choice i, for every choice of finite cost."""
        self.x = {
            (u, i): self.model.new_bool_var(f"x_{u}_{i}")
            for u in range(self.given.vertices)
            for i, cost in enumerate(self.given.costs(u).tolist())
            if cost != self.given.infinity
        }

    @variables(r"y_{e,i,j} \in \{0, 1\}")
    def paired(self) -> None:
        """Whether the ends of edge e take the choices i and j, for every pair of finite cost."""
        self.y = {
            (e, i, j): self.model.new_bool_var(f"y_{e}_{i}_{j}")
            for e in range(self.given.edges)
            for i, row in enumerate(self.given.matrix(e).tolist())
            for j, cost in enumerate(row)
            if cost != self.given.infinity
        }

    @family(r"\sum_i x_{u,i} = 1 \quad \forall u \in V")
    def one_choice(self) -> None:
        """Every vertex takes one choice."""
        for u in range(self.given.vertices):
            own = [self.x[u, i] for i in range(self.given.choices_of(u)) if (u, i) in self.x]
            self.model.add_exactly_one(own)

    @family(r"\sum_j y_{e,i,j} = x_{u,i},\quad \sum_i y_{e,i,j} = x_{v,j} \quad \forall e = (u, v) \in E")
    def marginals(self) -> None:
        """The pair that an edge takes consists of the choices of its two ends."""
        pairs: dict[tuple[int, int, int], list[Any]] = {}
        for (e, i, j), y in self.y.items():
            pairs.setdefault((e, 0, i), []).append(y)
            pairs.setdefault((e, 1, j), []).append(y)
        for e in range(self.given.edges):
            for side, end in enumerate(self.given.edge_end[e].tolist()):
                for choice in range(self.given.choices_of(end)):
                    if (end, choice) in self.x:
                        self.model.add(sum(pairs.get((e, side, choice), [])) == self.x[end, choice])
                    else:
                        for y in pairs.get((e, side, choice), []):
                            self.model.add(y == 0)

    @objective(r"\min \sum_{u,i} c_u(i)\, x_{u,i} + \sum_{e,i,j} C_e(i,j)\, y_{e,i,j}")
    def cost(self) -> None:
        """The costs of the choices taken and of the pairs they form [Meng2021, Eq. 8]."""
        own = [self.given.costs(u)[i].item() * x for (u, i), x in self.x.items()]
        matrices = [self.given.matrix(e).tolist() for e in range(self.given.edges)]
        paid = [matrices[e][i][j] * y for (e, i, j), y in self.y.items()]
        self.model.minimize(sum(own) + sum(paid))

    def hint(self, known: PbqpAssignment) -> None:
        """Start from the choices of ``known``."""
        for (u, i), x in self.x.items():
            self.model.add_hint(x, int(known.choice[u] == i))
        for (e, i, j), y in self.y.items():
            one, other = self.given.edge_end[e].tolist()
            self.model.add_hint(y, int(known.choice[one] == i and known.choice[other] == j))

    def extract(self, value_of: Callable[[Any], int]) -> PbqpAssignment:
        """The choices that are taken."""
        taken = {u: i for (u, i), x in self.x.items() if value_of(x)}
        return PbqpAssignment(tuple(taken[u] for u in range(self.given.vertices)))
