"""A lower bound by Lagrangian decomposition [Komodakis2007]: an instance as a sum of parts that are solved exactly.

Every part has all the vertices, and the edges of a subgraph that is eliminated with small tables. Costs of what
several parts hold are split among them, so that the least costs of the parts add up to a bound. Where the parts'
choices of a vertex differ, costs of its choices move from part to part (a subgradient step), which changes no sum of
all parts. Costs are whole numbers of a fraction of a unit throughout: any split of them gives a bound that holds, so
nothing depends on how the steps were rounded. What parts choose leads to better assignments.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mapper.solver.certificate import Stop
from mapper.solver.method import Effort, Progress
from mapper.solver.pbqp.exact.bound import bounded, incident_edges
from mapper.solver.pbqp.exact.spanning import spanning_subgraphs, subgraph
from mapper.solver.pbqp.heuristic.descending import descend
from mapper.solver.pbqp.heuristic.fusing import fused
from mapper.solver.pbqp.reduction.elimination import Eliminated, eliminated
from mapper.solver.pbqp.reduction.elimination_plan import Array, Plan
from mapper.workloads.pbqp.instance import LARGEST_TOTAL, Cost, PbqpInstance

PASSES = 200
WORK_OF_MOVING = 2e8
"""Costs that are moved before they are split, about."""
ENTRIES = 3e7
"""Of all tables of one part together, about: an elimination of some tenths of a second."""
LARGEST_UNIT = 1 << 10
"""Into so many the unit of costs is divided, if that leaves them room."""
MOST_ROUNDS, PATIENCE, LEAST_STEP = 600, 4, 1 / 64
SLOWER, KEPT = 0.7, 0.6
"""The step after ``PATIENCE`` rounds without a better bound, and what stays of the last step in the next, as shares."""
UNKNOWN_GAP = 0.05
"""How far above the bound the least cost is taken to be where no assignment is known."""
FUSED_EVERY = 10
"""Rounds whose choices are put together."""
NO_REST = np.empty((0, 2), np.int64)


@dataclass(frozen=True)
class Part:
    """The edges ``inside`` [E] that it holds, how it is eliminated, and in fractions of the unit what its choices cost
    (``own``) and what those edges cost (``paid``)."""

    inside: Array
    made: Plan
    own: Array
    paid: Array


@dataclass(frozen=True)
class Decomposed:
    """The best ``choice`` (None: none is known), a ``bound`` (infinite: there is no assignment), why it ended, the
    rounds done, and the ``parts`` of the bound, whose costs add up to at most ``unit`` times those of ``moved``."""

    choice: Array | None
    bound: Cost
    stop: Stop
    rounds: int
    moved: PbqpInstance
    constant: Cost
    unit: int
    parts: tuple[Part, ...]


@dataclass
class _State:
    """``own`` [K, choices]: what each part's choices cost now; ``last`` [K, choices]: the last step; ``step``: its
    length as a share; ``best`` in fractions of the unit, with the costs ``best_own`` that gave it."""

    own: Array
    last: Array
    best_own: Array
    best: int = -1
    step: float = 1.0
    waited: int = 0


def decomposed(
    given: PbqpInstance,
    known: Array | None,
    effort: Effort,
    report: Callable[[Progress], None],
    target: Cost | None = None,
) -> Decomposed:
    """A bound of ``given``, integers without parallel edges, and an assignment not dearer than ``known``. It ends when
    they meet, the bound reaches ``target``, or steps are too short to matter."""
    passes = int(min(PASSES, max(4, WORK_OF_MOVING // (len(given.edge_cost) + 1))))
    found = bounded(given, passes)
    moved, constant = found.moved, found.bound
    value = given.infinity if known is None else given.value(known)
    if constant == given.infinity:
        return Decomposed(None, constant, "complete", 0, moved, 0, 1, ())
    parts, unit = _split(moved, effort)
    if not parts:
        return Decomposed(known, constant, effort.stopped() or "heuristic", 0, moved, constant, unit, ())
    state = _State(
        np.array([part.own for part in parts]),
        np.zeros((len(parts), len(moved.vertex_cost))),
        np.array([part.own for part in parts]),
    )
    best, bound, rounds = known, constant, 0
    least: Cost = given.infinity if value is None else value
    seen: list[Array] = []
    stop: Stop = "heuristic"
    while rounds < MOST_ROUNDS and state.step >= LEAST_STEP:
        stop = effort.stopped() or "heuristic"
        if stop != "heuristic":
            break
        solved = _solved(moved, parts, state.own, effort)
        if not isinstance(solved, tuple):
            stop = solved
            break
        total, choices = solved
        rounds += 1
        if total >= given.infinity:
            return Decomposed(None, given.infinity, "complete", rounds, moved, 0, 1, ())
        _judge(state, total)
        bound = max(bound, constant - (-state.best // unit))
        near = _descended(given, choices)
        seen += near
        for choice in near:
            cost = given.value(choice)
            if cost is not None and cost < least:
                best, least = choice, cost
        if rounds % FUSED_EVERY == 0:
            better = fused(given, seen if best is None else [*seen, best])
            cost = None if better is None else given.value(better)
            if cost is not None and cost < least:
                best, least = better, cost
            seen = []
        report(Progress(None if best is None else least, min(bound, least), rounds))
        if bound >= (least if target is None else min(least, target)):
            stop = "complete"
            break
        gap = least - constant if best is not None else UNKNOWN_GAP * max(bound - constant, constant, 1)
        if not _move(state, moved, choices, float(gap) * unit - total):
            break
    kept = tuple(
        Part(part.inside, part.made, own, part.paid) for part, own in zip(parts, state.best_own, strict=True)
    )
    return Decomposed(best, bound, stop, rounds, moved, constant, unit, kept)


def _split(moved: PbqpInstance, effort: Effort) -> tuple[tuple[Part, ...], int]:
    """The parts with equal shares of all costs, none of them below zero, and the unit; none where costs are so large
    that sums of the parts might leave 64 bits, or where effort ends."""
    total = 0
    for costs, offset in ((moved.vertex_cost, moved.vertex_offset), (moved.edge_cost, moved.edge_offset)):
        finite = np.where(costs == moved.infinity, 0, costs)
        total += sum(np.maximum.reduceat(finite, offset[:-1]).tolist())
    if 4 * total > LARGEST_TOTAL:
        return (), 1
    unit = LARGEST_UNIT
    while unit > 1 and 4 * total * unit > LARGEST_TOTAL:
        unit //= 2
    pairs = int((moved.choices[moved.edge_end[:, 0]] * moved.choices[moved.edge_end[:, 1]]).max())
    made = spanning_subgraphs(moved, max(ENTRIES / moved.vertices, pairs), effort)
    if not isinstance(made, list):
        return (), 1
    held = np.array([inside for inside, _ in made]).sum(axis=0, dtype=np.int64)
    sizes, before, parts = np.diff(moved.edge_offset), np.zeros(moved.edges, np.int64), []
    for place, (inside, steps) in enumerate(made):
        rows = np.repeat(inside, sizes)
        own = _share(moved.vertex_cost, unit, len(made), place, moved.infinity)
        several, nth = np.repeat(held[inside], sizes[inside]), np.repeat(before[inside], sizes[inside])
        parts.append(
            Part(inside, steps, own, _share(moved.edge_cost[rows], unit, several, nth, moved.infinity))
        )
        before += inside
    return tuple(parts), unit


def _share(costs: Array, unit: int, several: int | Array, nth: int | Array, infinite: Cost) -> Array:
    """The ``nth`` of ``several`` shares of ``unit`` times finite costs; all of them together are no less, no more."""
    fractions: Array = np.where(costs == infinite, 0, costs) * unit
    share: Array = np.array((fractions * (nth + 1)) // several - (fractions * nth) // several)
    share[costs == infinite] = infinite
    return share


def _solved(
    moved: PbqpInstance, parts: tuple[Part, ...], own: Array, effort: Effort
) -> tuple[int, list[Array]] | Stop:
    """The sum of the least costs of the parts (infinite if one has none) and their choices, or why effort ended."""
    total, choices = 0, []
    for part, costs in zip(parts, own, strict=True):
        found = eliminated(subgraph(moved, part.inside, costs.copy(), part.paid), part.made, NO_REST, effort)
        if not isinstance(found, Eliminated):
            return found
        if found.infeasible:
            return int(moved.infinity), []
        total += int(found.constant)
        choices.append(found.lift(np.empty(0, np.int64)))
    return total, choices


def _judge(state: _State, total: int) -> None:
    """Keep what gave the best bound; steps become shorter when none was better for some rounds."""
    if total > state.best:
        state.best, state.best_own, state.waited = total, state.own.copy(), 0
        return
    state.waited += 1
    if state.waited == PATIENCE:
        state.step, state.waited = SLOWER * state.step, 0


def _descended(given: PbqpInstance, choices: list[Array]) -> list[Array]:
    """The parts' assignments after a descent."""
    start, around = incident_edges(given.vertices, given.edge_end)
    near = [choice.copy() for choice in choices]
    for choice in near:
        descend(given, start, around, choice)
    return near


def _move(state: _State, moved: PbqpInstance, choices: list[Array], gap: float) -> bool:
    """A step of Polyak's length, some of the last one added, from what parts choose to what others do; whether there is
    one, and costs stay small enough to be added."""
    chosen = np.zeros(state.last.shape)
    for part, choice in enumerate(choices):
        chosen[part, moved.vertex_offset[:-1] + choice] = 1
    apart = chosen - chosen.mean(axis=0)
    norm = float(np.square(apart).sum())
    if norm == 0 or gap <= 0:
        return False
    state.last = KEPT * state.last + 0.5 * state.step * gap / norm * apart
    whole = np.rint(state.last).astype(np.int64)
    # What the others gain the last one loses.
    whole[-1] = -whole[:-1].sum(axis=0)
    state.own = state.own + whole
    finite = np.abs(state.own[:, moved.vertex_cost < moved.infinity])
    return bool(finite.sum(dtype=np.float64) < LARGEST_TOTAL / 4)
