"""Minimising the II exactly: intervals are decided one by one, from MII upwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from math import ceil
from typing import Literal

from mapper.formulations.modulo_schedule.infeasible import why_infeasible
from mapper.formulations.modulo_schedule.parity import least_bound
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.models.modulo_schedule.bound import mii
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.solver.certificate import Stop
from mapper.solver.contradiction import ContradictionError
from mapper.solver.method import Effort, Progress
from mapper.solver.modulo_schedule.heuristic.compaction import compacted
from mapper.solver.outcome import Outcome


@dataclass(frozen=True)
class Attempt:
    """What is known about one II: a schedule, a proof that there is none, or neither and why (``left_out``:
    what the attempt did not do, if not time ended it)."""

    schedule: ModuloSchedule | None
    answer: Literal["found", "infeasible", "undecided"]
    stop: Stop = "complete"
    left_out: str | None = None


def most_interval(problem: ModuloProblem) -> int:
    """The last II that is tried: all operations one after another, each handed on by a move."""
    machine, graph = problem.machine, problem.kernel.graph
    steps = sum(machine.latency(operation.opcode) + 1 for operation in graph.operations)
    steps += sum(edge.latency or 1 for edge in graph.edges)
    return mii(graph, machine).value + steps


def least_interval(
    problem: ModuloProblem,
    effort: Effort,
    quick: Callable[[int, Effort], Attempt],
    decide: Callable[[int, Effort], Attempt],
    known: ModuloSchedule | None = None,
    better: Callable[[int, Effort], Attempt] | None = None,
) -> Outcome[ModuloSchedule]:
    """The schedule of the least II that is found; the bound is the least II that is neither below MII, or ruled
    out by parity, nor proven to have no schedule. Where no II can have one, that is proven first.

    First each II upwards gets a ``quick`` try until one has a schedule. Of several that are open below it, each but
    the least then gets a try ``better``, downwards until one has none, since the least may take all the time. Then
    those that are open are decided upwards, so that an answer is there early and is proven, or bettered, as time
    allows; ``known`` is a schedule
    that is there already, up to whose II alone is tried. What the effort says to be known counts as well: its
    schedule, and its bound, below which no II is tried again. With ``fixed_ii`` only that II is tried, and having no
    schedule there is having none at all. An answer ``infeasible``, be it of ``quick``, is taken for a proof.

    Raises: InputError if no PE can execute an operation, or a cycle of the graph has distance 0; ContradictionError if
    a schedule is known that the bound or an argument excludes.
    """
    start = effort.known(problem)
    if start is not None and (known is None or start.mapping.ii < known.ii):
        known = start.mapping
    least = max(least_bound(problem), 0 if start is None else ceil(start.bound or 0))
    fixed = problem.fixed_ii
    if (fixed is not None and fixed < least) or why_infeasible(problem) is not None:
        return _agreed(known, Outcome.infeasible(evaluations=0))
    first, last = (least, most_interval(problem)) if fixed is None else (fixed, fixed)
    found = known
    last = last if known is None else known.ii
    if last < first:
        _agreed(known, Outcome.unknown("complete", first))
    # In ascending order, and all of them up to where trying ended; of those from there on nothing is known.
    open_intervals: list[int] = []
    untried = first
    evaluations = 0
    while untried <= last and not effort.stopped():
        if known is not None and untried == known.ii:
            break
        effort.report(
            Progress(None if known is None else known.ii, first, evaluations, f"trying II {untried}")
        )
        tried = quick(untried, effort)
        evaluations += 1
        if tried.answer != "infeasible":
            open_intervals.append(untried)
        untried += 1
        if tried.schedule is not None:
            found = compacted(problem, tried.schedule)
            break
        if tried.left_out is not None and known is None:
            break
    if found is not None and better is not None:
        found, tries = _bettered(problem, effort, better, found, open_intervals)
        evaluations += tries
    for ii in chain(open_intervals, range(untried, last + 1)):
        effort.report(Progress(None if found is None else found.ii, ii, evaluations, f"deciding II {ii}"))
        if found is not None and ii == found.ii:
            break
        tried = decide(ii, effort)
        evaluations += 1
        if tried.schedule is not None:
            found = compacted(problem, tried.schedule)
            break
        if tried.answer == "undecided":
            value = None if found is None else found.ii
            left_out = () if tried.left_out is None else (tried.left_out,)
            # A search that ends undecided by itself has given up: that is not being complete.
            stop: Stop = "heuristic" if tried.stop == "complete" else tried.stop
            return Outcome.bounded(found, value, ii, stop, restrictions=left_out, evaluations=evaluations)
    # Every II below that of what was found, or up to the last, has been proven to have no schedule.
    if found is not None:
        effort.report(Progress(found.ii, found.ii, evaluations))
        return Outcome.optimal(found, found.ii, evaluations=evaluations)
    if fixed is not None:
        return Outcome.infeasible(evaluations=evaluations)
    beyond = f"initiation intervals above {last} are not tried"
    return Outcome.refused(beyond, last + 1, evaluations=evaluations)


def _bettered(
    problem: ModuloProblem,
    effort: Effort,
    better: Callable[[int, Effort], Attempt],
    found: ModuloSchedule,
    below: list[int],
) -> tuple[ModuloSchedule, int]:
    """A schedule for the least II that ``better`` finds one for, downwards from that of ``found`` over all but the
    least of ``below``; and how many tries that took."""
    tries = 0
    for ii in reversed(below[1:]):
        if found.ii != ii + 1 or effort.stopped():
            break
        effort.report(Progress(found.ii, below[0], tries, f"trying II {ii} longer"))
        tried = better(ii, effort)
        tries += 1
        if tried.schedule is not None:
            found = compacted(problem, tried.schedule)
    return found, tries


def _agreed(known: ModuloSchedule | None, claim: Outcome[ModuloSchedule]) -> Outcome[ModuloSchedule]:
    """``claim``, which excludes every schedule that is known.

    Raises: ContradictionError if there is one.
    """
    if known is None:
        return claim
    reason = f"a schedule of II {known.ii} is known, and it is proven that " + (
        "there is none" if claim.bound is None else f"none has an II below {claim.bound}"
    )
    raise ContradictionError(Outcome.bounded(known, known.ii, None, "heuristic"), claim, reason)
