"""The costs of an instance as compiled functions take them."""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

from mapper.workloads.pbqp.instance import PbqpInstance

Array = NDArray[Any]


class CostArrays(NamedTuple):
    """``choices`` [V]; the costs of vertex v in ``vertex_cost`` from ``vertex_offset[v]``; ``ends`` [E, 2]; those of
    edge e in ``edge_cost`` from ``edge_offset[e]``, choices of its first end times choices of its second. ``infinite``
    is what a choice costs that is not allowed, ``limit`` the largest finite cost: what exceeds it becomes infinite."""

    choices: Array
    vertex_offset: Array
    vertex_cost: Array
    ends: Array
    edge_offset: Array
    edge_cost: Array
    infinite: Any
    limit: Any


def cost_arrays(problem: PbqpInstance) -> CostArrays:
    """Those of ``problem``, which nobody may write to."""
    return CostArrays(
        problem.choices,
        problem.vertex_offset,
        problem.vertex_cost,
        problem.edge_end,
        problem.edge_offset,
        problem.edge_cost,
        problem.infinity,
        problem.largest_finite,
    )
