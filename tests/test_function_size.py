"""Functions are short enough to be read at once, and take no more than a caller can keep apart."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
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


@dataclass(frozen=True)
class Function:
    """A function by its file and name, and what is asked of it."""

    name: str
    lines: int
    positional: int
    says: str

    @property
    def is_large(self) -> bool:
        return self.lines > MOST_LINES or self.positional > MOST_POSITIONAL


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """All but what stands in expressions, where no function is defined."""
    left: list[ast.AST] = [tree]
    while left:
        node = left.pop()
        yield node
        left += [one for one in ast.iter_child_nodes(node) if not isinstance(one, ast.expr)]


@cache
def functions() -> tuple[Function, ...]:
    """Every function of the floors; folders that are links to another floor are left out."""
    found = []
    for floor in FLOORS:
        for path in sorted((ROOT / floor).rglob("*.py")):
            if any(folder.is_symlink() for folder in path.parents):
                continue
            for node in _statements(ast.parse(path.read_text())):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    assert node.end_lineno is not None
                    name = f"{path.relative_to(ROOT).as_posix()} {node.name}"
                    positional = len(node.args.posonlyargs) + len(node.args.args)
                    lines = node.end_lineno - node.lineno + 1
                    found.append(Function(name, lines, positional, ast.get_docstring(node) or ""))
    return tuple(found)


def test_every_floor_has_functions() -> None:
    met = {function.name.split("/")[0] for function in functions()}
    assert met == {floor.split("/")[0] for floor in FLOORS}


def test_functions_are_short_and_take_few_arguments_but_for_a_stated_reason() -> None:
    assert {function.name for function in functions() if function.is_large} == set(LARGER)


def test_large_functions_say_why() -> None:
    for function in functions():
        if function.name in LARGER:
            assert "in one function" in function.says.lower(), function.name
