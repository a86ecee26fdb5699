"""Running a method over the parts of a posed problem."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from mapper.api.contradicting import documented, refuse_own_contradiction
from mapper.api.history import Recorder
from mapper.api.limit import LARGEST_SEED, LONGEST_SECONDS, MOST_WORKERS
from mapper.api.problem import PosedProblem
from mapper.api.solution import Solution, assemble, repeated, unanswered
from mapper.api.verification import verified
from mapper.formulations.objective import Objective
from mapper.kind.kind import AnyKind, AnyPart, Part
from mapper.models.limit import GRACE, SHORT_GRACE, UnfinishedError
from mapper.models.plain import limited, nobody_hears, on_disk
from mapper.solver.certificate import Certificate, Stop
from mapper.solver.contradiction import ContradictionError
from mapper.solver.method import Effort, Method, Progress, Start
from mapper.solver.outcome import Outcome
from mapper.store.database import Store
from mapper.store.recall import Kept, Recall
from mapper.workloads.document import InputError

Listener = Callable[[str, Progress], None]
"""Hears of progress: the part's name and where its search stands."""


def nobody(part: str, progress: Progress) -> None:
    """Nobody listens."""


def nobody_complains(reason: str) -> None:
    """Nobody hears why a store is not used."""


@dataclass(frozen=True)
class Search:
    """How to search: method, seconds for all parts together, workers, seed, listeners, and what ends the search.

    ``executor`` runs independent parts; without one, threads do (the searches release the interpreter). ``store`` keeps
    answers and returns those that are already proven; if it cannot be used, ``complain`` is told why, once. Parts share
    the time limit, unless each may use all that is left of it (``in_turn``). Until ``begun`` is set, an interrupt has
    nothing to keep. ``compiling`` is told when machine code is compiled, which happens once per computer.
    """

    method: str = "auto"
    time_limit: float | None = None
    workers: int | None = None
    seed: int = 0
    started: float = field(default_factory=time.monotonic)
    interrupt: threading.Event = field(default_factory=threading.Event)
    listener: Listener = nobody
    executor: Executor | None = None
    store: Store | None = None
    complain: Callable[[str], None] = nobody_complains
    in_turn: bool = False
    begun: threading.Event = field(default_factory=threading.Event)
    compiling: Callable[[], None] = nobody_hears

    def stopped(self) -> Stop | None:
        """Why no search may go on, if it may not."""
        return Effort(self.deadline, interrupt=self.interrupt).stopped()

    def __post_init__(self) -> None:
        if not 0 <= self.seed <= LARGEST_SEED:
            raise InputError("--seed", "", f"must be a whole number from 0 to {LARGEST_SEED}")
        if self.workers is not None and not 1 <= self.workers <= MOST_WORKERS:
            raise InputError("--workers", "", f"must be a whole number from 1 to {MOST_WORKERS}")
        if self.time_limit is not None and not 0 <= self.time_limit <= LONGEST_SECONDS:
            raise InputError("--time-limit", "", f"must be a number of seconds from 0 to {LONGEST_SECONDS:g}")

    @property
    def used_workers(self) -> int:
        return self.workers or os.cpu_count() or 1

    @property
    def deadline(self) -> float | None:
        return None if self.time_limit is None else self.started + self.time_limit


def method_named(posed: PosedProblem, name: str) -> Method[Any, Any]:
    """A method for the problem.

    Raises: InputError naming those it has.
    """
    methods = posed.kind.methods_of(posed.read.value)
    if name not in methods:
        raise InputError("--method", name, f"a {posed.kind.name} problem has {', '.join(methods)}")
    return methods[name]


