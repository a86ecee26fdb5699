"""What the formulations of a modelling layer share is stated once, and what their models hold is what is counted."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from mapper.formulations.cp_sat_formulation import CpSatFormulation
from mapper.formulations.formulation import family, objective, variables
from mapper.formulations.pulp_formulation import PulpFormulation
from mapper.workloads.document import InputError

FLOOR = Path(__file__).parent.parent.parent / "formulations"
SHARED = {"size", "exported"}


class Halves(PulpFormulation):
    """The least whole number, of at least half of 7."""

    title = "Half of seven"

    def __init__(self) -> None:
        super().__init__("halves")

    def instance(self) -> str:
        return "7"

    @variables(r"x \in \mathbb Z, y \ge 0, z \in \{0, 1\}")
    def numbers(self) -> None:
        """A whole number, a number, and a switch."""
        self.x, self.y, self.z = self.integer("x", 9), self.continuous("y"), self.binary("z")

    @family(r"2x \ge 7")
    def half(self) -> None:
        """It is at least the half."""
        self.model += 2 * self.x >= 7

    @objective(r"\min x")
    def least(self) -> None:
        """The least."""
        self.model.setObjective(self.x)


class Pair(CpSatFormulation):
    """One of two."""

    title = "One of two"

    def instance(self) -> str:
        return "a pair"

    @variables(r"a, b \in \{0, 1\}")
    def switches(self) -> None:
        """Two switches."""
        self.of = [self.model.new_bool_var(name) for name in "ab"]

    @family(r"a + b = 1")
    def one(self) -> None:
        """Just one is on."""
        self.model.add_exactly_one(self.of)


def test_a_linear_program_counts_variables_that_nothing_uses_and_is_written_in_both_forms() -> None:
    program = Halves()
    built = {part.part.name: (part.variables, part.constraints) for part in program.build()}
    assert built == {"numbers": (3, 0), "half": (0, 1), "least": (0, 0)}
    assert program.size() == (3, 1)
    assert "2 x >= 7" in program.export("lp")
    assert program.export("mps").rstrip().endswith("ENDATA")
    with pytest.raises(InputError, match="lp or mps"):
        program.export("cpsat")


def test_a_constraint_program_counts_what_its_model_holds_and_is_written_as_its_solver_does() -> None:
    program = Pair()
    built = {part.part.name: (part.variables, part.constraints) for part in program.build()}
    assert built == {"switches": (2, 0), "one": (0, 1)}
    assert "exactly_one" in program.export("cpsat")
    with pytest.raises(InputError, match="cpsat"):
        program.export("lp")


def test_no_formulation_says_again_what_its_base_says() -> None:
    """Nor does one make a model by itself: a base does."""
    bases = {"formulation.py", "cp_sat_formulation.py", "pulp_formulation.py"}
    for path in FLOOR.rglob("*.py"):
        if path.parent == FLOOR and path.name in bases:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and node.bases:
                own = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
                assert not own & SHARED, f"{path}: {node.name}"
            if isinstance(node, ast.Call):
                assert ast.unparse(node.func) not in ("cp_model.CpModel", "pulp.LpProblem"), f"{path}"
