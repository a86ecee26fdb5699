"""Formulations whose modelling layer is CP-SAT's."""

from __future__ import annotations

from ortools.sat.python import cp_model

from mapper.formulations.formulation import Formulation


class CpSatFormulation(Formulation):
    """Base of the constraint programs; ``model`` is what the marked methods of a subclass add to. It can be written
    in CP-SAT's own text form alone, as products, tables and implications have no linear one."""

    exports = ("cpsat",)

    def __init__(self) -> None:
        self.model = cp_model.CpModel()

    def size(self) -> tuple[int, int]:
        return len(self.model.proto.variables), len(self.model.proto.constraints)

    def exported(self, form: str) -> str:
        return str(self.model.proto)
