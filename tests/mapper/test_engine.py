"""Sweeps on a cluster: the same answers, whatever happens to its processes."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

import mapper as api
from mapper.engine import DaskEngine
from mapper.solving import Search
from mapper.store import Store
from mapper.sweeping import Sweep, sweep

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


def test_an_interrupt_keeps_what_is_done(engine: DaskEngine) -> None:
    search = Search()
    heard: list[str] = []

    def stop(part: str, progress: Any) -> None:
        heard.append(part)
        search.interrupt.set()

    grid = {"rf.bytes": [128, 256, 512, 1024], "spm.bytes": [65536, 131072, 262144, 524288]}
    listening = Search(interrupt=search.interrupt, listener=stop)
    swept = sweep(LAYERS, None, grid, search=listening, engine=engine)
    assert heard and 0 < len(swept.rows) < 16


def test_what_is_proven_in_the_store_is_no_task(tmp_path: Any, engine: DaskEngine, here: list[Any]) -> None:
    search = Search(store=Store(tmp_path / "s.sqlite"))
    sweep(LAYERS, None, GRID, search=search, engine=engine)
    assert len(Store(tmp_path / "s.sqlite").entries()) == 24
    unconnected = DaskEngine(None, 1)
    assert answers(sweep(LAYERS, None, GRID, search=search, engine=unconnected)) == here


def test_a_dry_run_says_what_a_sweep_would_take(mapper: Any) -> None:
    began = time.monotonic()
    code, out, _ = mapper(
        "sweep", "resnet-dmazerunner/conv5_2", "--vary", "clock_mhz=" + ",".join(map(str, range(1, 1001))),
        "--dry-run", "--json",
    )  # fmt: skip
    plan = json.loads(out)
    assert code == 0 and time.monotonic() > began
    assert (plan["machines"], plan["problems"], plan["sampled"]) == (1000, 1000, 3)
    assert plan["core_seconds"] > 0


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


def test_the_public_sweep_is_that_of_the_grid() -> None:
    assert api.sweep is sweep
