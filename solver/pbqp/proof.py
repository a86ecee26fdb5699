"""Proofs of PBQP instances: the order in which vertices are eliminated, and where that takes too much the
parts of a decomposition or a tree of bounds.

`checkers/check_pbqp.py` eliminates in the same order, exactly. Costs in floating point are the fractions that the
doubles are; as sums are rounded only once, several assignments may then have the same cost, and the proof names the
one that is least in truth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.models.pbqp.mapping import PbqpAssignment
from mapper.solver.method import Effort
from mapper.solver.pbqp.proof_part import bounding_parts
from mapper.solver.pbqp.proof_tree import NoTreeError, bound_tree
from mapper.solver.pbqp.reduction.elimination import Eliminated, reduced
from mapper.solver.pbqp.reduction.elimination_order import small_width_order
from mapper.solver.pbqp.reduction.elimination_plan import Array, plan, size
from mapper.solver.pbqp.reduction.series_parallel import reduce_graph
from mapper.solver.proof import Claim, NotCertifiedError, Proof, number
from mapper.workloads.pbqp.instance import Cost, PbqpInstance

OBJECTIVE = "least sum of costs"
LARGEST_TABLE = 1 << 20
"""Entries of a table that a checker in plain Python still holds."""
LEAST_SUMS, SUMS_PER_COST, MOST_SUMS = 1 << 25, 1 << 10, 4e9
"""Additions that it still does, some 50 ns each: any instance may take the least, larger ones more."""
MOST_COSTS = 3e7
"""Costs that fit into the 256 MB of a proof's file and the memory of its checker."""
MOST_EXACT_SUMS = 3e6
"""Additions of fractions that are done here to find the assignment of the exact least cost."""
FEW_EDGES, FEW_NODES = 200, 60
"""Of a core for which a tree of bounds is tried before parts, and of that tree."""


def prove(problem: PbqpProblem, claim: Claim[PbqpAssignment], effort: Effort) -> Proof:
    """The proof of a claim about ``problem``; pinned vertices have infinite costs in it.

    Raises: NotCertifiedError with the reason if there is none.
    """
    given = problem.pinned
    if len(given.edge_cost) + len(given.vertex_cost) > MOST_COSTS:
        raise NotCertifiedError(f"more than {MOST_COSTS:.0e} costs do not fit into a proof")
    if claim.status != "infeasible" and (claim.mapping is None or claim.value is None or claim.bound is None):
        raise NotCertifiedError("the claim has no assignment or no bound")
    order, sums = elimination_order(given)
    if order is None and not given.exact:
        raise NotCertifiedError("costs in floating point on a graph that no elimination takes apart")
    choices = None if claim.mapping is None else list(claim.mapping.choice)
    if claim.status == "optimal" and not given.exact:
        if sums > MOST_EXACT_SUMS:
            raise NotCertifiedError("costs in floating point, and too many to add up as fractions")
        assert order is not None
        choices = _exact_least(given, order)
    value = None if choices is None else exact_value(given, choices)
    if claim.status == "optimal" and (value is None or _rounded(value, given) != claim.value):
        raise NotCertifiedError(f"the least cost is {value}, not {claim.value}")
    bound = value
    if claim.status == "bounded":
        assert claim.bound is not None
        # A bound in floating point is rounded: the double before it holds in any case.
        bound = Fraction(claim.bound) if given.exact else Fraction(math.nextafter(claim.bound, -math.inf))
    if order is not None:
        evidence: dict[str, Any] = {"rule": "elimination", "choices": choices, "order": order, "tree": [[]]}
    else:
        least = None if bound is None else math.ceil(bound)
        evidence = {"choices": choices, **_beyond_elimination(given, least, choices, effort)}
    return Proof(restated(problem), claim.status, value, bound, evidence)


def _rounded(value: Fraction, given: PbqpInstance) -> Cost:
    return int(value) if given.exact else float(value)


def restated(problem: PbqpProblem) -> dict[str, Any]:
    """The instance as the checker reads it: costs per vertex, and per edge its ends and its matrix row by row."""
    given = problem.pinned
    own, paid = (_written(costs, given) for costs in (given.vertex_cost, given.edge_cost))
    starts, places = given.vertex_offset.tolist(), given.edge_offset.tolist()
    return {
        "objective": OBJECTIVE,
        "vertices": [own[a:b] for a, b in pairwise(starts)],
        "edges": [
            [u, v, paid[a:b]]
            for (u, v), (a, b) in zip(given.edge_end.tolist(), pairwise(places), strict=True)
        ],
    }


def _written(costs: Array, given: PbqpInstance) -> list[Any]:
    if given.exact and not np.any(costs == given.infinity):
        found: list[Any] = costs.tolist()
        return found
    whole = (lambda cost: cost) if given.exact else (lambda cost: number(Fraction(cost)))
    return ["inf" if cost == given.infinity else whole(cost) for cost in costs.tolist()]


