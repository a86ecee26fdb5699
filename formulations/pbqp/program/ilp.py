"""PBQP as an integer linear program over the local polytope."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pulp

from mapper.formulations.formulation import family, index_set, objective, variables
from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.formulations.pulp_formulation import PulpFormulation
from mapper.models.pbqp.mapping import PbqpAssignment


class PbqpProgram(PulpFormulation):
    """The program of one problem; infinite costs leave their variable out."""

    title = "PBQP as an integer linear program"

    def __init__(self, problem: PbqpProblem) -> None:
        super().__init__("pbqp")
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
            (u, i): self.binary(f"x_{u}_{i}")
            for u in range(self.given.vertices)
            for i, cost in enumerate(self.given.costs(u).tolist())
            if cost != self.given.infinity
        }

    @variables(r"y_{e,i,j} \ge 0")
    def paired(self) -> None:
        """Whether the ends of edge e take the choices i and j, for every pair of finite cost."""
        self.y = {
            (e, i, j): self.continuous(f"y_{e}_{i}_{j}")
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
            self.model += pulp.lpSum(own) == 1, f"one_{u}"

    @family(r"\sum_j y_{e,i,j} = x_{u,i} \quad \forall e = (u, v) \in E,\ i")
    def rows(self) -> None:
        """An edge takes a pair with choice i at its first end if that end takes choice i, and only then."""
        self._marginals(0, "row")

    @family(r"\sum_i y_{e,i,j} = x_{v,j} \quad \forall e = (u, v) \in E,\ j")
    def columns(self) -> None:
        """An edge takes a pair with choice j at its second end if that end takes choice j, and only then."""
        self._marginals(1, "column")

    @objective(r"\min \sum_{u,i} c_u(i)\, x_{u,i} + \sum_{e,i,j} C_e(i,j)\, y_{e,i,j}")
    def cost(self) -> None:
        """The costs of the choices taken and of the pairs they form [Meng2021, Eq. 8]."""
        own = (self.given.costs(u)[i].item() * x for (u, i), x in self.x.items())
        matrices = [self.given.matrix(e) for e in range(self.given.edges)]
        paid = (matrices[e][i, j].item() * y for (e, i, j), y in self.y.items())
        self.model.setObjective(pulp.lpSum([*own, *paid]))

    def extract(self, value_of: Callable[[Any], int]) -> PbqpAssignment:
        """The choices that are taken."""
        taken = {u: i for (u, i), x in self.x.items() if value_of(x)}
        return PbqpAssignment(tuple(taken[u] for u in range(self.given.vertices)))

    def _marginals(self, side: int, name: str) -> None:
        pairs: dict[tuple[int, int], list[Any]] = {}
        for (e, i, j), y in self.y.items():
            pairs.setdefault((e, j if side else i), []).append(y)
        for e in range(self.given.edges):
            end = int(self.given.edge_end[e, side])
            for choice in range(self.given.choices_of(end)):
                joined = pairs.get((e, choice), [])
                if joined or (end, choice) in self.x:
                    taken = self.x.get((end, choice), 0)
                    self.model += pulp.lpSum(joined) == taken, f"{name}_{e}_{choice}"
