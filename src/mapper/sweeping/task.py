"""A machine of a sweep as a task for another process: what travels there, what comes back, and what is made of it.

Documents travel, so a worker needs mapper in the same version and no file.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from mapper.api.contradicting import documented, refuse_contradicting_parts, refuse_own_contradiction
from mapper.api.problem import SOLUTION_SCHEMA, PosedProblem, pose_again
from mapper.api.search import Search
from mapper.api.solution import Solution, assemble, repeated, unanswered
from mapper.api.solving import method_named, run
from mapper.kind.kind import AnyPart
from mapper.kind.part import Part
from mapper.solver.certificate import Stop
from mapper.solver.contradiction import ContradictionError
from mapper.solver.method import Progress
from mapper.store.recall import Kept, Recall, answer_fields, kept_answer, read_answer
from mapper.workloads.document import InputError

SECONDS_BETWEEN_WORDS = 1.0
"""How often a task tells of its progress at the most."""

Answer = tuple[dict[str, Any] | None, dict[str, Any]]
"""A part's mapping and certificate as documents hold them, the latter with the searches behind it where they count."""


class Task:
    """A problem with what the store knows of its parts."""

    def __init__(self, posed: PosedProblem, search: Search) -> None:
        method = method_named(posed, search.method)
        self.posed, self._search, self._method = posed, search, method.name
        self._recall = (
            None if search.store is None else Recall(search.store, posed, method.name, search.complain)
        )
        self._first: dict[Any, AnyPart] = {}
        for part in posed.parts:
            self._first.setdefault(part.key, part)
        self._known: list[Kept | None] = (
            self._recall.known(tuple(self._first.values())) if self._recall else [None] * len(self._first)
        )

    @property
    def complete(self) -> bool:
        """Whether every part is proven already."""
        return all(kept is not None and kept.proven for kept in self._known)

    def document(self) -> dict[str, Any]:
        """The problem as it travels."""
        return {"schema": SOLUTION_SCHEMA, "problem": self.posed.to_json()}

    def begun(self) -> dict[str, Answer]:
        """What is known of parts that are not proven, by their names, for a worker to start from."""
        found: dict[str, Answer] = {}
        for part, kept in zip(self._first.values(), self._known, strict=True):
            if kept is not None and not kept.proven and kept.part.mapping is not None:
                mapping, certificate = answer_fields(self.posed.kind, kept.part)
                found[part.name] = mapping, certificate | {"searches": kept.searches}
        return found

    def solution(self, answers: Mapping[str, Answer], stop: Stop = "interrupted") -> Solution:
        """The solution from the answers of a worker, judged here, and kept; what has none stands as it was known, or
        without an answer by reason of ``stop``.

        Raises: ContradictionError if an answer contradicts itself or what is known.
        """
        kind = self.posed.kind
        found: dict[Any, Part] = {}
        fresh: dict[int, Part] = {}
        for place, (key, part) in enumerate(self._first.items()):
            known = self._known[place]
            if part.name in answers and not (known is not None and known.proven):
                found[key], _ = read_answer(kind, part, *answers[part.name], part.name)
                self._refuse(part, found[key], known)
                fresh[place] = found[key]
            else:
                blank = unanswered(part, self._method, stop, self._search.seed, workers=1)
                found[key] = blank if known is None else known.part
        if self._recall is not None:
            self._recall.keep(fresh)
        parts = []
        for part in self.posed.parts:
            first = self._first[part.key]
            answer = found[part.key]
            parts.append(answer if part is first else repeated(answer, part.name, part.source, part.merged))
        return assemble(self.posed, parts)

    def _refuse(self, part: AnyPart, answer: Part, known: Kept | None) -> None:
        posed = self.posed
        try:
            refuse_own_contradiction(posed.kind, part.problem, answer, posed.objective.most)
        except ContradictionError as error:
            raise documented(posed, part, error, self._method) from None
        if known is not None:
            refuse_contradicting_parts(posed, known.part, answer)


def solved(
    document: dict[str, Any],
    method: str,
    time_limit: float | None,
    started: float | None,
    seed: int,
    begun: dict[str, Answer],
    topic: str,
) -> tuple[tuple[str, str, str] | None, dict[str, Answer]]:
    """What a worker does: pose the problem of the document anew and solve it on one core, from what was ``begun``; why
    it was refused, if it was (source, field and remedy), and the answers. Progress is told to ``topic``. The limit
    counts from ``started`` on ``time.monotonic()``, if that clock is the same here, else from now on.

    Raises: ContradictionError as ``run``.
    """
    began = time.monotonic() if started is None else started
    posed = pose_again(document, "the task")
    kept = {
        part.name: kept_answer(posed.kind, part, posed.objective, *begun[part.name], "the task")
        for part in posed.parts
        if part.name in begun
    }
    try:
        solution = run(posed, Search(method, time_limit, 1, seed, began, listener=_Teller(topic)), kept=kept)
    except InputError as error:
        return (error.source, error.field, error.remedy), {}
    return None, {
        part.name: answer_fields(posed.kind, part) for part in solution.parts if part.same_as is None
    }


class _Teller:
    """Tells the process that handed out the task how far it is."""

    def __init__(self, topic: str) -> None:
        self._topic, self._next = topic, 0.0
        # Only the task's own thread knows the worker.
        self._worker: Any = import_module("distributed").get_worker()

    def __call__(self, part: str, progress: Progress) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + SECONDS_BETWEEN_WORDS
        # As text: the wire's own numbers end at 64 bits.
        told = [part, progress.value, progress.bound, progress.evaluations]
        self._worker.log_event(self._topic, json.dumps(told))
