"""A recurrence on a TCPA as a configuration: when each PE starts, its loops, its program, its queues and its
streams."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from typing import Any

from mapper.formulations.pe_allocation.recurrence.problem import RecurrenceProblem
from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.models.pe_allocation.recurrence.body import Earlier, Program, Source
from mapper.models.pe_allocation.recurrence.cost import evaluate
from mapper.models.pe_allocation.recurrence.feed import Feed, feeds
from mapper.models.pe_allocation.recurrence.tiling import axes_of, shape_of

SCHEMA = "mapper.tcpa-recurrence/1"


def generate_recurrence(problem: RecurrenceProblem, mapping: NestMapping) -> dict[str, str]:
    """``configuration.json``: for the global controller the start of every PE, for its loop controller the loops with
    their counts and steps, for the PEs the operations of an iteration, and for the address generators every stream."""
    cost = evaluate(problem.body, problem.grid, mapping)
    axes = axes_of(mapping)
    document = {
        "schema": SCHEMA,
        "recurrence": problem.recurrence.name,
        "machine": problem.machine.name,
        "cycles": cost.cycles,
        "interval": mapping.interval,
        "registers": cost.registers,
        "program": [_statement(program) for program in problem.body.programs],
        "dependences": [
            {"tensor": one.tensor, "distance": list(one.distance)} for one in problem.body.dependences
        ],
        "streams": [_stream(feed) for feed in feeds(problem.body, axes, mapping.tile_of)],
        "pes": list(_pes(problem, mapping, cost.fill)),
    }
    return {"configuration.json": json.dumps(document, indent=2) + "\n"}


def _statement(program: Program) -> dict[str, Any]:
    return {
        "writes": str(program.statement.target),
        "if": [str(limit) for limit in program.statement.limits],
        "operations": [
            {
                "cycle": program.begin + place,
                "does": step.operator,
                "of": [_source(one) for one in step.sources],
            }
            for place, step in enumerate(program.steps)
        ],
        "result": _source(program.result),
        "ready": program.end,
    }


def _source(source: Source) -> dict[str, Any]:
    if isinstance(source, Earlier):
        return {"operation": source.step}
    if isinstance(source, int):
        return {"number": source}
    return {"word": str(source)}


def _stream(feed: Feed) -> dict[str, Any]:
    places = [[row, column] for row, column in product(*map(range, feed.at.shape)) if feed.at[row, column]]
    axes = [axis for axis, on in zip(("rows", "columns"), feed.further, strict=True) if on]
    way = "out" if feed.leaves else "in"
    return {"word": str(feed.access), "way": way, "pes": places, "handed_on_along": axes}


def _pes(problem: RecurrenceProblem, mapping: NestMapping, fill: int) -> Iterator[dict[str, Any]]:
    counts = problem.recurrence.trip_counts
    rows, columns = shape_of(problem.recurrence, axes_of(mapping), mapping.tile_of)
    for row, column in product(range(rows), range(columns)):
        at = {mapping.rows: row, mapping.columns: column}
        first = {loop: at.get(loop, 0) * mapping.tile_of[loop] for loop in counts}
        start = fill + sum(at.get(loop, 0) * mapping.outer_of[loop] for loop in counts)
        loops = [
            {
                "loop": loop,
                "first": first[loop],
                "count": min(mapping.tile_of[loop], counts[loop] - first[loop]),
                "step_cycles": mapping.inner_of[loop],
            }
            for loop in mapping.order
        ]
        yield {"pe": [row, column], "start": start, "loops": loops}
