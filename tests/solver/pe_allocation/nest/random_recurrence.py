"""Random recurrences and arrays that are small enough for brute force."""

from __future__ import annotations

import random
from typing import Any

from mapper.formulations.pe_allocation.nest.tiled_problem import NestPins
from mapper.formulations.pe_allocation.recurrence.problem import RecurrenceProblem
from mapper.workloads.document import InputError
from mapper.workloads.recurrence.recurrence import Recurrence
from mapper.workloads.recurrence.recurrence_file import recurrence_from_document
from tests.solver.pe_allocation.nest.random_nest import random_machine


def random_recurrence(draw: random.Random, loops: int, most: int) -> Recurrence:
    """One that can be read: up to three values that read one another and inputs, and a result."""
    while True:
        try:
            return recurrence_from_document(_document(draw, loops, most), "random")
        except InputError:
            continue


def _document(draw: random.Random, loops: int, most: int) -> dict[str, Any]:
    names = ["t", "i", "j"][:loops]
    bounds = {name: draw.randint(1, most) for name in names}
    values = ["a", "b", "c"][: draw.randint(1, 3)]
    statements: list[str] = []
    for value in values:
        for _ in range(draw.choice((1, 1, 2))):
            target = f"{value}[{', '.join(names)}]"
            condition = f" if {_condition(draw, names, bounds)}" if draw.random() < 0.4 else ""
            statements.append(f"{target} = {_term(draw, names, values, draw.randint(0, 2))}{condition}")
    local = draw.sample(values, draw.randint(0, len(values) - 1))
    if draw.random() < 0.4 and len(names) > 1:
        last = f"{names[0]} == {bounds[names[0]] - 1}"
        statements.append(f"y[{', '.join(names[1:])}] = {values[-1]}[{', '.join(names)}] if {last}")
        local = values
    return {
        "schema": "mapper.recurrence/1",
        "name": "random",
        "loops": bounds,
        "statements": statements,
        "local": local,
    }


def _term(draw: random.Random, names: list[str], values: list[str], depth: int) -> str:
    if depth == 0:
        if draw.random() < 0.3:
            kept = draw.sample(names, draw.randint(1, len(names)))
            return f"x{len(kept)}[{', '.join(kept)}]"
        if draw.random() < 0.1:
            return str(draw.randint(-3, 3))
        steps = [draw.choice((0, 0, 1, 1, -1, 2)) for _ in names]
        index = ", ".join(f"{name} - {step}" for name, step in zip(names, steps, strict=True))
        return f"{draw.choice(values)}[{index}]"
    left, right = (_term(draw, names, values, draw.randint(0, depth - 1)) for _ in range(2))
    operator = draw.choice(("+", "+", "-", "*", "min", "max"))
    return f"{operator}({left}, {right})" if len(operator) > 1 else f"({left} {operator} {right})"


def _condition(draw: random.Random, names: list[str], bounds: dict[str, int]) -> str:
    name = draw.choice(names)
    other = draw.choice(names)
    sign = draw.choice(("<", "<=", "==", ">=", ">"))
    if other != name and draw.random() < 0.5:
        return f"{name} {sign} {other}"
    return f"{name} {sign} {draw.randint(0, bounds[name] - 1)}"


def random_recurrence_problem(seed: int, loops: int = 2, most: int = 4) -> RecurrenceProblem:
    """A small problem, now and then with pins and limits."""
    draw = random.Random(seed)
    found, machine = random_recurrence(draw, draw.randint(1, loops), most), random_machine(draw, 3)
    max_pes = draw.choice((0, 0, 0, draw.randint(1, 6)))
    tile: dict[str, int] = {}
    if draw.random() < 0.2:
        loop = draw.choice(found.loops)
        tile[loop] = draw.randint(1, found.trip_counts[loop])
    order = tuple(draw.sample(found.loops, len(found.loops))) if draw.random() < 0.2 else None
    axes = {"rows": draw.choice((None, *found.loops))} if draw.random() < 0.2 else {}
    return RecurrenceProblem(found, machine, max_pes, None, NestPins(tile, order, axes))
