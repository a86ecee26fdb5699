"""A loop nest on a TCPA as a configuration: when each PE starts, what its loops are, and the streams at the border."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from typing import Any

from mapper.formulations.pe_allocation.nest.problem import NestProblem
from mapper.models.pe_allocation.nest.cost import evaluate, grid_shape, held
from mapper.models.pe_allocation.nest.mapping import NestMapping

SCHEMA = "mapper.tcpa-nest/1"


def generate_nest(problem: NestProblem, mapping: NestMapping) -> dict[str, str]:
    """``configuration.json``: for the global controller the start of every PE, for its loop controller the loops with
    their counts and steps, and for the address generators the affine index of every operand."""
    nest = problem.nest
    cost = evaluate(nest, problem.grid, mapping)
    document = {
        "schema": SCHEMA,
        "nest": nest.name,
        "machine": problem.machine.name,
        "cycles": cost.cycles,
        "interval": mapping.interval,
        "lanes": mapping.lanes,
        "pes": list(_pes(problem, mapping, cost.fill)),
        "operands": [_operand(problem, mapping, place) for place in range(len(nest.operands))],
    }
    return {"configuration.json": json.dumps(document, indent=2) + "\n"}


def _pes(problem: NestProblem, mapping: NestMapping, fill: int) -> Iterator[dict[str, Any]]:
    rows, columns = grid_shape(problem.nest, mapping)
    for row, column in product(range(rows), range(columns)):
        at = {mapping.rows: row, mapping.columns: column}
        first = {loop: at.get(loop, 0) * mapping.tile_of[loop] for loop in problem.nest.loops}
        start = fill + sum(at.get(loop, 0) * mapping.outer_of[loop] for loop in problem.nest.loops)
        loops = [
            {
                "loop": loop,
                "first": first[loop],
                "count": min(mapping.tile_of[loop], problem.nest.trip_counts[loop] - first[loop]),
                "step_cycles": mapping.inner_of[loop],
            }
            for loop in mapping.order
        ]
        yield {"pe": [row, column], "start": start, "loops": loops}


def _operand(problem: NestProblem, mapping: NestMapping, place: int) -> dict[str, Any]:
    """``handed_on_along``: the axes along which a PE passes the operand's words, or its sums, on to the next."""
    operand = problem.nest.operands[place]
    rows, columns = held(problem.nest, mapping, operand)
    return {
        "name": operand.name,
        "access": operand.access,
        "index": [str(dimension) for dimension in operand.index],
        "extents": list(operand.extents),
        "handed_on_along": [axis for axis, own in (("rows", rows), ("columns", columns)) if not own],
    }
