"""Why a problem has no selection, in a sentence."""

from __future__ import annotations

import math

from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.formulations.algorithm_selection.program.cost_graph import GraphBuilder
from mapper.models.algorithm_selection.resource import most_lanes, overlay_size


def why_infeasible(problem: SelectionProblem) -> str:
    """The first reason why a problem that is proven to have no selection has none: a layer or a tensor that pins or
    buffers leave no choice, a shape that is not allowed, or a time that no shape can keep."""
    name = GraphBuilder(problem).nothing_left
    if name is not None:
        layers = problem.network.position
        if name in layers and not problem.network.layers[layers[name]].algorithms(problem.machine):
            return f"{name} has no algorithm of which a piece fits the buffers (engines.buffers)"
        return f"{name} has no choice that its pins allow and that can compute it"
    if problem.array is not None and not problem.allows(problem.array):
        return _no_shape(problem, problem.array)
    if problem.longest_units is None:
        return "no array fits the available block memories"
    milliseconds = problem.longest_units / problem.machine.units_per_cycle / problem.machine.clock_hz * 1e3
    return f"no array of {problem.most_pes} PEs or fewer takes {milliseconds:.6g} ms or less"


def _no_shape(problem: SelectionProblem, array: tuple[int, int]) -> str:
    machine, (rows, columns) = problem.machine, array
    if math.prod(array) <= problem.most_pes and machine.engines is not None:
        lanes = most_lanes(machine)
        if max(array) > lanes:
            fed = "DRAM and the board's memories feed"
            return f"an array of {rows} x {columns} has a side of more than the {lanes} lanes that {fed}"
        for what, taken in overlay_size(array, machine).to_json().items():
            if machine.board is not None and taken > getattr(machine.board, what):
                room = getattr(machine.board, what)
                return f"an array of {rows} x {columns} takes {taken:,} {what}, and the board has {room:,}"
    return f"an array of {rows} x {columns} is too large (at most {problem.most_pes} PEs)"
