"""Against the clock an answer comes first that needs no search, so that one stands whenever the limit passes."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from mapper.api.part.search import searched_part, solve_part
from mapper.api.problem import PosedProblem, pose
from mapper.api.solution import assemble
from mapper.api.solving import Search
from mapper.cli.terminal import cause
from mapper.kind.part import Part
from mapper.models.limit import GRACE, SHORT_GRACE, UnfinishedError, current
from mapper.solver.method import Effort, Method, Progress
from mapper.solver.outcome import Outcome
from mapper.solver.pbqp.heuristic.heuristic import descend_once


@dataclass
class Slow:
    """A method whose search asks no clock and has nothing when its effort ends; ``steps``: what was called, with the
    grace that it had."""

    has_answer: bool = True
    steps: list[tuple[str, float]] = field(default_factory=list)

    def search(self, problem: Any, effort: Effort) -> Outcome[Any]:
        self._note("search")
        while effort.stopped() is None:
            time.sleep(0.01)
        raise UnfinishedError("time_limit")

    def at_once(self, problem: Any, effort: Effort) -> Outcome[Any]:
        self._note("at once")
        return descend_once(problem, effort) if self.has_answer else Outcome.unknown("heuristic")

    def _note(self, name: str) -> None:
        limit = current()
        assert limit is not None
        self.steps.append((name, limit.grace))

    @property
    def method(self) -> Method[Any, Any]:
        return Method("slow", False, "", self.search, at_once=Method("quick", False, "", self.at_once))


@pytest.fixture
def posed(tmp_path: Path) -> PosedProblem:
    path = tmp_path / "pair.in"
    path.write_text("2 1 2 1 2 2 3 4 0 1 2 2 1 2 3 4\n")
    posed = pose(str(path), None, None)
    # Its machine code is read before any clock runs.
    descend_once(posed.parts[0].problem, Effort())
    return posed


def test_where_machine_code_is_to_be_made_an_answer_comes_first_without_a_limit(posed: PosedProblem) -> None:
    slow, heard = Slow(), list[Progress]()
    search = Search(method="slow", listener=lambda part, progress: _ended(search, heard, progress))
    part, _ = searched_part(posed.kind, slow.method, posed.parts[0], search, 1, most=False, is_ready=False)
    assert [name for name, _ in slow.steps] == ["at once"] and part.certificate.stop == "interrupted"
    assert part.certificate.found and heard[0].value == part.certificate.value


def _ended(search: Search, heard: list[Progress], progress: Progress) -> None:
    """Ctrl-C at the first progress."""
    heard.append(progress)
    search.interrupt.set()


def test_long_after_an_interrupt_no_part_begins_what_it_would_have_at_once(
    posed: PosedProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mapper.api.part.search.SECONDS_AFTER_INTERRUPT", 0.0)
    slow = Slow()
    part = solved(posed, slow, None)
    assert (part.certificate.stop, part.certificate.found, slow.steps) == ("interrupted", False, [])


@pytest.mark.parametrize(("limit", "stop"), [(None, "heuristic"), (1000.0, "time_limit")])
def test_a_search_without_a_limit_is_not_out_of_time(
    posed: PosedProblem, limit: float | None, stop: str
) -> None:
    gave_up = Method[Any, Any]("gave-up", False, "", lambda problem, effort: Outcome.unknown("time_limit"))
    part = solve_part(posed.kind, gave_up, posed.parts[0], Search(time_limit=limit), 1, most=False)
    assert part.certificate.stop == stop
    assert ("--time-limit" in cause(assemble(posed, [part]))) == (limit is not None)


def solved(posed: PosedProblem, slow: Slow, seconds: float | None) -> Part:
    search = Search(method="slow", time_limit=seconds)
    if seconds is None:
        search.interrupt.set()
    return solve_part(posed.kind, slow.method, posed.parts[0], search, 1, most=False)


def test_what_is_there_at_once_comes_before_a_search_against_the_clock(posed: PosedProblem) -> None:
    slow = Slow()
    found = solved(posed, slow, 0.5)
    assert found.certificate.found and found.certificate.method == "quick"
    assert found.certificate.stop == "time_limit" and not found.certificate.proven
    assert [name for name, _ in slow.steps] == ["at once", "search"]


@pytest.mark.parametrize(("has_answer", "grace"), [(True, SHORT_GRACE), (False, GRACE)])
def test_a_search_that_has_an_answer_to_fall_back_on_is_given_up_sooner(
    posed: PosedProblem, has_answer: bool, grace: float
) -> None:
    slow = Slow(has_answer)
    solved(posed, slow, 0.5)
    assert dict(slow.steps)["search"] == grace


def test_what_has_no_time_at_all_still_gets_what_is_there_at_once(posed: PosedProblem) -> None:
    slow = Slow()
    assert solved(posed, slow, 0.0).certificate.found
    assert [name for name, _ in slow.steps] == ["at once"]


def test_what_is_interrupted_without_a_limit_gets_what_is_there_at_once(posed: PosedProblem) -> None:
    slow = Slow()
    assert solved(posed, slow, None).certificate.stop == "interrupted"
    assert [name for name, _ in slow.steps] == ["at once"]
