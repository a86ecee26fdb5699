"""``explain`` builds a formulation and says what is in it; it does not search."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pulp
import pytest
from ortools.sat.python import cp_model

from mapper import explain
from mapper.kind import ENTRIES, kind_of, kinds
from mapper.kind.part import Options
from mapper.kind.pbqp.kind import PBQP

SOLVER = (Path(__file__).parents[3] / "solver").resolve()
REDUCTION = SOLVER / "pbqp" / "reduction"
"""What explaining a PBQP instance shows: its reductions, which decide nothing."""
GRAPH = {
    "schema": "mapper.pbqp/1",
    "name": "path",
    "vertices": [[1, 2], [3, 4], [5, 6]],
    "edges": [{"ends": [0, 1], "costs": [[0, 1], [1, 0]]}, {"ends": [1, 2], "costs": [[0, 1], [1, 0]]}],
}
ROW_BY_ROW = {
    f"{layer}.{decision}": value
    for layer in ("conv1", "conv2", "gemm1", "gemm2")
    for decision, value in (("mode", "coop"), ("rows", "1"), ("columns", "1"))
}
CASES: tuple[tuple[str, str | None, str | None, dict[str, str]], ...] = (
    ("matmul", "dmazerunner-256", "energy", {}),
    ("dot", "srp-2x2", None, {}),
    ("lenet5/gemm2", "srp-4x4", None, {}),
    ("mnist-tcpa", "tcpa-4x4", "throughput", {}),
    ("mnist-tcpa", "tcpa-4x4", "latency", {"sharing": "on"}),
    ("mnist-tcpa", "tcpa-4x4", "pes", {"mode": "layer-by-layer"}),
    ("mnist-tcpa", "tcpa-4x4", "throughput", {"mode": "mixed"}),
    ("lenet5", "dynamap-u200", "latency", {}),
    ("lenet5", "dynamap-u200", "edp", {"array": "8x8"}),
    ("PBQP", None, None, {}),
    ("lenet5", "snowflake-1cc", "latency", ROW_BY_ROW),
)


def run_of(work: Callable[[], object]) -> set[Path]:
    """The files of the solver floor of which ``work`` calls a function, but for what importing them calls."""
    found: set[Path] = set()

    def called(frame: FrameType, event: str, argument: Any) -> None:
        name = frame.f_code.co_filename
        if event == "call" and "/solver/" in name and not imports(frame):
            # The floors are imported by way of links.
            path = Path(name).resolve()
            if path.is_relative_to(SOLVER):
                found.add(path)

    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(None)
    return found


def imports(frame: FrameType | None) -> bool:
    """Whether a frame is a module's own, or what it calls while it is imported."""
    while frame is not None and "/solver/" in frame.f_code.co_filename:
        if frame.f_code.co_name == "<module>":
            return True
        frame = frame.f_back
    return False


@pytest.mark.parametrize(
    ("workload", "arch", "objective", "fix"), CASES, ids=[f"{case[0]}@{case[1]}" for case in CASES]
)
def test_explaining_calls_no_search(
    workload: str,
    arch: str | None,
    objective: str | None,
    fix: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    def refused(*arguments: object, **named: object) -> None:
        raise AssertionError("explain calls a solver")

    monkeypatch.setattr(cp_model.CpSolver, "solve", refused)
    monkeypatch.setattr(pulp.LpProblem, "solve", refused)
    if workload == "PBQP":
        workload = str(tmp_path / "path.json")
        Path(workload).write_text(json.dumps(GRAPH))

    said: list[str] = []
    seen = run_of(lambda: said.append(explain(workload, arch, objective, Options(fix=fix))))
    assert {path for path in seen if REDUCTION not in path.parents} == set()
    assert "Constraints" in said[0] and "Objective" in said[0]


def test_a_search_would_be_seen() -> None:
    from mapper.api.problem import pose
    from mapper.solver.method import Effort

    problem = pose("mnist-tcpa", "tcpa-4x4", "throughput", None)
    method = problem.kind.methods()["proportional"]
    seen = run_of(lambda: method.search(problem.parts[0].problem, Effort()))
    assert SOLVER / "pe_allocation" / "parallel" / "proportional.py" in seen


def test_every_kind_is_explained_here() -> None:
    from mapper.arch.source import load_machine

    explained = {
        (PBQP if arch is None else kind_of(load_machine(arch)[0])).__class__ for _, arch, _, _ in CASES
    }
    # A hierarchy has no program yet that could be explained.
    programs = [kind for kind in kinds() if kind.name != "hierarchy"]
    assert explained == {kind.__class__ for kind in programs} and len(programs) == len(ENTRIES) - 1
