"""Outcomes say what they are."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from mapper.solver.outcome import Outcome

ROOT = Path(__file__).parents[2]
MAKER = ROOT / "solver" / "outcome.py"


def _makes(call: ast.Call) -> str:
    made = call.func.value if isinstance(call.func, ast.Subscript) else call.func
    return made.id if isinstance(made, ast.Name) else ""


@pytest.mark.parametrize("floor", ["models", "formulations", "solver", "codegen", "sim", "src/mapper"])
def test_no_outcome_is_made_but_by_what_it_is(floor: str) -> None:
    for path in sorted((ROOT / floor).rglob("*.py")):
        if path != MAKER and not any(part.is_symlink() for part in path.parents):
            calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
            assert "Outcome" not in map(_makes, calls), f"{path.relative_to(ROOT)} writes Outcome(…)"


def test_a_proof_of_a_mapping_bounds_every_other_by_its_value() -> None:
    assert Outcome.optimal("mapping", 3) == Outcome.ended("mapping", 3, 2, "complete", proven=True)
    assert Outcome.optimal("mapping", 3).bound == 3


def test_a_proof_without_a_mapping_says_that_there_is_none() -> None:
    found: Outcome[str] = Outcome.ended(None, None, 7, "complete", proven=True)
    assert found == Outcome.infeasible()
    assert found.bound is None and found.value is None


def test_what_is_not_tried_is_refused_with_its_reason_and_proves_nothing() -> None:
    refused: Outcome[str] = Outcome.refused("too large", 5)
    assert (refused.proven, refused.bound, refused.restrictions) == (False, 5, ("too large",))
    assert refused.mapping is None


def test_a_search_that_is_cut_claims_no_more_than_its_bound() -> None:
    cut = Outcome.ended("mapping", 9, 4, "time_limit", proven=False, restrictions=("left out",))
    assert (cut.proven, cut.value, cut.bound, cut.restrictions) == (False, 9, 4, ("left out",))


def test_a_search_that_left_mappings_out_claims_no_more_of_all_than_their_bound() -> None:
    found = Outcome.optimal("mapping", 3, method="m").among_more(2, "left out")
    assert found == Outcome.bounded("mapping", 3, 2, "complete", restrictions=("left out",), method="m")
    assert Outcome[str].infeasible().among_more(2, "left out").bound == 2
    assert not Outcome[str].infeasible().among_more(2, "left out").proven


def test_a_search_that_left_mappings_out_is_a_proof_where_it_reaches_the_bound_of_all() -> None:
    assert Outcome.optimal("mapping", 3).among_more(3, "left out") == Outcome.optimal("mapping", 3)
