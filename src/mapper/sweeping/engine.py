"""Sweeps on dask.distributed: each machine of the grid is a task, solved in whichever process is free.

No more tasks are handed out than keep the workers busy, so that neither this process nor the scheduler holds the sweep.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from importlib import import_module
from types import TracebackType
from typing import Any

from mapper.api.problem import PosedProblem
from mapper.api.search import Listener, Search
from mapper.api.solution import Solution
from mapper.solver.method import Progress
from mapper.store import version_key
from mapper.sweeping.task import Task, solved
from mapper.workloads.document import InputError
from mapper.workloads.process.ending import at_the_end

SECONDS_TO_CONNECT = 20.0
SECONDS_BETWEEN_LOOKS = 0.5
"""How long an interrupt may go unseen."""
SECONDS_TO_TRAVEL = 0.5
"""How long before the time limit searches end, so that what they found is here in time."""
SECONDS_BEYOND = 1.0
"""How long after the time limit answers are still waited for."""
SECONDS_WITHOUT_WORKERS = 30.0
"""How long a cluster here may be without any worker. One that dies is begun anew within seconds."""
TASKS_PER_WORKER = 3
"""Tasks handed out for every worker: the one it solves, and those that already lie there."""


class DaskEngine(AbstractContextManager["DaskEngine"]):
    """A cluster: that of the scheduler at ``address``, or one of ``workers`` processes here, which nobody else reaches.

    Raises: InputError if dask.distributed is not installed, the scheduler does not answer, it or one of its workers
    has another version of mapper, or a worker here dies at its start.
    """

    def __init__(self, address: str | None, workers: int) -> None:
        self._address, self._workers = address, workers
        self._client: Any = None
        self._opened = ExitStack()
        self._alone: float | None = None

    def __enter__(self) -> DaskEngine:
        try:
            distributed: Any = import_module("distributed")
        except ImportError:
            remedy = "needs dask.distributed; install mapper-engine[dask]"
            raise InputError("--engine", "dask", remedy) from None
        try:
            where: Any = self._address
            if where is None:
                from mapper.sweeping.private_cluster import private_cluster

                where = self._opened.enter_context(private_cluster(self._workers))
            self._client = self._opened.enter_context(distributed.Client(where, timeout=SECONDS_TO_CONNECT))
        except (OSError, ValueError, RuntimeError) as error:
            self._opened.close()
            reason = " ".join(str(error).split())[:120] or type(error).__name__
            if self._address is None:
                remedy = (
                    f"its processes here do not start ({reason}); give fewer --workers, or leave --engine out"
                )
                raise InputError("--engine", "dask", remedy) from None
            raise InputError("--scheduler", self._address, f"does not answer ({reason})") from None
        if self._address is not None and not self._is_of_this_version():
            self._opened.close()
            remedy = "it and its workers must run this version of mapper; install it there"
            raise InputError("--scheduler", self._address, remedy)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._opened.close()

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

    def solve(self, problems: Sequence[PosedProblem], search: Search) -> Iterator[tuple[int, Solution]]:
        """The solutions of ``problems`` with their places, as they are done. What the store has proven is no task. An
        interrupt, the time limit, and the end of all workers here give up the tasks that are not done, which have no
        solution; a task that took all the workers it was given to has one without an answer.

        Raises: InputError as ``run``; ContradictionError as ``run``, on a worker or here.
        """
        left = iter(enumerate(problems))
        waiting: dict[Any, tuple[int, Task]] = {}
        with self._listening(search.listener) as topic:
            try:
                while not self._ended(search):
                    room = self._room(search)
                    # What is proven in the store takes no room: all that is left is looked at before nothing is.
                    while len(waiting) < room and not self._ended(search):
                        entry = next(left, None)
                        if entry is None:
                            break
                        task = Task(entry[1], search)
                        if task.complete or _is_over(search):
                            yield entry[0], task.solution({}, "time_limit")
                        else:
                            waiting[self._handed_out(task, search, topic)] = entry[0], task
                    if not waiting:
                        return
                    for future in self._done(waiting):
                        place, task = waiting.pop(future)
                        yield place, task.solution(self._answers(future, task, search))
            finally:
                self._client.cancel(list(waiting), force=True)

    def _ended(self, search: Search) -> bool:
        """Whether no answer is waited for any more."""
        return search.interrupt.is_set() or _is_over(search, SECONDS_BEYOND) or self._is_lost(search)

    def _is_lost(self, search: Search) -> bool:
        """Whether a cluster here has been without a worker for too long."""
        if self._alone is None or time.monotonic() - self._alone < SECONDS_WITHOUT_WORKERS:
            return False
        search.complain("every worker has died and none restarts; the remaining machines are given up")
        return True

    def _room(self, search: Search) -> int:
        """How many tasks may be out at once. None is to lie waiting where there is a limit, which goes on meanwhile."""
        threads: int = sum(self._client.nthreads().values())
        if threads or self._address is not None:
            self._alone = None
        elif self._alone is None:
            self._alone = time.monotonic()
        return (1 if search.time_limit is not None else TASKS_PER_WORKER) * max(1, threads)

    def _handed_out(self, task: Task, search: Search, topic: str) -> Any:
        deadline, now = search.deadline, time.monotonic()
        # The limit is that of the whole command. Clocks of other machines do not tell this one's time.
        limit = None if deadline is None else max(0.0, deadline - SECONDS_TO_TRAVEL - now)
        return self._client.submit(
            solved,
            task.document(),
            search.method,
            limit,
            now if self._address is None else None,
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
        except import_module("distributed").client.FutureCancelledError:
            search.complain(
                f"{task.posed.workload}: given up on one machine; the scheduler has lost its task"
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


def _is_over(search: Search, beyond: float = 0.0) -> bool:
    """Whether the time limit, if there is one, passed so many seconds ago."""
    return search.deadline is not None and time.monotonic() >= search.deadline + beyond


def _version() -> str:
    return version_key()
