"""Formulations whose modelling layer is PuLP's."""

from __future__ import annotations

from typing import Any

import pulp

from mapper.formulations.formulation import Formulation
from mapper.workloads.process.temporary import temporary_folder


class PulpFormulation(Formulation):
    """Base of the integer linear programs, which minimise; ``model`` is what the marked methods of a subclass add
    to, its variables by ``binary``, ``integer`` and ``continuous``, which count them."""

    exports = ("lp", "mps")

    def __init__(self, name: str) -> None:
        self.model = pulp.LpProblem(name, pulp.LpMinimize)
        self._columns = 0

    def size(self) -> tuple[int, int]:
        # PuLP itself counts only the variables that a constraint or the objective has.
        return self._columns, self.model.numConstraints()

    def exported(self, form: str) -> str:
        with temporary_folder() as folder:
            path = folder / f"model.{form}"
            if form == "lp":
                self.model.writeLP(str(path))
            else:
                self.model.writeMPS(str(path))
            return path.read_text()

    def binary(self, name: str) -> Any:
        """A new variable that is 0 or 1."""
        return self._variable(name, 1, pulp.LpBinary)

    def integer(self, name: str, most: int | None) -> Any:
        """A new integer from 0 to ``most`` (None: no limit)."""
        return self._variable(name, most, pulp.LpInteger)

    def continuous(self, name: str, most: int | None = None) -> Any:
        """A new number from 0 to ``most`` (None: no limit), which need not be whole."""
        return self._variable(name, most, pulp.LpContinuous)

    def _variable(self, name: str, most: int | None, category: str) -> Any:
        self._columns += 1
        return self.model.add_variable(name, 0, most, category)
