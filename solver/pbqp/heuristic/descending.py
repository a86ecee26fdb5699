"""Descent: every vertex takes its best choice, given its neighbours' choices, until none changes.

With integers each change lowers the sum, so the descent ends, though it may take long. In floating point two vertices
may round the same costs in different orders and chase each other for ever, so the number of rounds is limited.
"""

from __future__ import annotations

from typing import Any

from mapper.models.compiled import compiled
from mapper.solver.pbqp.reduction.elimination_plan import Array
from mapper.workloads.pbqp.instance import PbqpInstance

LEAST_ROUNDS = 64
WORK = 1e6
"""Costs that further rounds look up together, about."""


def descend(given: PbqpInstance, start: Array, around: Array, choice: Array) -> None:
    """Improve ``choice`` in place; ``start`` and ``around`` are the `incident_edges`. Fewer infinite costs come before
    lower finite ones."""
    looked_up = float(len(given.vertex_cost)) + float(given.choices[given.edge_end].sum())
    rounds = LEAST_ROUNDS + int(WORK / looked_up)
    _down(
        given.vertex_offset, given.vertex_cost, given.edge_end, given.edge_offset, given.edge_cost, start, around,
        choice, given.infinity, rounds,
    )  # fmt: skip


def _descend_choices(
    vertex_offset: Array, vertex_cost: Array, ends: Array, edge_offset: Array, edge_cost: Array, start: Array,
    around: Array, choice: Array, infinite: Any, rounds: int,
) -> None:  # fmt: skip
    for _ in range(rounds):
        changed = False
        for at in range(len(choice)):
            low, mine = vertex_offset[at], vertex_offset[at + 1] - vertex_offset[at]
            best, best_closed, best_cost = -1, 0, vertex_cost[low]
            for turn in range(mine + 1):
                # The present choice comes first: others must be better, so that this ends.
                i = choice[at] if turn == 0 else turn - 1
                closed, cost = 0, vertex_cost.dtype.type(0)
                if vertex_cost[low + i] >= infinite:
                    closed += 1
                else:
                    cost += vertex_cost[low + i]
                for place in range(start[at], start[at + 1]):
                    edge = around[place]
                    if ends[edge, 0] == at:
                        other = ends[edge, 1]
                        width = vertex_offset[other + 1] - vertex_offset[other]
                        paid = edge_cost[edge_offset[edge] + i * width + choice[other]]
                    else:
                        paid = edge_cost[edge_offset[edge] + choice[ends[edge, 0]] * mine + i]
                    if paid >= infinite:
                        closed += 1
                    else:
                        cost += paid
                if best == -1 or closed < best_closed or (closed == best_closed and cost < best_cost):
                    best, best_closed, best_cost = i, closed, cost
            if best != choice[at]:
                choice[at] = best
                changed = True
        if not changed:
            return


_down = compiled(_descend_choices)
