"""Improving an assignment: some vertices keep their choices, all others are chosen again at once.

The vertices that keep theirs are those at which no reduction applies, taken at random with a leaning to high degrees,
so that the vertices between them reduce and are chosen exactly: no round makes the assignment more expensive.
"""

from __future__ import annotations

import numpy as np

from mapper.solver.method import Effort
from mapper.solver.pbqp.heuristic.fixing import Lift
from mapper.solver.pbqp.reduction.elimination import Eliminated, reduced
from mapper.solver.pbqp.reduction.elimination_plan import Array
from mapper.solver.pbqp.reduction.restriction import restricted
from mapper.workloads.pbqp.instance import PbqpInstance

SHARE_KEPT = 8
"""Of this many vertices one keeps its choice between two reductions, and one at least."""


def refitted(given: PbqpInstance, choice: Array, generator: np.random.Generator) -> Array:
    """A finite assignment of ``given`` that is not dearer than ``choice``, which is finite."""
    lifts: list[Lift] = []
    rest: PbqpInstance | None = given
    present = choice
    while rest is not None:
        smaller = reduced(rest, Effort())
        assert isinstance(smaller, Eliminated), "an effort without limits is never stopped"
        lifts.append(smaller.lift)
        if smaller.core is None:
            break
        core, present = smaller.core, present[smaller.stays]
        degree = np.bincount(core.edge_end.reshape(-1), minlength=core.vertices)
        order = np.argsort(-degree * generator.random(core.vertices), kind="stable")
        keep = np.ones(len(core.vertex_cost), np.bool_)
        for vertex in order[: max(1, core.vertices // SHARE_KEPT)].tolist():
            low, high = core.vertex_offset[vertex], core.vertex_offset[vertex + 1]
            keep[low:high] = False
            keep[low + present[vertex]] = True
        part = restricted(core, keep)
        lifts.append(part.lift)
        rest, present = part.rest, present[part.stays]
    found = np.empty(0, np.int64)
    for lift in reversed(lifts):
        found = lift(found)
    return found