def run(
    posed: PosedProblem,
    search: Search,
    finished: Callable[[Solution], None] | None = None,
    kept: Mapping[str, Kept] | None = None,
) -> Solution:
    """Solve every part once; ``finished`` hears of the solution so far whenever a part is done. ``kept``: what is known
    of parts, by their names, besides what the store holds.

    Raises: InputError if the method does not exist or refuses the problem.
    """
    method = method_named(posed, search.method)
    first_of: dict[Any, AnyPart] = {}
    for part in posed.parts:
        first_of.setdefault(part.key, part)
    answers: dict[Any, Part] = {}
    places = {key: place for place, key in enumerate(first_of)}
    recall = None if search.store is None else Recall(search.store, posed, method.name, search.complain)
    stored = recall.known(tuple(first_of.values())) if recall else [None] * len(first_of)
    known = {
        key: _better(one, (kept or {}).get(part.name), posed.objective)
        for one, (key, part) in zip(stored, first_of.items(), strict=True)
    }
    answers |= {key: one.part for key, one in known.items() if one is not None and one.proven}
    open_parts = {key: part for key, part in first_of.items() if key not in answers}
    weights = _weights([known[key] for key in open_parts])
    # Those with most to gain first: what they leave of their time goes to the others.
    ordered = sorted(zip(open_parts.items(), weights, strict=True), key=lambda one: -one[1])
    side_by_side = max(1, min(search.used_workers, len(open_parts)))
    shares = [1.0] * len(ordered)
    if not search.in_turn:
        shares = _shares([weight for _, weight in ordered], side_by_side)
    if any(one is not None for one in known.values()):
        search.begun.set()
    if answers and finished is not None:
        finished(_solution(posed, method, search, first_of, answers))
    if open_parts:
        on_disk(method.prepare)
    with _executor(search, side_by_side) as executor:
        pending: dict[Future[Part], Any] = {
            executor.submit(
                solve_part,
                posed.kind,
                method,
                part,
                search
                if search.time_limit is None
                else replace(search, time_limit=search.time_limit * share),
                side_by_side,
                _start(known[key], part, posed.objective),
                most=posed.objective.most,
            ): key
            for ((key, part), _), share in zip(ordered, shares, strict=True)
        }
        while pending:
            done, _ = wait(pending, timeout=0.5, return_when=FIRST_COMPLETED)
            fresh = {pending[future]: future.result() for future in done if future.exception() is None}
            if recall is not None:
                # Kept before anybody hears of it: what was reported survives a kill.
                recall.keep({places[key]: answer for key, answer in fresh.items()})
            answers |= fresh
            for future in done:
                try:
                    future.result()  # what one raises loses no other's answer
                except ContradictionError as error:
                    raise documented(posed, first_of[pending[future]], error, method.name) from error
                del pending[future]
            if done and finished is not None:
                finished(_solution(posed, method, search, first_of, answers))
    return _solution(posed, method, search, first_of, answers)


def _better(stored: Kept | None, given: Kept | None, objective: Objective) -> Kept | None:
    """The better of what a store holds and what the caller knows; the latter where neither is."""
    if stored is None or given is None or stored.proven:
        return stored or given
    start = stored.start(None, objective)
    value = given.part.certificate.value
    return stored if start is not None and value is not None and start.beats(start.value, value) else given


def _start(kept: Kept | None, part: AnyPart, objective: Objective) -> Start[Any] | None:
    return None if kept is None else kept.start(part.problem, objective)


def _weights(known: Sequence[Kept | None]) -> list[float]:
    """What there is to gain in each part: what its known mapping costs beyond its bound; the same in all if one has no
    mapping."""
    claims = [None if kept is None else kept.part.certificate for kept in known]
    values = [None if claim is None else claim.value for claim in claims]
    bounds = [None if claim is None else claim.bound for claim in claims]
    return [
        1.0 if None in values else abs(float(value or 0) - float(bound or 0))
        for value, bound in zip(values, bounds, strict=True)
    ]


