"""Functions are short enough to be read at once, and take no more than a caller can keep apart."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
FLOORS = ("workloads", "arch", "models", "formulations", "solver", "codegen", "sim", "src/mapper")
MOST_LINES = 80
MOST_POSITIONAL = 12

STATE = "a state machine over scalars that nearly every branch changes"
CLOCK = "a cycle of an array's registers from top to bottom"
LARGER = {
    "formulations/trace_partition/floor/step_run.py _run": STATE,
    "models/trace_partition/timing/step_time.py _run": STATE,
    "models/trace_partition/timing/vector_time.py _run": STATE,
    "sim/algorithm_selection/array/systolic_kernel.py _non_stationary": CLOCK,
    "sim/algorithm_selection/array/systolic_kernel.py _stationary": CLOCK,
    "sim/trace_partition/cycle/core.py _run_core": "a branch for each class of instruction",
    "solver/modulo_schedule/heuristic/route_search.py _search": "an innermost loop that lives on twenty local numbers",
    "solver/pbqp/reduction/elimination_order.py _small_width_order": "fourteen arrays are replaced when they are full",
}
"""Functions that are better whole, and why; their docstrings say it at more length."""


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Every function of the floors, with its file and name; folders that are links to another floor are left out."""
    for floor in FLOORS:
        for path in sorted((ROOT / floor).rglob("*.py")):
            if any(folder.is_symlink() for folder in path.parents):
                continue
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield f"{path.relative_to(ROOT).as_posix()} {node.name}", node


def is_large(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    assert function.end_lineno is not None
    lines = function.end_lineno - function.lineno + 1
    positional = len(function.args.posonlyargs) + len(function.args.args)
    return lines > MOST_LINES or positional > MOST_POSITIONAL


def test_every_floor_has_functions() -> None:
    met = {name.split("/")[0] for name, _ in functions()}
    assert met == {floor.split("/")[0] for floor in FLOORS}


def test_functions_are_short_and_take_few_arguments_but_for_a_stated_reason() -> None:
    assert {name for name, function in functions() if is_large(function)} == set(LARGER)


def test_large_functions_say_why() -> None:
    for name, function in functions():
        if name in LARGER:
            assert "in one function" in (ast.get_docstring(function) or "").lower(), name


def test_a_long_function_and_one_of_many_arguments_are_large() -> None:
    long = "def f():\n" + "    x = 1\n" * MOST_LINES
    many = f"def f({', '.join(f'x{at}' for at in range(MOST_POSITIONAL + 1))}): ..."
    short = "def f(x):\n" + "    x = 1\n" * (MOST_LINES - 1)
    found = [ast.parse(source).body[0] for source in (long, many, short)]
    assert [isinstance(one, ast.FunctionDef) and is_large(one) for one in found] == [True, True, False]
