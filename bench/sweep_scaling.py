"""Sweeps on dask.distributed: one worker and two, what a task costs beside its solving, and what that means for more.

Scheduler and workers are processes of their own, as on a cluster. Wall seconds depend on what else the machine does;
the CPU seconds of the busiest worker are what the sweep would take with a processor for each.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.measure import show
from mapper.api.search import Search
from mapper.store import Store
from mapper.sweeping.engine import DaskEngine
from mapper.sweeping.sweep import grid, sweep
from mapper.sweeping.task import Task, solved

NETWORK, ARCH = "resnet50", "dmazerunner-256-fine"
VARIED = {"rf.bytes": [256, 512], "spm.bytes": [65536, 98304, 131072, 196608, 262144, 393216]}
REPEATS = 2
EMPTY_TASKS = 500
WORKERS = (1, 2, 10, 100, 300, 1_000)
MACHINES = 10_000
"""Of the sweep that is extrapolated."""


@dataclass(frozen=True)
class Cost:
    """Seconds of one task: of a worker that solves it, of the scheduler, and of the process that began the sweep."""

    solving: float
    scheduler: float
    client: float

    def sweep(self, tasks: int, workers: int) -> float:
        """Seconds of a sweep: each of the three works beside the others, and the last task ends alone."""
        return tasks * max(self.solving / workers, self.scheduler, self.client) + self.solving

    @property
    def limit(self) -> float:
        """Workers beyond which the sweep takes no less time."""
        return self.solving / max(self.scheduler, self.client)


@contextmanager
def cluster(workers: int) -> Iterator[Any]:
    """A client of a scheduler and workers that are processes of their own."""
    with tempfile.TemporaryDirectory() as folder:
        contact = Path(folder) / "scheduler.json"
        program = [sys.executable, "-m"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        own = [*program, "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
        started = [subprocess.Popen([*own, "--no-dashboard", "--scheduler-file", str(contact)], **quiet)]  # type: ignore[call-overload]
        try:
            while not contact.exists():
                time.sleep(0.1)
            each = [
                *program,
                "distributed.cli.dask_worker",
                "--scheduler-file",
                str(contact),
                "--no-dashboard",
            ]
            words = [*each, "--nworkers", str(workers), "--nthreads", "1"]
            started.append(subprocess.Popen(words, **quiet))  # type: ignore[call-overload]
            with import_module("distributed").Client(scheduler_file=str(contact)) as client:
                client.wait_for_workers(workers)
                yield client
        finally:
            for process in reversed(started):
                process.terminate()
                process.wait()


def worker_seconds(client: Any) -> dict[str, float]:
    """CPU seconds of each worker so far."""
    found: dict[str, float] = client.run(time.process_time)
    return found


@dataclass(frozen=True)
class Swept:
    """Seconds of one sweep: on the clock, of each worker's processor, of this process."""

    wall: float
    workers: tuple[float, ...]
    client: float
    rows: tuple[Any, ...]


def swept(client: Any, varied: dict[str, list[int]] = VARIED) -> Swept:
    """One sweep without a store."""
    with DaskEngine(client.scheduler.address, 0) as engine:
        before, processor, wall = worker_seconds(client), time.process_time(), time.perf_counter()
        found = sweep(NETWORK, ARCH, varied, "edp", None, Search(), engine)
        seconds = time.perf_counter() - wall, time.process_time() - processor
    after = worker_seconds(client)
    rows = tuple((str(row.vary), row.certificate.value, row.certificate.proven) for row in found.rows)
    return Swept(seconds[0], tuple(after[one] - before[one] for one in after), seconds[1], rows)


def best(count: int) -> tuple[Swept, Cost | None]:
    """The quickest of several sweeps on ``count`` workers that are warm, and what empty tasks cost there."""
    with cluster(count) as client:
        swept(client, {"rf.bytes": [512, 1024]})
        runs = [swept(client) for _ in range(REPEATS)]
        empty = empty_tasks(client) if count > 1 else None
    return min(runs, key=lambda one: one.wall), empty


def nothing(*arguments: Any) -> None:
    """A task that is sent all a sweep's is, and does nothing."""


def empty_tasks(client: Any) -> Cost:
    """CPU seconds of a task that does nothing, of the two workers, the scheduler and this process."""
    task = Task(grid(NETWORK, ARCH, {"rf.bytes": [512]}, "edp", None)[1][0], Search())
    arguments: tuple[Any, ...] = (task.document(), "auto", None, 0, {}, "topic")
    scheduler = client.run_on_scheduler(time.process_time)
    workers, own = worker_seconds(client), time.process_time()
    futures = [client.submit(nothing, *arguments, pure=False) for _ in range(EMPTY_TASKS)]
    client.gather(futures)
    own = time.process_time() - own
    spent = client.run_on_scheduler(time.process_time) - scheduler
    busy = sum(worker_seconds(client).values()) - sum(workers.values())
    return Cost(busy / EMPTY_TASKS, spent / EMPTY_TASKS, own / EMPTY_TASKS)


