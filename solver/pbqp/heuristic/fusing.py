"""Putting assignments together: vertices keep the choices that some of them have, of which the best are found."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mapper.solver.method import Effort
from mapper.solver.pbqp.reduction.elimination import Eliminated, eliminated
from mapper.solver.pbqp.reduction.elimination_order import small_width_order
from mapper.solver.pbqp.reduction.elimination_plan import Array, plan, size
from mapper.solver.pbqp.reduction.restriction import restricted
from mapper.workloads.pbqp.instance import PbqpInstance

MOST_ENTRIES, MOST_WORK = 1e6, 1e8
NO_REST = np.empty((0, 2), np.int64)


def fused(given: PbqpInstance, several: Sequence[Array]) -> Array | None:
    """The best assignment that takes each choice from one of ``several``, the later ones where all of them together
    leave tables that are too large; None if even two do, or if none is finite."""
    while len(several) > 1:
        keep = np.zeros(len(given.vertex_cost), np.bool_)
        for choice in several:
            keep[given.vertex_offset[:-1] + choice] = True
        part = restricted(given, keep)
        if part.constant == given.infinity:
            return None
        if part.rest is None:
            return part.lift(np.empty(0, np.int64))
        order, start, front = small_width_order(
            part.rest.vertices, part.rest.edge_end, part.rest.choices, MOST_ENTRIES
        )
        if len(order) == part.rest.vertices:
            made = plan(part.rest, order, start, front)
            if size(part.rest, made).work.sum() <= MOST_WORK:
                found = eliminated(part.rest, made, NO_REST, Effort())
                assert isinstance(found, Eliminated), "an effort without limits is never stopped"
                if found.infeasible:
                    return None
                return part.lift(found.lift(np.empty(0, np.int64)))
        several = several[(len(several) + 1) // 2 :]
    return None
