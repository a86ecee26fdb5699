"""PBQP instances as JSON or YAML documents, schema ``mapper.pbqp/1``.

``{"schema": "mapper.pbqp/1", "name": "...", "vertices": [[cost, ...], ...], "edges": [{"ends": [u, v], "costs":
[[...], ...]}]}``: the costs of each vertex's choices, and a matrix per edge with a row per choice of u. A cost is a
number or ``"inf"``; costs are exact if all are integers.
"""

from __future__ import annotations

import math
from typing import Any

from mapper.workloads.document import InputError
from mapper.workloads.pbqp.instance import Cost, Costs, PbqpInstance, instance

SCHEMA = "mapper.pbqp/1"
LARGEST_DOCUMENT_BYTES = 1 << 26
"""Documents beyond are read from the text or the binary form."""
_KEYS = {"schema", "name", "vertices", "edges"}


def pbqp_from_document(document: dict[str, Any], source: str, name: str = "pbqp") -> PbqpInstance:
    """The instance of a document.

    Raises: InputError naming the field that is wrong.
    """
    if document.get("schema") != SCHEMA:
        raise InputError(source, "schema", f"must be {SCHEMA}")
    for key in document:
        if key not in _KEYS:
            raise InputError(source, key, f"unknown key; use {', '.join(sorted(_KEYS))}")
    called = document.get("name", name)
    if not isinstance(called, str):
        raise InputError(source, "name", "must be text")
    vertices = [
        _costs(costs, source, f"vertices.{at}")
        for at, costs in enumerate(_listed(document.get("vertices"), source, "vertices"))
    ]
    edges = []
    for at, edge in enumerate(_listed(document.get("edges", []), source, "edges")):
        field = f"edges.{at}"
        if not isinstance(edge, dict) or set(edge) != {"ends", "costs"}:
            raise InputError(source, field, "must have the keys ends and costs")
        ends = edge["ends"]
        if not isinstance(ends, list) or len(ends) != 2 or not all(type(end) is int for end in ends):
            raise InputError(source, f"{field}.ends", "must be two vertices, counted from 0")
        matrix = _listed(edge["costs"], source, f"{field}.costs")
        rows = [_costs(row, source, f"{field}.costs.{number}") for number, row in enumerate(matrix)]
        edges.append((ends[0], ends[1], rows))
    try:
        return instance(vertices, edges, called)
    except InputError as error:
        raise InputError(source, error.field, error.remedy) from None


def pbqp_document(problem: PbqpInstance) -> dict[str, Any]:
    """The document of an instance."""
    return {
        "schema": SCHEMA,
        "name": problem.name,
        "vertices": [_written(problem.costs(vertex), problem) for vertex in range(problem.vertices)],
        "edges": [
            {
                "ends": problem.edge_end[edge].tolist(),
                "costs": [_written(row, problem) for row in problem.matrix(edge)],
            }
            for edge in range(problem.edges)
        ],
    }


def _written(costs: Costs, problem: PbqpInstance) -> list[Any]:
    return ["inf" if cost == problem.infinity else cost for cost in costs.tolist()]


def _listed(value: Any, source: str, field: str) -> list[Any]:
    if not isinstance(value, list):
        raise InputError(source, field, "must be a list")
    return value


def _costs(value: Any, source: str, field: str) -> list[Cost]:
    found: list[Cost] = []
    for at, cost in enumerate(_listed(value, source, field)):
        if cost == "inf":
            found.append(math.inf)
        elif type(cost) not in (int, float) or not -math.inf < cost < math.inf:
            raise InputError(source, f"{field}.{at}", 'is not a cost; give a number or "inf"')
        else:
            found.append(cost)
    return found
