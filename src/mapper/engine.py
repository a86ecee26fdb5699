"""Sweeps on dask.distributed: each machine of the grid is a task, solved in whichever process is free.

No more tasks are handed out than keep the workers busy, so that neither this process nor the scheduler holds the sweep.
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from importlib import import_module
from itertools import islice
from types import TracebackType
from typing import Any

from mapper.posing import Posed
from mapper.solution import Solution
from mapper.solver.method import Progress
from mapper.solving import Listener, Search
from mapper.store import version_key
from mapper.task import Task, solved
from mapper.workloads.document import InputError
from mapper.workloads.ending import at_the_end
from mapper.workloads.temporary import temporary_folder

SECONDS_TO_CONNECT = 20.0
SECONDS_BETWEEN_LOOKS = 0.5
"""How long an interrupt may go unseen."""
DEAF = "import signal\nfor one in (signal.SIGINT, signal.SIGHUP): signal.signal(one, signal.SIG_IGN)\n"
"""What workers here run first: a terminal sends Ctrl-C and its end to them too, but it is this process that ends the
sweep."""
TASKS_PER_WORKER = 3
"""Tasks handed out for every worker: the one it solves, and those that already lie there."""


class DaskEngine(AbstractContextManager["DaskEngine"]):
    """A cluster: that of the scheduler at ``address``, or one of ``workers`` processes here.

    Raises: InputError if dask.distributed is not installed, the scheduler does not answer, or it or one of its workers
    has another version of mapper.
    """

    def __init__(self, address: str | None, workers: int) -> None:
        self._address, self._workers = address, workers
        self._client: Any = None
        self._cluster: Any = None
        self._folder = ExitStack()

    def __enter__(self) -> DaskEngine:
        try:
            distributed: Any = import_module("distributed")
        except ImportError:
            remedy = "needs dask.distributed; install mapper-engine[dask]"
            raise InputError("--engine", "dask", remedy) from None
        try:
            if self._address is None:
                # What workers leave there when they are killed is gone with it.
                folder = str(self._folder.enter_context(temporary_folder()))
                dask: Any = import_module("dask")
                self._folder.enter_context(dask.config.set({"temporary-directory": folder}))
                self._cluster = distributed.LocalCluster(
                    n_workers=self._workers,
                    threads_per_worker=1,
                    processes=True,
                    dashboard_address="127.0.0.1:0",
                    preload=[DEAF],
                    env={"TMPDIR": folder},
                    silence_logs=logging.ERROR,
                )
            self._client = distributed.Client(self._cluster or self._address, timeout=SECONDS_TO_CONNECT)
        except (OSError, ValueError, TimeoutError) as error:
            self.__exit__(None, None, None)
            reason = " ".join(str(error).split())[:120] or type(error).__name__
            raise InputError("--scheduler", str(self._address), f"does not answer ({reason})") from None
        if self._address is not None and not self._is_of_this_version():
            self.__exit__(None, None, None)
            remedy = "it and its workers need this version of mapper, or answers would be another's; install it there"
            raise InputError("--scheduler", self._address, remedy)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._folder:
            for one in (self._client, self._cluster):
                if one is not None:
                    one.close()

    def _is_of_this_version(self) -> bool:
        try:
            found = {self._client.run_on_scheduler(_version), *self._client.run(_version).values()}
        except (ImportError, AttributeError, RuntimeError):
            return False
        return found == {version_key()}

    def processes(self) -> Iterator[int]:
        """The process numbers of the workers."""
        for worker in self._client.run(os.getpid).values():
            yield int(worker)

    def solve(self, problems: Sequence[Posed], search: Search) -> Iterator[tuple[int, Solution]]:
        """The solutions of ``problems`` with their places, as they are done. What the store has proven is no task. An
        interrupt gives up the tasks that are not done; a task that took all the workers it was given to has no answer.

        Raises: InputError as ``run``.
        """
        left = iter(enumerate(problems))
        waiting: dict[Any, tuple[int, Task]] = {}
        with self._listening(search.listener) as topic:
            while not search.interrupt.is_set():
                for place, problem in islice(left, max(0, self._room() - len(waiting))):
                    task = Task(problem, search)
                    if task.complete:
                        yield place, task.solution({})
                    else:
                        waiting[self._handed_out(task, search, topic)] = place, task
                    if search.interrupt.is_set():
                        break
                if not waiting:
                    return
                for future in self._done(waiting):
                    place, task = waiting.pop(future)
                    yield place, task.solution(self._answers(future, task, search))
            self._client.cancel(list(waiting), force=True)

    def _room(self) -> int:
        """How many tasks may be out at once."""
        threads: dict[str, int] = self._client.nthreads()
        return TASKS_PER_WORKER * max(1, sum(threads.values()))

    def _handed_out(self, task: Task, search: Search, topic: str) -> Any:
        deadline = search.deadline
        # The limit is that of the whole command; clocks of other machines do not tell this one's time.
        limit = None if deadline is None else max(0.0, deadline - time.monotonic())
        return self._client.submit(
            solved,
            task.document(),
            search.method,
            limit,
            search.seed,
            task.begun(),
            topic,
            pure=False,
        )

    def _done(self, waiting: dict[Any, tuple[int, Task]]) -> list[Any]:
        wait = import_module("distributed").wait
        try:
            done = wait(list(waiting), timeout=SECONDS_BETWEEN_LOOKS, return_when="FIRST_COMPLETED").done
        except TimeoutError:
            return []
        return sorted(done, key=lambda future: waiting[future][0])

    def _answers(self, future: Any, task: Task, search: Search) -> dict[str, Any]:
        try:
            refused, answers = future.result()
        except import_module("distributed").scheduler.KilledWorker:
            search.complain(
                f"{task.posed.workload}: given up on one machine; every worker it was given to died"
            )
            return {}
        if refused is not None:
            raise InputError(*refused)
        found: dict[str, Any] = answers
        return found

    @contextmanager
    def _listening(self, listener: Listener) -> Iterator[str]:
        """A topic to which workers tell of progress for ``listener`` to hear."""
        topic = f"mapper-{uuid.uuid4()}"

        def hear(event: tuple[float, str]) -> None:
            part, value, bound, evaluations = json.loads(event[1])
            listener(part, Progress(value, bound, evaluations))

        self._client.subscribe_topic(topic, hear)
        try:
            yield topic
        finally:
            self._client.unsubscribe_topic(topic)


@at_the_end
def _kill_workers() -> None:
    """They would see this process end as well, but not without a word."""
    for worker in multiprocessing.active_children():
        worker.kill()


def _version() -> str:
    return version_key()
