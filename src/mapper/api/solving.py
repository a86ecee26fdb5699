"""Running a method over the parts of a posed problem."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from mapper.api.contradicting import documented
from mapper.api.part.search import Pulse, continued, searched_part
from mapper.api.part.time_share import MOST_AGAIN, cut_off, shares_of, weights_of
from mapper.api.problem import PosedProblem
from mapper.api.search import Search
from mapper.api.solution import Solution, assemble, repeated, unanswered
from mapper.formulations.objective import Objective
from mapper.kind.kind import AnyPart
from mapper.kind.part import Part
from mapper.models.plain import on_disk
from mapper.solver.contradiction import ContradictionError
from mapper.solver.method import Method, Start
from mapper.store.recall import Kept, Recall
from mapper.workloads.document import InputError
from mapper.workloads.text.nearest import meant

__all__ = ["Search", "method_named", "run"]


def method_named(posed: PosedProblem, name: str) -> Method[Any, Any]:
    """A method for the problem.

    Raises: InputError naming those it has.
    """
    methods = posed.kind.methods_of(posed.read.value)
    if name not in methods:
        raise InputError(
            "--method", name, f"{meant(name, methods)}the kind {posed.kind.name} has {', '.join(methods)}"
        )
    return methods[name]


def run(
    posed: PosedProblem,
    search: Search,
    finished: Callable[[Solution], None] | None = None,
    kept: Mapping[str, Kept] | None = None,
) -> Solution:
    """Solve every part once; ``finished`` hears of the solution so far whenever a part is done. ``kept``: what is known
    of parts, by their names, besides what the store holds. Methods that come ``before`` the one that is asked for go
    over all parts that nothing is known of; each goes on from what those before it have found. Parts that were cut off
    while others left time go on with what is left.

    Raises: InputError if the method does not exist or refuses the problem.
    """
    if posed.shares_limit:
        from mapper.api.part.shared_limit import solve_within

        return solve_within(posed, search, finished)
    method = method_named(posed, search.method)
    first_of: dict[Any, AnyPart] = {}
    for part in posed.parts:
        first_of.setdefault(part.key, part)
    places = {key: place for place, key in enumerate(first_of)}
    recall = None if search.store is None else Recall(search.store, posed, method.name, search.complain)
    stored = recall.known(tuple(first_of.values())) if recall else [None] * len(first_of)
    known = {
        key: _better(one, (kept or {}).get(part.name), posed.objective)
        for one, (key, part) in zip(stored, first_of.items(), strict=True)
    }
    answers = {key: one.part for key, one in known.items() if one is not None and one.proven}
    unknown = {key for key, one in known.items() if one is None}
    if len(unknown) < len(first_of):
        search.begun.set()

    def heard(fresh: Mapping[Any, _Searched], last: bool = False) -> None:
        made = {key: continued(answers.get(key), part) for key, (part, _) in fresh.items()}
        if recall is not None:
            # Kept before anybody hears of it: what was reported survives a kill.
            recall.keep({places[key]: one for key, one in made.items() if last or one.certificate.proven})
        answers.update(made)
        if finished is not None:
            finished(_solution(posed, method, search, first_of, answers))

    if answers:
        heard({})
    for stage in _stages(method) if unknown else (method,):
        last = stage is method
        if not last and search.stopped() is not None and answers.keys() >= unknown:
            continue
        chosen = [key for key in first_of if last or key in unknown]
        waiting = {
            key: first_of[key] for key in chosen if key not in answers or not answers[key].certificate.proven
        }
        own = search if last or stage is method.at_once else replace(search, in_turn=True)
        found = _searched_once(posed, stage, own, waiting, known, partial(heard, last=last))
        known |= {key: _further(posed, first_of[key], *one) or known[key] for key, one in found.items()}
    for _ in range(MOST_AGAIN):
        cut = cut_off(answers, search.stopped(), search.seconds_left, search.time_limit)
        if not cut:
            break
        again = {key: first_of[key] for key in cut}
        found = _searched_once(posed, method, search, again, known, partial(heard, last=True))
        known |= {key: _further(posed, first_of[key], *one) or known[key] for key, one in found.items()}
    return _solution(posed, method, search, first_of, answers)


def _stages(method: Method[Any, Any]) -> tuple[Method[Any, Any], ...]:
    """The methods that go over all parts, one after another: where machine code is to be made first, what the method
    has at once, so that no part waits for another's."""
    stages = (*method.before, method)
    if method.at_once is None or len(stages) == 1 or on_disk(method.prepare):
        return stages
    return (method.at_once, *stages)


_Searched = tuple[Part, Any | None]
"""An answer as documents show it, and its mapping."""


def _searched_once(
    posed: PosedProblem,
    method: Method[Any, Any],
    search: Search,
    parts: Mapping[Any, AnyPart],
    known: Mapping[Any, Kept | None],
    heard: Callable[[Mapping[Any, _Searched]], None],
) -> dict[Any, _Searched]:
    """Search each of the ``parts`` by the method, from what is ``known`` of it; ``heard`` is told of answers as they
    come. Those with most to gain go first: what they leave of their time goes to the others."""
    weights = weights_of([known[key] for key in parts])
    ordered = sorted(zip(parts.items(), weights, strict=True), key=lambda one: -one[1])
    side_by_side = max(1, min(search.used_workers, len(parts)))
    shares = [1.0] * len(ordered)
    if not search.in_turn:
        shares = shares_of([weight for _, weight in ordered], side_by_side)
    is_ready = bool(parts) and on_disk(method.prepare)
    pulse = Pulse(search.listener)
    search = replace(search, listener=pulse.heard)
    answered: dict[Any, _Searched] = {}
    with _executor(search, side_by_side) as executor:
        pending: dict[Future[_Searched], Any] = {
            executor.submit(
                searched_part,
                posed.kind,
                method,
                part,
                search.for_share(share),
                side_by_side,
                _start(known[key], part, posed.objective),
                most=posed.objective.most,
                is_ready=is_ready,
            ): key
            for ((key, part), _), share in zip(ordered, shares, strict=True)
        }
        while pending:
            done, _ = wait(pending, timeout=0.5, return_when=FIRST_COMPLETED)
            fresh = {pending[future]: future.result() for future in done if future.exception() is None}
            answered |= fresh
            if fresh:
                heard(fresh)
            for future in done:
                try:
                    future.result()  # what one raises loses no other's answer
                except ContradictionError as error:
                    raise documented(posed, parts[pending[future]], error, method.name) from error
                del pending[future]
            pulse.beat([parts[key].name for future, key in pending.items() if future.running()])
    return answered


def _further(posed: PosedProblem, part: AnyPart, answer: Part, mapping: Any | None) -> Kept | None:
    """What the next search of a part goes on from: the same search, which draws the same numbers."""
    claim = answer.certificate
    if mapping is None or not claim.verified or claim.value is None:
        return None
    return Kept(answer, mapping, 0, posed.kind.slack(part.problem, claim.value))


def _better(stored: Kept | None, given: Kept | None, objective: Objective) -> Kept | None:
    """The better of what a store holds and what the caller knows; the latter where neither is."""
    if stored is None or given is None or stored.proven:
        return stored or given
    start = stored.start(None, objective)
    value = given.part.certificate.value
    return stored if start is not None and value is not None and start.beats(start.value, value) else given


def _start(kept: Kept | None, part: AnyPart, objective: Objective) -> Start[Any] | None:
    return None if kept is None else kept.start(part.problem, objective)


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