def _shares(weights: Sequence[float], side_by_side: int) -> list[float]:
    """The share of the time limit at which each part must end, so that those after it have theirs too; what a part
    leaves is left to the next."""
    whole = math.fsum(weights)
    ends = [min(len(weights), (place // side_by_side + 1) * side_by_side) for place in range(len(weights))]
    return [math.fsum(weights[:end]) / whole if whole else 1.0 for end in ends]


@contextmanager
def _executor(search: Search, side_by_side: int) -> Iterator[Executor]:
    if search.executor is not None:
        yield search.executor
        return
    with ThreadPoolExecutor(side_by_side) as executor:
        try:
            yield executor
        except InputError:
            # A method that refuses one part fits the problem no more: parts not begun are not tried.
            executor.shutdown(wait=False, cancel_futures=True)
            raise
        except BaseException:
            search.interrupt.set()
            raise


def _solution(
    posed: PosedProblem,
    method: Method[Any, Any],
    search: Search,
    first_of: dict[Any, AnyPart],
    answers: dict[Any, Part],
) -> Solution:
    parts = []
    for part in posed.parts:
        first = first_of[part.key]
        answer = answers.get(part.key) or unanswered(
            first, method.name, seed=search.seed, workers=search.used_workers
        )
        if part is not first:
            answer = repeated(answer, part.name, part.source, part.merged)
        parts.append(answer)
    return assemble(posed, parts)


def solve_part(
    kind: AnyKind,
    method: Method[Any, Any],
    part: AnyPart,
    search: Search,
    side_by_side: int,
    start: Start[Any] | None = None,
    *,
    most: bool,
) -> Part:
    """Search one part (from ``start``, if given), have the referee check the mapping, and certify it. The answer is no
    worse than the start. ``most``: more of the objective is better.

    Raises: ContradictionError if the mapping is better than is proven possible.
    """

    recorder = Recorder()
    if start is not None:
        recorder.begin(start.value, start.bound)

    def report(progress: Progress) -> None:
        progress = progress if start is None else start.heard(progress)
        recorder.add(progress)
        search.listener(part.name, progress)

    effort = effort_of(search, side_by_side, report, start)
    wall, processor = time.perf_counter(), time.thread_time() if side_by_side > 1 else time.process_time()
    try:
        outcome = _searched(method, part, effort, search.compiling)
        if start is not None:
            outcome = start.combined(replace(outcome, method=outcome.method or method.name))
    except ContradictionError as error:
        outcome = _rejected(kind, part, error)
    clock = time.thread_time if side_by_side > 1 else time.process_time
    certificate = Certificate(
        stop=outcome.stop,
        found=outcome.mapping is not None,
        value=outcome.value,
        bound=outcome.bound if outcome.mapping is not None or not outcome.proven else None,
        proven=outcome.proven,
        method=outcome.method or method.name,
        restrictions=outcome.restrictions,
        seconds=time.perf_counter() - wall,
        cpu_seconds=clock() - processor,
        evaluations=outcome.evaluations,
        seed=search.seed,
        workers=search.used_workers,
    )
    with limited(lambda: None):
        answer = verified(kind, part, outcome.mapping, certificate)
    refuse_own_contradiction(kind, part.problem, answer, most)
    history = recorder.ended(answer.certificate.value, answer.certificate.bound)
    return replace(answer, history=history, started=None if start is None else history[0])


def _searched(
    method: Method[Any, Any], part: AnyPart, effort: Effort, compiling: Callable[[], None]
) -> Outcome[Any]:
    """What the method finds; where its effort ends before it has a mapping, what its ``at_once`` has.

    Against the clock that comes first: then an answer stands, and what asks no clock is not waited for much longer.
    """
    known = method.at_once is None or effort.known(part.problem) is not None
    quick = None
    if not known and effort.deadline is not None:
        quick = _at_once(method, part, effort, effort.stopped() is None)
        if quick is not None and quick.proven:
            return quick
    stop = effort.stopped()
    found = Outcome[Any].unknown(stop or "complete")
    if stop is None:
        try:
            with limited(effort.stopped, compiling, grace=GRACE if quick is None else SHORT_GRACE):
                found = method.search(part.problem, effort)
        except UnfinishedError:
            found = replace(found, stop=effort.stopped() or "time_limit")
    ended = found.stop in ("time_limit", "interrupted")
    if known or found.mapping is not None or found.proven or not ended:
        return found
    quick = quick or _at_once(method, part, effort, False)
    if quick is None or quick.proven:
        return quick or found
    return replace(quick, stop=found.stop, bound=quick.bound if found.bound is None else found.bound)


def _at_once(method: Method[Any, Any], part: AnyPart, effort: Effort, in_time: bool) -> Outcome[Any] | None:
    """What the method has without a search, if it is a mapping or a proof; it may take until the effort ends
    (``in_time``), or a moment."""
    assert method.at_once is not None
    brief = replace(effort, deadline=time.monotonic(), interrupt=threading.Event())
    try:
        with limited(effort.stopped if in_time else brief.stopped):
            quick = method.at_once.search(part.problem, brief)
    except UnfinishedError:
        return None
    named = replace(quick, method=quick.method or method.at_once.name)
    return named if quick.proven or quick.mapping is not None else None


def _rejected(kind: AnyKind, part: AnyPart, error: ContradictionError) -> Outcome[Any]:
    """The one of two outcomes of which the referee rejects the mapping: it contradicts nothing.

    Raises: ContradictionError if there is none.
    """
    for outcome in (error.first, error.second):
        if outcome.mapping is not None and kind.verify(part.problem, outcome.mapping).broken:
            return outcome
    raise error


def effort_of(
    search: Search, side_by_side: int, report: Callable[[Progress], None], start: Start[Any] | None = None
) -> Effort:
    """What one of several searches at once may take. One that goes on draws other numbers than those before it."""
    search.begun.set()
    return Effort(
        deadline=search.deadline,
        workers=max(1, search.used_workers // side_by_side),
        seed=search.seed + (0 if start is None else start.searches),
        interrupt=search.interrupt,
        report=report,
        start=start,
    )