def exact_value(given: PbqpInstance, choices: Sequence[int]) -> Fraction:
    """The exact cost of finite choices."""
    chosen = np.array(choices, np.int64)
    tail, head = given.edge_end[:, 0], given.edge_end[:, 1]
    own = given.vertex_cost[given.vertex_offset[:-1] + chosen].tolist()
    paid = given.edge_cost[
        given.edge_offset[:-1] + chosen[tail] * given.choices[head] + chosen[head]
    ].tolist()
    if given.exact:
        return Fraction(sum(own) + sum(paid))
    return sum(map(Fraction, own + paid), Fraction(0))


def elimination_order(given: PbqpInstance) -> tuple[list[int] | None, float]:
    """An order that takes all vertices away within the checker's means, and the additions; None if there is none."""
    order, front, _ = reduce_graph(given.vertices, given.edge_end)
    if len(order) == given.vertices:
        start = np.zeros(len(order) + 1, np.int64)
        np.cumsum(np.count_nonzero(front >= 0, axis=1), out=start[1:])
        fronts = front[front >= 0].astype(np.int64)
    else:
        order, start, fronts = small_width_order(
            given.vertices, given.edge_end, given.choices, float(LARGEST_TABLE)
        )
        if len(order) < given.vertices:
            return None, math.inf
    needed = size(given, plan(given, order, start, fronts))
    # As the checker counts: of every row of a table, in three joins at the most or so, the entries and some more.
    sums = float((3 * (needed.work + 8 * needed.table)).sum())
    within = sums <= min(MOST_SUMS, LEAST_SUMS + SUMS_PER_COST * len(given.edge_cost))
    return (order.tolist(), sums) if within else (None, sums)


def _beyond_elimination(
    given: PbqpInstance, least: int | None, choices: list[int] | None, effort: Effort
) -> dict[str, Any]:
    """The order of what reductions take away, and parts or a tree over the rest; ``least`` None: infeasible."""
    smaller = reduced(given, Effort())
    assert isinstance(smaller, Eliminated)
    order = reduce_graph(given.vertices, given.edge_end)[0].tolist()
    if smaller.infeasible:
        return {"rule": "elimination", "order": order, "tree": [[]]}
    core = smaller.core
    assert core is not None
    names = smaller.stays.tolist()
    below = None if least is None else least - int(smaller.constant)
    if core.edges <= FEW_EDGES:
        # A few nodes are shorter than parts.
        with suppress(NoTreeError):
            return {"rule": "tree", "order": order, "tree": bound_tree(core, names, below, effort, FEW_NODES)}
    if below is not None and choices is not None:
        parts = bounding_parts(core, names, below, np.array(choices)[smaller.stays], effort)
        if parts is not None:
            return {"rule": "parts", "order": order, "parts": parts}
    try:
        return {"rule": "tree", "order": order, "tree": bound_tree(core, names, below, effort)}
    except NoTreeError as error:
        raise NotCertifiedError(str(error)) from None


def _exact_least(given: PbqpInstance, order: list[int]) -> list[int]:
    """The choices of the exact least cost of an instance in floating point, eliminated as the checker does it."""
    finite = [
        cost for cost in (*given.vertex_cost.tolist(), *given.edge_cost.tolist()) if math.isfinite(cost)
    ]
    unit = max((Fraction(cost).denominator for cost in finite), default=1)
    infinite = 4 * sum(abs(int(Fraction(cost) * unit)) for cost in finite) + 4

    def table(costs: Array) -> Any:
        whole = [int(Fraction(cost) * unit) if math.isfinite(cost) else infinite for cost in costs.flat]
        return np.array(whole, object).reshape(costs.shape)

    held: list[tuple[tuple[int, ...], Any]] = [((v,), table(given.costs(v))) for v in range(given.vertices)]
    for edge in range(given.edges):
        u, v = given.edge_end[edge].tolist()
        held.append(((u, v), table(given.matrix(edge))))
    at: dict[int, list[tuple[tuple[int, ...], Any]]] = {v: [] for v in order}
    place = {v: number for number, v in enumerate(order)}
    for scope, costs in held:
        at[min(scope, key=place.__getitem__)].append((scope, costs))
    least: list[tuple[int, tuple[int, ...], Any]] = []
    for v in order:
        union = (v, *sorted({u for scope, _ in at[v] for u in scope} - {v}))
        total: Any = np.zeros([given.choices_of(u) for u in union], object)
        for scope, costs in at.pop(v):
            axes = sorted(range(len(scope)), key=lambda axis, scope=scope: union.index(scope[axis]))  # type: ignore[misc]
            shape = [given.choices_of(u) if u in scope else 1 for u in union]
            total = total + costs.transpose(axes).reshape(shape)
        least.append((v, union[1:], total))
        if len(union) > 1:
            at[min(union[1:], key=place.__getitem__)].append((union[1:], total.min(axis=0)))
    choice: dict[int, int] = {}
    for v, others, total in reversed(least):
        costs = total[(slice(None), *(choice[u] for u in others))].tolist()
        choice[v] = costs.index(min(costs))
    return [choice[v] for v in range(given.vertices)]
