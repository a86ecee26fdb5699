"""Searching one part: a method's answer, judged by the referee, with its certificate and history."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from mapper.api.contradicting import refuse_own_contradiction
from mapper.api.part.verification import verified
from mapper.api.search import Search
from mapper.kind.kind import AnyKind, AnyPart
from mapper.kind.part import Part
from mapper.models.limit import GRACE, SHORT_GRACE, Standing, UnfinishedError
from mapper.models.plain import limited
from mapper.solver.contradiction import ContradictionError
from mapper.solver.history import Recorder, joined
from mapper.solver.method import Effort, Interrupt, Method, Progress, Start
from mapper.solver.outcome import Outcome
from mapper.store.piece import StoredPieces

SECONDS_OF_SILENCE = 1.0
"""After which a search that has nothing new says again where it stands."""


SECONDS_AFTER_INTERRUPT = 0.8
"""In which parts that have nothing yet still get an answer at once."""


@dataclass
class Pulse:
    """Tells a listener of progress, and where running searches stand that have told nothing for a while."""

    listener: Callable[[str, Progress], None]
    last: dict[str, tuple[float, Progress]] = field(default_factory=dict)

    def heard(self, part: str, progress: Progress) -> None:
        """A search has come further."""
        self.last[part] = time.monotonic(), progress
        self.listener(part, progress)

    def beat(self, running: Iterable[str]) -> None:
        """Time has passed for these parts."""
        for part in running:
            told, progress = self.last.setdefault(part, (time.monotonic(), Progress(None, None, 0)))
            if time.monotonic() - told >= SECONDS_OF_SILENCE:
                self.heard(part, progress)


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
    return searched_part(kind, method, part, search, side_by_side, start, most=most)[0]


def searched_part(
    kind: AnyKind,
    method: Method[Any, Any],
    part: AnyPart,
    search: Search,
    side_by_side: int,
    start: Start[Any] | None = None,
    *,
    most: bool,
    is_ready: bool = True,
) -> tuple[Part, Any | None]:
    """``solve_part``, and the mapping itself, from which another search can go on. ``is_ready``: there is machine code
    of what the method runs."""
    recorder = Recorder()
    if start is not None:
        recorder.begin(start.value, start.bound)

    def report(progress: Progress) -> None:
        progress = progress if start is None else start.heard(progress)
        recorder.add(progress)
        search.listener(part.name, progress)

    effort = effort_of(search, side_by_side, report, start)
    if search.store is not None:
        effort = replace(effort, pieces=StoredPieces(search.store, kind.name))
    wall, processor = time.perf_counter(), time.thread_time() if side_by_side > 1 else time.process_time()
    try:
        outcome = _searched(method, part, effort, search.compiling, is_ready)
        if start is not None:
            outcome = start.combined(replace(outcome, method=outcome.method or method.name))
    except ContradictionError as error:
        outcome = _rejected(kind, part, error)
    clock = time.thread_time if side_by_side > 1 else time.process_time
    # A search without a limit that gave up, as at so much work, was not out of time.
    gave_up = outcome.stop == "time_limit" and effort.deadline is None
    certificate = replace(
        outcome.certificate(method.name),
        stop="heuristic" if gave_up else outcome.stop,
        bound=outcome.bound if outcome.mapping is not None or not outcome.proven else None,
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
    return replace(answer, history=history, started=None if start is None else history[0]), outcome.mapping


def _searched(
    method: Method[Any, Any],
    part: AnyPart,
    effort: Effort,
    compiling: Callable[[Standing], None],
    is_ready: bool,
) -> Outcome[Any]:
    """What the method finds; where its effort ends before it has a mapping, what its ``at_once`` has.

    Against the clock, and where machine code is to be made first, that comes first: then an answer stands, and what
    asks no clock is not waited for much longer.
    """
    known = method.at_once is None or effort.known(part.problem) is not None
    quick = None
    if not known and (effort.deadline is not None or not is_ready) and _may_begin(effort.interrupt):
        quick = _at_once(method, part, effort, compiling, effort.stopped() is None)
        if quick is not None and quick.proven:
            return quick
        if quick is not None:
            effort.report(Progress(quick.value, quick.bound, quick.evaluations or 0))
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
    if quick is None and _may_begin(effort.interrupt):
        quick = _at_once(method, part, effort, compiling, False)
    if quick is None or quick.proven:
        return quick or found
    return replace(quick, stop=found.stop, bound=quick.bound if found.bound is None else found.bound)


def _may_begin(interrupt: threading.Event) -> bool:
    """Whether an answer at once may still be begun: soon after an interrupt it may, but not for part after part."""
    since = interrupt.since if isinstance(interrupt, Interrupt) else None
    return since is None or time.monotonic() - since < SECONDS_AFTER_INTERRUPT


def _at_once(
    method: Method[Any, Any],
    part: AnyPart,
    effort: Effort,
    compiling: Callable[[Standing], None],
    in_time: bool,
) -> Outcome[Any] | None:
    """What the method has without a search, if it is a mapping or a proof; it may take until the effort ends
    (``in_time``), or a moment."""
    assert method.at_once is not None
    brief = replace(effort, deadline=time.monotonic(), interrupt=threading.Event())
    try:
        with limited(effort.stopped if in_time else brief.stopped, compiling):
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


def continued(before: Part | None, after: Part) -> Part:
    """An answer as that of one search with the one before it."""
    if before is None:
        return after
    first, last = before.certificate, after.certificate
    counted = [one.evaluations for one in (first, last) if one.evaluations is not None]
    certificate = replace(
        last,
        seconds=first.seconds + last.seconds,
        cpu_seconds=first.cpu_seconds + last.cpu_seconds,
        evaluations=sum(counted) if counted else None,
    )
    history = joined(before.history, after.history, first.seconds)
    return replace(
        after,
        certificate=certificate,
        history=history,
        started=before.started,
        before=replace(before, before=None),
    )
