"""The time limit is for the whole command: for reading too, and for every machine of a sweep together."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from unittest.mock import Mock

import pytest

from mapper.api import problem, time_limit, trade_off
from mapper.api.problem import PosedProblem
from mapper.api.solution import Solution, assemble, unanswered
from mapper.api.solving import Search
from mapper.api.time_limit import OutOfTimeError, begin_command, command_began, ended_by_alarm
from mapper.kind.pe_allocation.kind import PeAllocation
from mapper.solver.front import Front
from mapper.solver.method import Effort
from mapper.sweeping import sweep as sweeping
from mapper.sweeping.engine import TASKS_PER_WORKER, DaskEngine
from mapper.sweeping.sweep import grid, swept
from mapper.sweeping.task import Task

LAYER = "resnet-dmazerunner/conv5_2"
LONG = 120.0
"""Seconds after which a test that hangs is said to hang."""


def for_ever(*given: Any, **named: Any) -> Any:
    """Reading that takes its time, and for an error of the file whatever interrupts it."""
    until = time.monotonic() + LONG
    while time.monotonic() < until:
        try:
            sum(range(1000))
        except Exception:
            continue
    pytest.fail("nobody ended it")


@pytest.fixture(autouse=True)
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_limit, "SECONDS_BEYOND", 0.1)


@pytest.mark.parametrize(
    "words",
    [
        ("solve", LAYER),
        ("solve", "mnist-tcpa", "--pareto"),
        ("sweep", LAYER, "--vary", "rf.bytes=256"),
        ("sweep", LAYER, "--vary", "rf.bytes=256", "--engine", "dask"),
    ],
)
def test_reading_ends_with_the_limit_of_the_command(
    mapper: Any, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    for module in (problem, sweeping, trade_off):
        monkeypatch.setattr(module, "pose", for_ever)
    code, out, errors = mapper(*words, "--time-limit", "0.3")
    assert code == 3 and out == "" and "within the limit" in errors and len(errors.splitlines()) == 1


def test_what_comes_after_reading_is_not_ended_by_its_alarm() -> None:
    before = signal.getsignal(signal.SIGALRM)
    with ended_by_alarm(Search(time_limit=0.1)):
        pass
    time.sleep(0.4)
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_an_alarm_of_somebody_else_is_left_alone() -> None:
    rung: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: rung.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with ended_by_alarm(Search(time_limit=0.0)):
            time.sleep(0.5)
        assert rung == [signal.SIGALRM]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def test_other_threads_have_no_alarm() -> None:
    ended: list[bool] = []

    def read() -> None:
        with ended_by_alarm(Search(time_limit=0.0)):
            time.sleep(0.3)
        ended.append(True)

    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
    assert ended == [True]


def test_whoever_reads_without_a_limit_is_not_ended() -> None:
    with ended_by_alarm(Search()):
        time.sleep(0.2)
    with pytest.raises(OutOfTimeError), ended_by_alarm(Search(time_limit=0.0)):
        time.sleep(LONG)


def test_the_limit_counts_from_the_beginning_of_the_command(mapper: Any) -> None:
    begin_command()
    time.sleep(0.1)
    assert 0.1 <= time.monotonic() - command_began() < LONG
    code, out, _ = mapper("solve", LAYER, "--json")
    assert code == 0 and json.loads(out)["certificate"]["proven"]
    assert time.monotonic() - command_began() < LONG


def machines(count: int) -> tuple[list[dict[str, Any]], list[PosedProblem]]:
    points, problems = grid(LAYER, None, {"clock_mhz": list(range(100, 100 + count))}, None, None)
    return points, problems


def test_a_sweep_whose_time_is_over_looks_at_no_more_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    points, problems = machines(300)
    seen: list[PosedProblem] = []

    def run(problem: PosedProblem, search: Search) -> Solution:
        seen.append(problem)
        time.sleep(0.1)
        return assemble(problem, [unanswered(part, "auto") for part in problem.parts])

    monkeypatch.setattr(sweeping, "run", run)
    found = swept(points, problems, Search(time_limit=0.5))
    assert 0 < len(seen) < 30
    assert [row.vary for row in found.rows] == points
    assert {row.certificate.stop for row in found.rows[len(seen) :]} == {"time_limit"}


class Busy(DaskEngine):
    """A cluster of two workers whose tasks never end."""

    def __init__(self) -> None:
        super().__init__(None, 2)
        self._client = Mock()
        self._client.nthreads.return_value = {"one": 1, "other": 1}
        self.out = 0

    @contextmanager
    def _listening(self, listener: Any) -> Iterator[str]:
        yield "topic"

    def _handed_out(self, task: Task, search: Search, topic: str) -> Any:
        self.out += 1
        return object()

    def _done(self, waiting: dict[Any, tuple[int, Task]]) -> list[Any]:
        time.sleep(0.05)
        return []


def test_a_cluster_that_does_not_end_in_time_is_not_waited_for() -> None:
    points, problems = machines(300)
    busy = Busy()
    found = swept(points, problems, Search(time_limit=0.5), busy)
    assert [row.vary for row in found.rows] == points
    assert {row.certificate.stop for row in found.rows} == {"time_limit"}
    assert len(busy._client.cancel.call_args.args[0]) == busy.out


def test_where_there_is_a_limit_no_task_waits_in_line_while_it_goes_on() -> None:
    busy = Busy()
    assert busy._room(Search(time_limit=9.0)) == 2
    assert busy._room(Search()) == 2 * TASKS_PER_WORKER


def test_a_front_is_told_when_to_end(mapper: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[float | None] = []

    def front(kind: PeAllocation, problem: Any, effort: Effort) -> Front[Any]:
        left.append(effort.seconds_left())
        return Front((), False)

    monkeypatch.setattr(PeAllocation, "front", front)
    assert mapper("solve", "mnist-tcpa", "--pareto", "--time-limit", "50", "--store", "none")[0] == 3
    # Reading has taken some of it.
    assert left[0] is not None and 0 < left[0] < 50


def test_an_end_that_is_caught_is_asked_for_again() -> None:
    turns = 0
    until = time.monotonic() + LONG
    with suppress(OutOfTimeError), ended_by_alarm(Search(time_limit=0.0)):
        while time.monotonic() < until:
            turns += 1
            if turns > 1:
                time.sleep(LONG)
            try:
                time.sleep(LONG)
            except BaseException:
                continue
    assert turns == 2
