"""A first mapping of every layer: found in plain Python, before anything is compiled."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mapper.api import solving
from mapper.api.problem import pose
from mapper.api.solving import Search, run
from mapper.formulations.tiling.referee.verify import verify
from mapper.models.compiled import Compiled
from mapper.models.compiling import CHILD, Wanted
from mapper.models.limit import current
from mapper.models.plain import bridged
from mapper.models.tiling.padding import Padding
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome
from mapper.solver.tiling.catalogue import AUTOMATIC, BRANCH_AND_BOUND
from mapper.solver.tiling.cover import block
from mapper.solver.tiling.cover.covering import MANY_OPEN
from mapper.solver.tiling.exact.branch_and_bound import branch_and_bound
from mapper.solver.tiling.heuristic.dive import DIVE
from tests.solver.tiling.small import matrix_product, problem


def test_a_dive_comes_near_the_optimum_and_has_nothing_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    posed = problem(matrix_product(24, 24, 24))
    least, asked = branch_and_bound(posed, Effort()).value, list[Wanted]()
    monkeypatch.setattr(Wanted, "is_read", lambda wanted: False)
    monkeypatch.setattr(CHILD, "ask", lambda wanted, limit: asked.append(wanted))
    monkeypatch.setattr("mapper.models.plain.PATIENCE", -1.0)
    monkeypatch.setattr(Compiled, "__call__", _without_machine_code)
    found = DIVE.search(posed, Effort())
    assert found.mapping is not None and not verify(posed, found.mapping).broken and not found.proven
    assert least is not None and found.value is not None and least <= found.value <= 2 * least
    assert not asked


def _without_machine_code(kernel: Compiled, *arguments: Any) -> Any:
    limit = current()
    assert limit is not None
    return bridged(kernel, limit, *arguments)


def test_without_time_a_dive_still_has_a_mapping() -> None:
    posed = problem(matrix_product(24, 24, 24))
    found = DIVE.search(posed, Effort(deadline=0.0))
    assert found.mapping is not None and found.stop == "time_limit" and (found.evaluations or 0) <= 4


def test_without_machine_code_every_layer_has_a_mapping_before_one_is_searched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    posed, steps = pose("lenet5", "dmazerunner-256", "edp"), list[str]()

    def noted(method: Method[Any, Any]) -> Method[Any, Any]:
        def search(problem: Any, effort: Effort) -> Outcome[Any]:
            steps.append(method.name)
            return DIVE.search(problem, effort)

        return replace(method, search=search, before=tuple(map(noted, method.before)), at_once=None)

    assert AUTOMATIC.at_once is not None
    slow = replace(noted(AUTOMATIC), at_once=noted(replace(AUTOMATIC.at_once, name="dive")))
    monkeypatch.setattr(solving, "method_named", lambda posed, name: slow)
    monkeypatch.setattr(solving, "on_disk", lambda prepare: False)
    run(posed, Search(workers=1))
    layers = len({part.key for part in posed.parts})
    assert steps[:layers] == ["dive"] * layers and "dive" not in steps[layers:]


def test_covers_that_leave_too_many_tiles_open_are_said_to_be_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    posed = problem(matrix_product(24, 24, 24))
    posed = replace(posed, padding=Padding.every(posed.nest))
    monkeypatch.setattr(block, "MOST_OPEN", 1)
    found = BRANCH_AND_BOUND.search(posed, Effort())
    assert found.mapping is not None and not verify(posed, found.mapping).broken
    assert not found.proven and found.restrictions == (MANY_OPEN,)
