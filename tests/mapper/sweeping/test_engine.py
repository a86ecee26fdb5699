"""Sweeps on a cluster: the same answers, whatever happens to its processes."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import dask
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mapper as api
from mapper.api.problem import PosedProblem
from mapper.api.solution import Solution
from mapper.api.solving import Search, run
from mapper.solver.method import Progress
from mapper.store import Store
from mapper.store.recall import Recall, answer_fields
from mapper.sweeping.engine import DaskEngine
from mapper.sweeping.private_cluster import PrivateWorker
from mapper.sweeping.sweep import Sweep, grid, sweep, swept
from mapper.sweeping.task import Task
from mapper.workloads.document import InputError

LAYERS = "resnet-dmazerunner"
LAYER = "resnet-dmazerunner/conv5_2"
GRID = {"rf.bytes": [256, 1024]}


class Stillborn(PrivateWorker):
    """A worker whose process ends as it begins."""

    def __init__(self, *options: Any, **named: Any) -> None:
        os._exit(1)


@pytest.fixture(scope="module")
def engine() -> Iterator[DaskEngine]:
    with DaskEngine(None, 2) as running:
        yield running


def answers(swept: Sweep) -> list[Any]:
    """Rows without what differs from run to run."""
    rows = [row.to_json() for row in swept.rows]
    for row in rows:
        for key in ("seconds", "cpu_seconds", "workers"):
            row["certificate"].pop(key)
    return rows


@pytest.fixture(scope="module")
def here() -> list[Any]:
    return answers(sweep(LAYERS, None, GRID))


def test_a_cluster_gives_the_answers_of_this_process(engine: DaskEngine, here: list[Any]) -> None:
    assert answers(sweep(LAYERS, None, GRID, engine=engine)) == here


def test_a_worker_that_is_killed_costs_its_own_task_only(engine: DaskEngine, here: list[Any]) -> None:
    pids = list(engine.processes())
    assert len(pids) == 2
    killer = threading.Timer(0.2, os.kill, (pids[0], signal.SIGKILL))
    killer.start()
    assert answers(sweep(LAYERS, None, GRID, engine=engine)) == here
    killer.join()


def test_an_interrupt_keeps_what_is_done(engine: DaskEngine, here: list[Any]) -> None:
    search = Search()

    def stop(done: int, of: int) -> None:
        search.interrupt.set()

    grid = {"rf.bytes": [128, 256, 512, 1024], "spm.bytes": [131072, 65536, 262144, 524288]}
    swept = sweep(LAYERS, None, grid, search=search, engine=engine, finished=stop)
    assert len(swept.rows) == 16
    assert 0 < sum(row.certificate.proven for row in swept.rows) < 16
    assert {row.certificate.stop for row in swept.rows} == {"complete", "interrupted"}


@pytest.mark.parametrize("on_cluster", [True, False])
def test_progress_is_heard_here_and_from_a_cluster(engine: DaskEngine, on_cluster: bool) -> None:
    heard: list[str] = []
    done: list[tuple[int, int]] = []

    def listen(part: str, progress: Progress) -> None:
        heard.append(part)

    def finished(machines: int, of: int) -> None:
        done.append((machines, of))

    cluster = engine if on_cluster else None
    sweep(
        f"{LAYERS}/conv5_2",
        None,
        {"rf.bytes": [256, 512]},
        None,
        None,
        Search(listener=listen),
        cluster,
        finished,
    )
    assert set(heard) == {"conv5_2"} and done == [(1, 2), (2, 2)]


@pytest.mark.parametrize(
    ("workload", "arch", "grid"),
    [
        ("gemm", "srp-4x4", {"clock_mhz": [400, 500]}),
        ("mnist-tcpa", "tcpa-4x4", {"clock_mhz": [40, 50]}),
        ("lenet5", "dynamap-u200", {"clock_mhz": [200, 286]}),
        ("lenet5/conv2", "snowflake-1cc", {"clock_mhz": [200, 250]}),
    ],
)
def test_every_kind_gives_the_answers_of_this_process(
    engine: DaskEngine, workload: str, arch: str, grid: dict[str, list[int]]
) -> None:
    assert answers(sweep(workload, arch, grid, engine=engine)) == answers(sweep(workload, arch, grid))


def test_a_method_that_refuses_the_problem_refuses_it_on_a_cluster_too(engine: DaskEngine) -> None:
    for where in (None, engine):
        with pytest.raises(InputError) as refused:
            sweep("gemm", "srp-4x4", {"clock_mhz": [400]}, search=Search("tuner"), engine=where)
        assert "tunes the layers of a network" in str(refused.value)


def test_what_is_proven_in_the_store_is_no_task(
    tmp_path: Path, engine: DaskEngine, here: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    search = Search(store=Store(tmp_path / "s.sqlite"))
    sweep(LAYERS, None, GRID, search=search, engine=engine)
    assert len(Store(tmp_path / "s.sqlite").entries()) == 12
    monkeypatch.setattr(DaskEngine, "_handed_out", None)
    assert answers(sweep(LAYERS, None, GRID, search=search, engine=engine)) == here


GRID_OF_16 = {"rf.bytes": [128, 256, 512, 1024], "spm.bytes": [65536, 131072, 262144, 524288]}


def test_a_sweep_over_a_store_that_holds_all_of_it_has_all_rows(tmp_path: Path, mapper: Any) -> None:
    vary = [word for key, values in GRID_OF_16.items() for word in ("--vary", f"{key}={values}"[:-1])]
    words = ["sweep", LAYER, *(word.replace("[", "").replace(" ", "") for word in vary), "--json"]
    words += ["--store", str(tmp_path / "s.sqlite")]
    first = json.loads(mapper(*words)[1])["rows"]
    code, out, _ = mapper(*words, "--engine", "dask", "--workers", "1")
    again = json.loads(out)["rows"]
    assert code == 0 and len(again) == 16
    assert [row["vary"] for row in again] == [row["vary"] for row in first]
    assert [row["cost"] for row in again] == [row["cost"] for row in first]


@pytest.fixture(scope="module")
def solved_points() -> tuple[list[PosedProblem], list[Solution]]:
    """Sixteen machines, and the answers on them."""
    _, problems = grid(LAYER, None, GRID_OF_16, None, None)
    return problems, [run(problem, Search(workers=1)) for problem in problems]


class NoCluster(DaskEngine):
    """An engine whose workers are this process: so many tasks may be out at once, and which end first is drawn."""

    def __init__(self, room: int, draw: random.Random, solutions: dict[int, Solution]) -> None:
        super().__init__(None, 1)
        self._client = Mock()
        self._rooms, self._draw, self._solutions = room, draw, solutions
        self.handed_out = 0

    def _room(self, search: Search) -> int:
        return self._draw.randint(1, self._rooms)

    @contextmanager
    def _listening(self, listener: Any) -> Iterator[str]:
        yield "topic"

    def _handed_out(self, task: Task, search: Search, topic: str) -> Any:
        self.handed_out += 1
        return object()

    def _done(self, waiting: dict[Any, tuple[int, Task]]) -> list[Any]:
        return self._draw.sample(list(waiting), self._draw.randint(0, len(waiting)))

    def _answers(self, future: Any, task: Task, search: Search) -> dict[str, Any]:
        solution = self._solutions[id(task.posed)]
        return {part.name: answer_fields(task.posed.kind, part) for part in solution.parts}


@given(st.sets(st.integers(0, 15)), st.integers(1, 20), st.integers(0, 1000))
@settings(derandomize=True, deadline=None, max_examples=25)
def test_whatever_the_store_holds_and_whoever_ends_first_every_machine_has_its_row(
    solved_points: tuple[list[PosedProblem], list[Solution]], stored: set[int], room: int, seed: int
) -> None:
    problems, solutions = solved_points
    with tempfile.TemporaryDirectory() as folder:
        search = Search(store=Store(Path(folder) / "s.sqlite"))
        for place in stored:
            recall = Recall(search.store, problems[place], "auto", pytest.fail)  # type: ignore[arg-type]
            recall.keep(dict(enumerate(solutions[place].parts)))
        engine = NoCluster(
            room, random.Random(seed), {id(one): two for one, two in zip(*solved_points, strict=True)}
        )
        points = [{"place": place} for place in range(16)]
        found = swept(points, problems, search, engine)
    assert [row.vary for row in found.rows] == points
    assert [row.cost for row in found.rows] == [solution.cost for solution in solutions]
    assert engine.handed_out == 16 - len(stored)


def test_an_engine_that_loses_machines_leaves_rows_that_say_so(
    solved_points: tuple[list[PosedProblem], list[Solution]],
) -> None:
    class Forgetful(DaskEngine):
        def solve(self, problems: Any, search: Search) -> Iterator[tuple[int, Solution]]:
            yield 3, solved_points[1][3]

    points = [{"place": place} for place in range(16)]
    found = swept(points, solved_points[0], Search(), Forgetful(None, 1))
    assert [row.certificate.found for row in found.rows] == [place == 3 for place in range(16)]
    assert {row.certificate.stop for row in found.rows} == {"complete", "interrupted"}


def test_a_store_that_holds_a_part_of_the_grid_does_not_end_the_sweep(
    tmp_path: Path, engine: DaskEngine, here: list[Any]
) -> None:
    search = Search(store=Store(tmp_path / "s.sqlite"))
    sweep(LAYERS, None, {"rf.bytes": [256]}, search=search)
    assert answers(sweep(LAYERS, None, GRID, search=search, engine=engine)) == here


def test_a_worker_that_dies_at_its_start_is_told_in_a_line(
    mapper: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mapper.sweeping.private_cluster.PrivateWorker", Stillborn)
    words = ("sweep", LAYER, "--vary", "rf.bytes=128", "--engine", "dask", "--workers", "1")
    code, out, errors = mapper(*words)
    assert code == 2 and out == "" and "do not start" in errors and len(errors.splitlines()) == 1


def test_a_sweep_goes_on_without_workers_for_a_while_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mapper.sweeping.engine.SECONDS_WITHOUT_WORKERS", 1.0)
    told: list[str] = []
    with DaskEngine(None, 1) as dying:
        (worker,) = dying._client.cluster.workers.values()
        worker.close_gracefully()
        os.kill(worker.pid, signal.SIGKILL)
        found = sweep(
            LAYER, None, {"rf.bytes": [256, 512]}, search=Search(complain=told.append), engine=dying
        )
    assert [row.certificate.found for row in found.rows] == [False, False]
    assert told and "every worker has died" in told[0]


def test_a_scheduler_without_a_cluster_is_told_in_a_line(mapper: Any) -> None:
    words = ("sweep", LAYERS, "--vary", "rf.bytes=128", "--scheduler", "tcp://127.0.0.1:1")
    code, _, errors = mapper(*words)
    assert code == 2 and "--engine dask" in errors and len(errors.splitlines()) == 1


def test_a_scheduler_that_does_not_answer_is_told_in_a_line(
    mapper: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mapper.sweeping.engine.SECONDS_TO_CONNECT", 0.5)
    words = (
        "sweep",
        LAYERS,
        "--vary",
        "rf.bytes=128",
        "--engine",
        "dask",
        "--scheduler",
        "tcp://127.0.0.1:1",
    )
    code, _, errors = mapper(*words)
    assert code == 2 and "does not answer" in errors and len(errors.splitlines()) == 1


def test_any_scheduler_serves_whose_version_is_this_one(
    engine: DaskEngine, here: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    address = engine._client.scheduler.address
    with DaskEngine(address, 1) as elsewhere:
        assert answers(sweep(LAYERS, None, GRID, engine=elsewhere)) == here
    monkeypatch.setattr("mapper.sweeping.engine.version_key", lambda: "another")
    with pytest.raises(InputError, match="must run this version of mapper"), DaskEngine(address, 1):
        pass


def test_the_public_sweep_is_that_of_the_grid() -> None:
    assert api.sweep is sweep


def test_ctrl_c_ends_a_sweep_on_a_cluster_with_the_machines_that_are_done(tmp_path: Path) -> None:
    values = ",".join(map(str, range(100, 400)))
    words = ["sweep", LAYERS, "--vary", f"clock_mhz={values}", "--engine", "dask", "--workers", "1", "--json"]
    log, store = tmp_path / "log", tmp_path / "store.sqlite"
    with subprocess.Popen(
        [sys.executable, "-m", "mapper", *words, "--log", str(log), "--store", str(store)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as running:
        while not (log.exists() and '"machines"' in log.read_text()):
            assert running.poll() is None
            time.sleep(0.05)
        # As a terminal does: to the program and to the workers that it has started.
        os.killpg(running.pid, signal.SIGINT)
        out, errors = running.communicate(timeout=120)
    assert running.returncode == 0, errors
    assert errors == ""
    rows = json.loads(out)["rows"]
    done = [row for row in rows if row["certificate"]["found"]]
    assert len(rows) == 300 and 0 < len(done) < 300 and all(row["certificate"]["proven"] for row in done)
    assert {row["certificate"]["stop"] for row in rows if row not in done} == {"interrupted"}
    kept = {entry.problem for entry in Store(store).entries()}
    assert len(kept) >= 6 * len(done)


@pytest.mark.slow
def test_a_machine_that_takes_its_workers_down_costs_its_own_row_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[str] = []
    hand_out = DaskEngine._handed_out

    def hand_out_and_kill(engine: DaskEngine, *task: Any) -> Any:
        future = hand_out(engine, *task)
        # The worker has the task by then, and has yet to import what it solves with.
        time.sleep(0.3)
        os.kill(next(pids), signal.SIGKILL)
        return future

    monkeypatch.setattr(DaskEngine, "_handed_out", hand_out_and_kill)
    with dask.config.set({"distributed.scheduler.allowed-failures": 0}), DaskEngine(None, 1) as lonely:
        pids = iter(list(lonely.processes()))
        search = Search(complain=told.append)
        swept = sweep(f"{LAYERS}/conv5_2", None, {"rf.bytes": [256]}, search=search, engine=lonely)
    assert [row.certificate.found for row in swept.rows] == [False]
    assert len(told) == 1 and "conv5_2" in told[0]
