"""Sweeps on dask.distributed: each machine of the grid is a task, solved in whichever process is free.

What travels is a problem's document and the answer's, so a worker needs mapper in the same version and no file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from importlib import import_module
from types import TracebackType
from typing import Any

from mapper.judging import judged
from mapper.kind.kind import Part, PosedPart
from mapper.posing import SOLUTION_SCHEMA, Posed, pose_again
from mapper.solution import Solution, assemble, repeated
from mapper.solver.certificate import certificate_from_json
from mapper.solver.method import Progress
from mapper.solving import Search, method_named, run
from mapper.store.recall import Kept, Recall, kept_answer
from mapper.workloads.document import InputError

RETRIES = 3
"""How often a task is begun anew whose worker was lost."""
SECONDS_TO_CONNECT = 20.0
SECONDS_BETWEEN_LOOKS = 0.5
"""How long an interrupt may go unseen."""

Answer = tuple[dict[str, Any] | None, dict[str, Any]]
"""A part's mapping and certificate as documents hold them, the latter with the searches behind it where they count."""


class DaskEngine(AbstractContextManager["DaskEngine"]):
    """A cluster: that of the scheduler at ``address``, or one of ``workers`` processes here.

    Raises: InputError if dask.distributed is not installed or the scheduler does not answer.
    """

    def __init__(self, address: str | None, workers: int) -> None:
        self._address, self._workers = address, workers
        self._client: Any = None
        self._cluster: Any = None

    def __enter__(self) -> DaskEngine:
        try:
            distributed: Any = import_module("distributed")
        except ImportError:
            remedy = "needs dask.distributed; install mapper-engine[dask]"
            raise InputError("--engine", "dask", remedy) from None
        try:
            if self._address is None:
                self._cluster = distributed.LocalCluster(
                    n_workers=self._workers, threads_per_worker=1, processes=True, dashboard_address=None
                )
            self._client = distributed.Client(self._cluster or self._address, timeout=SECONDS_TO_CONNECT)
        except (OSError, ValueError, TimeoutError) as error:
            self.__exit__(None, None, None)
            reason = " ".join(str(error).split())[:120] or type(error).__name__
            raise InputError("--scheduler", str(self._address), f"does not answer ({reason})") from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for one in (self._client, self._cluster):
            if one is not None:
                one.close()

    def processes(self) -> Iterator[int]:
        """The process numbers of the workers."""
        for worker in self._client.run(os.getpid).values():
            yield int(worker)

    def solve(self, problems: Sequence[Posed], search: Search) -> Iterator[tuple[int, Solution]]:
        """The solutions of ``problems`` with their places, as they are done. What the store has proven is no task. An
        interrupt gives up the tasks that are not done.

        Raises: InputError as ``run``.
        """
        wait = import_module("distributed").wait
        waiting: dict[Any, int] = {}
        recalls = [_Recalled(problem, search) for problem in problems]
        for place, recalled in enumerate(recalls):
            if recalled.complete:
                yield place, recalled.solution({})
                continue
            document = {"schema": SOLUTION_SCHEMA, "problem": recalled.posed.to_json()}
            future = self._client.submit(
                _solved,
                document,
                search.method,
                search.time_limit,
                search.seed,
                recalled.begun(),
                pure=False,
                retries=RETRIES,
            )
            waiting[future] = place
        while waiting:
            if search.interrupt.is_set():
                self._client.cancel(list(waiting), force=True)
                return
            try:
                done = wait(list(waiting), timeout=SECONDS_BETWEEN_LOOKS, return_when="FIRST_COMPLETED").done
            except TimeoutError:
                continue
            for future in done:
                place = waiting.pop(future)
                solution = recalls[place].solution(future.result())
                certificate = solution.certificate
                search.listener(
                    recalls[place].posed.workload, Progress(certificate.value, certificate.bound, place + 1)
                )
                yield place, solution


class _Recalled:
    """A problem with what the store knows of its parts."""

    def __init__(self, posed: Posed, search: Search) -> None:
        method = method_named(posed, search.method)
        self.posed = posed
        self._recall = (
            None if search.store is None else Recall(search.store, posed, method.name, search.complain)
        )
        self._first: dict[Any, PosedPart] = {}
        for part in posed.parts:
            self._first.setdefault(part.key, part)
        self._known: list[Kept | None] = [
            self._recall.known(place, part) if self._recall else None
            for place, part in enumerate(self._first.values())
        ]

    @property
    def complete(self) -> bool:
        """Whether every part is proven already."""
        return all(kept is not None and kept.proven for kept in self._known)

    def begun(self) -> dict[str, Answer]:
        """What is known of parts that are not proven, by their names, for a worker to start from."""
        found: dict[str, Answer] = {}
        for part, kept in zip(self._first.values(), self._known, strict=True):
            if kept is not None and not kept.proven and kept.part.mapping is not None:
                certificate = kept.part.certificate.to_json() | {"searches": kept.searches}
                found[part.name] = kept.part.mapping.to_json(), certificate
        return found

    def solution(self, answers: Mapping[str, Answer]) -> Solution:
        """The solution from the answers of a worker, judged here, and kept."""
        found: dict[Any, Part] = {}
        for place, (key, part) in enumerate(self._first.items()):
            known = self._known[place]
            if known is not None and known.proven:
                found[key] = known.part
                continue
            fields, certificate = answers[part.name]
            mapping = None
            if fields is not None:
                mapping = self.posed.kind.read_mapping(fields, part.problem, part.name)
            answer = judged(self.posed.kind, part, mapping, certificate_from_json(certificate))
            if self._recall is not None:
                self._recall.keep(place, answer)
            found[key] = answer
        parts = []
        for part in self.posed.parts:
            first = self._first[part.key]
            answer = found[part.key]
            parts.append(answer if part is first else repeated(answer, part.name, part.source, part.merged))
        return assemble(self.posed, parts)


def _solved(
    document: dict[str, Any],
    method: str,
    time_limit: float | None,
    seed: int,
    begun: dict[str, Answer],
) -> dict[str, Answer]:
    """What a worker does: pose the problem of the document anew and solve it on one core, from what was ``begun``."""
    posed = pose_again(document, "the task")
    kept = {
        part.name: kept_answer(posed.kind, part, posed.objective, *begun[part.name], "the task")
        for part in posed.parts
        if part.name in begun
    }
    solution = run(posed, replace(Search(method, time_limit, 1, seed), executor=None), kept=kept)
    return {
        part.name: (None if part.mapping is None else part.mapping.to_json(), part.certificate.to_json())
        for part in solution.parts
    }