def sizes() -> tuple[int, int]:
    """Bytes of a task and of its answer on the wire."""
    to_frames: Callable[[Any], list[bytes]] = import_module("distributed.protocol").dumps
    to_serialize: Callable[[Any], Any] = import_module("distributed.protocol").to_serialize
    task = Task(grid(NETWORK, ARCH, {"rf.bytes": [512]}, "edp", None)[1][0], Search())
    with cluster(1) as client:
        answer: Any = client.submit(solved, task.document(), "auto", None, 0, {}, "topic").result()
    arguments: tuple[Any, ...] = (task.document(), "auto", None, 0, {}, "topic")
    sent, returned = (sum(map(len, to_frames(to_serialize(one)))) for one in (arguments, answer))
    return sent, returned


def kept_seconds(store: Store | None) -> tuple[float, float]:
    """CPU and wall seconds that this process takes for a task besides sending it: looking up, judging, keeping."""
    problems = grid(NETWORK, ARCH, VARIED, "edp", None)[1][:3]
    with cluster(1) as client:
        documents = [Task(problem, Search()).document() for problem in problems]
        answers = [client.submit(solved, one, "auto", None, 0, {}, "topic").result()[1] for one in documents]
    search = Search(store=store)
    processor, wall = time.process_time(), time.perf_counter()
    for problem, answer in zip(problems, answers, strict=True):
        task = Task(problem, search)
        task.document()
        task.solution(answer)
    count = len(problems)
    return (time.process_time() - processor) / count, (time.perf_counter() - wall) / count


def main() -> None:
    """Print what was measured, and what it means for more workers."""
    print(f"load of the last minute: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors", flush=True)
    one, _ = best(1)
    two, empty = best(2)
    assert empty is not None
    if one.rows != two.rows:
        raise SystemExit("one and two workers disagree")
    heading = ["workers", "wall s", "ratio", "CPU s of workers", "of the busiest", "ratio", "CPU s here"]
    lines = []
    for run in (one, two):
        busiest = max(run.workers)
        walls, cpus = one.wall / run.wall, sum(one.workers) / busiest
        cells = [sum(run.workers), busiest, cpus, run.client]
        lines.append(
            [str(len(run.workers)), f"{run.wall:.2f}", f"{walls:.2f}", *(f"{cell:.2f}" for cell in cells)]
        )
    show(f"{NETWORK} on {len(one.rows)} machines, best of {REPEATS}:", heading, lines)
    sent, returned = sizes()
    print(f"a task is {sent:,} bytes on the wire, its answer {returned:,}")
    print(
        f"an empty task takes {empty.scheduler * 1e3:.2f} ms of the scheduler's processor, "
        f"{empty.client * 1e3:.2f} ms of this process's and {empty.solving * 1e3:.2f} ms of the workers'"
    )
    solving = sum(one.workers) / len(one.rows)
    with tempfile.TemporaryDirectory() as folder:
        measured = {"none": kept_seconds(None), "a file": kept_seconds(Store(Path(folder) / "store.sqlite"))}
    for name, (processor, wall) in measured.items():
        print(
            f"store {name}: {processor * 1e3:.1f} ms of this process's processor a task, {wall * 1e3:.1f} ms of time"
        )
    cases = {
        "store none": Cost(solving, empty.scheduler, empty.client + measured["none"][0]),
        "store a file": Cost(solving, empty.scheduler, empty.client + measured["a file"][1]),
    }
    heading = ["workers", *(f"s, {name}" for name in cases), *(f"speed-up, {name}" for name in cases)]
    lines = []
    for workers in WORKERS:
        seconds = [cost.sweep(MACHINES, workers) for cost in cases.values()]
        gains = [cost.sweep(MACHINES, 1) / cost.sweep(MACHINES, workers) for cost in cases.values()]
        lines.append(
            [f"{workers:,}", *(f"{cell:,.0f}" for cell in seconds), *(f"{cell:.1f}" for cell in gains)]
        )
    show(f"on paper, {MACHINES:,} machines of {solving:.2f} s:", heading, lines)
    for name, cost in cases.items():
        print(
            f"{name}: no gain beyond {cost.limit:,.0f} workers; scheduler alone: {solving / cost.scheduler:,.0f}"
        )


if __name__ == "__main__":
    main()
