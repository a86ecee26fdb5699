"""Bounds of a search that is cut: what is reported must hold."""

from __future__ import annotations

from typing import Any

import pytest
from ortools.sat.python import cp_model

from mapper.solver.cp_sat import CpSatResult, run_cp_sat
from mapper.solver.method import Effort


def pigeons(holes: int) -> tuple[cp_model.CpModel, list[Any]]:
    """One pigeon a hole, in an order that takes some search; the literals are free otherwise."""
    model = cp_model.CpModel()
    at = [[model.new_bool_var(f"p{pigeon}_{hole}") for hole in range(holes)] for pigeon in range(holes)]
    for pigeon, row in enumerate(at):
        model.add_exactly_one(row)
        model.add_exactly_one(at[hole][pigeon] for hole in range(holes))
    return model, [literal for row in at for literal in row]


def cut(model: cp_model.CpModel) -> CpSatResult:
    """The result of a search without any work."""
    return run_cp_sat(model, Effort(), lambda value, bound: None, work=0.0)


def test_a_search_that_is_cut_at_once_claims_no_more_than_the_domains_say() -> None:
    model, literals = pigeons(6)
    model.minimize(5 + sum(3 * ~literal for literal in literals))
    found = cut(model)
    assert found.answer == "unknown"
    assert found.bound == 5


def test_so_it_is_where_the_most_is_sought() -> None:
    model, literals = pigeons(6)
    model.maximize(5 + 3 * sum(literals))
    found = cut(model)
    assert found.answer == "unknown"
    assert found.bound == 5 + 3 * 36


@pytest.mark.parametrize("sign", [1, -1])
def test_a_finished_search_has_the_value_as_its_bound(sign: int) -> None:
    model, literals = pigeons(4)
    model.minimize(7 + sign * sum(2 * ~literal for literal in literals))
    found = run_cp_sat(model, Effort(), lambda value, bound: None)
    assert (found.answer, found.bound) == ("optimal", 7 + sign * 2 * 12)
