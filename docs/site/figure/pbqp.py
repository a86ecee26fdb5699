"""Figure of the kind ``pbqp``: an instance with its costs, its reduction, and the choices of least cost."""

from __future__ import annotations

import tempfile
from pathlib import Path

from docs.site.figure.solved import solved
from docs.site.svg import LINE, PAPER, QUIET, box, line, page, text
from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.models.pbqp.mapping import PbqpAssignment
from mapper.solver.pbqp.reduction.reduction_tree import ReductionStep, reduction_tree

INSTANCE = """\
4 4
2 5 2
2 1 4
2 3 3
2 5 0
0 1
2 2
0 6
7 0
0 2
2 2
4 0
0 8
1 3
2 2
2 5
0 4
2 3
2 2
0 9
3 1
"""
"""Four vertices in a ring, in the format that the page describes."""
WIDTH = 700
CHOSEN = "#fde3c8"
CORNERS = ((40, 70), (300, 70), (40, 270), (300, 270))
WIDE, HIGH = 110, 54


def mapping() -> str:
    """The ring with the costs that are paid marked, and the steps that reduce it."""
    problem, choice, value = _solved()
    given = problem.pinned
    parts = [text(20, 28, f"Four vertices with two choices each; least cost {value}", "title", "start")]
    for number, (tail, head) in enumerate(given.edge_end.tolist()):
        (x1, y1), (x2, y2) = CORNERS[tail], CORNERS[head]
        ends = [(x1 + WIDE / 2, y1 + HIGH / 2), (x2 + WIDE / 2, y2 + HIGH / 2)]
        parts.append(line(ends, LINE, 2))
        x, y = (ends[0][0] + ends[1][0]) / 2 - 28, (ends[0][1] + ends[1][1]) / 2 - 24
        parts += _matrix(x, y, _costs(INSTANCE)[1][number], (choice[tail], choice[head]))
    for vertex, (x, y) in enumerate(CORNERS):
        parts += [
            box(x, y, WIDE, HIGH, PAPER, QUIET),
            text(x + WIDE / 2, y + 19, f"vertex {vertex}", "title"),
        ]
        for place, cost in enumerate(_costs(INSTANCE)[0][vertex]):
            left = x + 20 + 36 * place
            if place == choice[vertex]:
                parts.append(box(left, y + 26, 34, 22, CHOSEN, "#b3261e", 4))
            parts.append(text(left + 17, y + 42, str(cost), "small"))
    x = 450
    parts.append(text(x, 88, "Reduction", "title", "start"))
    y = 112
    for number, step in enumerate(reduction_tree(given, tables=True).steps, 1):
        for place, said in enumerate(_said(number, step)):
            parts.append(text(x, y + 18 * place, said, "quiet" if place else "small", "start"))
        y += 44
    parts.append(text(x, y + 6, "Framed: the choices and the", "small", "start"))
    parts.append(text(x, y + 22, "costs that they incur.", "small", "start"))
    return page(WIDTH, 344, "A PBQP instance of four vertices, its reduction and its optimum", parts)


def _solved() -> tuple[PbqpProblem, tuple[int, ...], int]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "ring.in")
        path.write_text(INSTANCE, encoding="utf-8")
        found = solved(str(path), None, None)
    assert isinstance(found.problem, PbqpProblem) and isinstance(found.mapping, PbqpAssignment)
    return found.problem, tuple(found.mapping.choice), found.cost["value"]


def _costs(instance: str) -> tuple[list[list[int]], list[list[list[int]]]]:
    """Costs of every vertex, and the matrix of every edge: all have two choices."""
    rows = [[int(word) for word in row.split()] for row in instance.splitlines()]
    vertices, edges = rows[0]
    begin = 1 + vertices
    return (
        [row[1:] for row in rows[1:begin]],
        [rows[begin + 4 * edge + 2 : begin + 4 * edge + 4] for edge in range(edges)],
    )


def _matrix(x: float, y: float, costs: list[list[int]], paid: tuple[int, int]) -> list[str]:
    """Costs of a pair: a row for each choice of the edge's first vertex."""
    parts = [box(x, y, 56, 48, PAPER, LINE, 4)]
    for row, own in enumerate(costs):
        for column, cost in enumerate(own):
            left, top = x + 3 + 26 * column, y + 3 + 22 * row
            if (row, column) == paid:
                parts.append(box(left, top, 24, 20, CHOSEN, "#b3261e", 3))
            parts.append(text(left + 12, top + 14, str(cost), "small"))
    return parts


def _said(number: int, step: ReductionStep) -> list[str]:
    """A step in words, with the table that it leaves."""
    table = "; ".join(", ".join(map(str, row)) for row in step.table or ())
    near = " and ".join(map(str, step.neighbours))
    if step.rule == "RII":
        return [f"{number}. vertex {step.vertex} (RII): an edge", f"between {near}, costs {table}"]
    if step.rule == "RI":
        return [f"{number}. vertex {step.vertex} (RI): its costs", f"go to vertex {near}: {table}"]
    return [f"{number}. vertex {step.vertex} (R0): its least", f"cost is the optimum, {table}"]
