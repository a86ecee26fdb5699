"""The problem of a PBQP instance: one choice per vertex at the least cost, some of them pinned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mapper.workloads.document import InputError
from mapper.workloads.pbqp.instance import PbqpInstance


@dataclass(frozen=True, eq=False)
class PbqpProblem:
    """Choose for every vertex of ``instance`` at the least cost; ``pins`` are (vertex, choice) that are given."""

    instance: PbqpInstance
    pins: tuple[tuple[int, int], ...] = ()

    @cached_property
    def pinned(self) -> PbqpInstance:
        """The instance in which every other choice of a pinned vertex costs infinitely much."""
        if not self.pins:
            return self.instance
        given = self.instance
        vertex_cost = given.vertex_cost.copy()
        for vertex, choice in self.pins:
            low, high = given.vertex_offset[vertex], given.vertex_offset[vertex + 1]
            kept = vertex_cost[low + choice]
            vertex_cost[low:high] = given.infinity
            vertex_cost[low + choice] = kept
        vertex_cost.setflags(write=False)
        return PbqpInstance(
            given.name, given.vertex_offset, vertex_cost, given.edge_end, given.edge_offset, given.edge_cost
        )

    @cached_property
    def assignments(self) -> float:
        """How many there are, infinite ones with them; in floats, so infinite beyond 1e308."""
        with np.errstate(over="ignore"):
            return float(np.prod(self.instance.choices.astype(np.float64)))


def pbqp_problem(instance: PbqpInstance, fixed: Mapping[str, object] | None = None) -> PbqpProblem:
    """The problem with the pins ``{vertex: choice}`` of ``--fix VERTEX=CHOICE``.

    Raises: InputError if there is no such vertex or choice.
    """
    pins = []
    for key, value in (fixed or {}).items():
        vertex, choice = _number(str(key)), _number(str(value))
        if vertex is None or vertex >= instance.vertices:
            raise InputError("--fix", key, f"no such vertex; they count from 0 to {instance.vertices - 1}")
        count = instance.choices_of(vertex)
        if choice is None or choice >= count:
            raise InputError("--fix", f"{key}={value}", f"no such choice; they count from 0 to {count - 1}")
        pins.append((vertex, choice))
    return PbqpProblem(instance, tuple(sorted(pins)))


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else None
