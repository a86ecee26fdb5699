"""Bounds of a search that is cut: what is reported must hold."""

from __future__ import annotations

import subprocess
import sys
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


def test_signals_stay_the_programs_while_and_after_it_searches() -> None:
    script = (
        "import os, signal, threading\n"
        "from ortools.sat.python import cp_model\n"
        "from mapper.solver.cp_sat import run_cp_sat\n"
        "from mapper.solver.method import Effort\n"
        "heard = []\n"
        "signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))\n"
        "model = cp_model.CpModel()\n"
        "literals = [model.new_bool_var(str(place)) for place in range(8)]\n"
        "model.add_at_least_one(literals)\n"
        "model.minimize(sum(literals))\n"
        "def send(*progress): os.kill(os.getpid(), signal.SIGINT)\n"
        "for _ in range(2):\n"
        "    search = threading.Thread(target=run_cp_sat, args=(model, Effort(), send))\n"
        "    search.start()\n"
        "    search.join()\n"
        "    send()\n"
        "assert len(heard) > 1\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
