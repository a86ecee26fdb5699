"""HiGHS in a process of its own: it repeats, and a limit or an interrupt ends it at once."""

from __future__ import annotations

import random
import threading
import time
from typing import Any

import pytest
from ortools.linear_solver import pywraplp

from mapper.solver.highs import HighsLimit, run_highs
from mapper.solver.method import Effort

AT_ONCE = 10.0
"""Seconds in which a busy machine starts and ends a process; what it is ended in takes hours."""


def knapsack() -> Any:
    """x + 2 y at the most, 3 x + 5 y <= 17, in whole numbers: x = 4, y = 1 or x = 2, y = 2."""
    program = pywraplp.Solver.CreateSolver("HIGHS")
    x, y = (program.IntVar(0, 9, name) for name in "xy")
    program.Add(3 * x + 5 * y <= 17)
    program.Maximize(x + 2 * y)
    return program


def market_split(rows: int = 5, columns: int = 40) -> Any:
    """Equations of random numbers, which trees of linear programs find no way into."""
    rng = random.Random(0)
    program = pywraplp.Solver.CreateSolver("HIGHS")
    taken = [program.IntVar(0, 1, "") for _ in range(columns)]
    short = []
    for _ in range(rows):
        numbers = [rng.randrange(100) for _ in taken]
        over, under = program.NumVar(0, 1e4, ""), program.NumVar(0, 1e4, "")
        program.Add(
            sum(a * x for a, x in zip(numbers, taken, strict=True)) + over - under == sum(numbers) // 2
        )
        short += [over, under]
    program.Minimize(sum(short))
    return program


def test_the_values_of_all_variables_are_those_of_a_best_solution() -> None:
    values = run_highs(knapsack(), Effort(), HighsLimit(0.0, 1000))
    assert values is not None
    x, y = map(round, values)
    assert (x + 2 * y, 3 * x + 5 * y <= 17) == (6, True)


def cover(elements: int = 40, sets: int = 80) -> Any:
    """Sets of equal prices that cover everything: many answers are equally good."""
    rng = random.Random(1)
    program = pywraplp.Solver.CreateSolver("HIGHS")
    taken = [program.IntVar(0, 1, "") for _ in range(sets)]
    for _ in range(elements):
        program.Add(sum(rng.sample(taken, 6)) >= 1)
    program.Minimize(sum(taken))
    return program


def test_equal_programs_get_equal_answers() -> None:
    first, second = (run_highs(cover(), Effort(), HighsLimit(0.1, 1000)) for _ in range(2))
    assert first is not None and first == second


def test_a_program_without_a_solution_has_no_values() -> None:
    program = knapsack()
    program.Add(program.variables()[0] >= 6)
    assert run_highs(program, Effort(), HighsLimit(0.0, 1000)) is None


def test_nodes_end_it_where_no_clock_does() -> None:
    assert run_highs(market_split(), Effort(), HighsLimit(0.0, 1)) is None


@pytest.mark.parametrize("ended_by", ["interrupt", "deadline", "seconds"])
def test_it_ends_at_once_however_it_is_ended(ended_by: str) -> None:
    interrupt = threading.Event()
    if ended_by == "interrupt":
        threading.Timer(0.5, interrupt.set).start()
    deadline = time.monotonic() + 0.5 if ended_by == "deadline" else None
    limit = HighsLimit(0.0, 10**9, 0.5 if ended_by == "seconds" else None)
    began = time.monotonic()
    assert run_highs(market_split(), Effort(deadline, interrupt=interrupt), limit) is None
    assert time.monotonic() - began < AT_ONCE
