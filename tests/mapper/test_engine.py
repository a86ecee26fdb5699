"""Sweeps on a cluster: the same answers, whatever happens to its processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import pytest

import mapper as api
from mapper.engine import DaskEngine
from mapper.solver.method import Progress
from mapper.solving import Search
from mapper.store import Store
from mapper.sweeping import Sweep, sweep
from mapper.workloads.document import InputError

LAYERS = "resnet-dmazerunner"
GRID = {"rf.bytes": [128, 256, 512, 1024]}


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
    assert 0 < len(swept.rows) < 16
    assert all(row.certificate.proven for row in swept.rows)


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
    assert len(Store(tmp_path / "s.sqlite").entries()) == 24
    monkeypatch.setattr(DaskEngine, "_handed_out", None)
    assert answers(sweep(LAYERS, None, GRID, search=search, engine=engine)) == here


def test_a_scheduler_without_a_cluster_is_told_in_a_line(mapper: Any) -> None:
    words = ("sweep", LAYERS, "--vary", "rf.bytes=128", "--scheduler", "tcp://127.0.0.1:1")
    code, _, errors = mapper(*words)
    assert code == 2 and "--engine dask" in errors and len(errors.splitlines()) == 1


def test_a_scheduler_that_does_not_answer_is_told_in_a_line(
    mapper: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mapper.engine.SECONDS_TO_CONNECT", 0.5)
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
    monkeypatch.setattr("mapper.engine.version_key", lambda: "another")
    with pytest.raises(InputError, match="need this version of mapper"), DaskEngine(address, 1):
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
    assert 0 < len(rows) < 300 and all(row["certificate"]["proven"] for row in rows)
    kept = {entry.problem for entry in Store(store).entries()}
    assert len(kept) >= 6 * len(rows)


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
