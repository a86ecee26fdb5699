"""PBQP instances for people: the choices, and the reduction step by step: which vertex, which rule, and the first
matrices [Meng2021, Fig. 6]."""

from __future__ import annotations

from collections.abc import Sequence

from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.models.pbqp.mapping import PbqpAssignment
from mapper.solver.pbqp.reduction.reduction_tree import ReductionStep, Table, reduction_tree
from mapper.workloads.pbqp.instance import Cost

MOST_LISTED, MOST_MATRICES, WIDEST = 400, 3, 6
"""Steps that are listed, steps whose matrices are shown, and choices up to which a matrix is."""


MOST_SHOWN = 64
"""Vertices that are listed on a terminal."""


def assignment_lines(problem: PbqpProblem, assignment: PbqpAssignment) -> list[str]:
    """The first vertices' choices, and what the instance is."""
    instance, choice = problem.instance, assignment.choice
    shown = " ".join(f"{vertex}:{chosen}" for vertex, chosen in enumerate(choice[:MOST_SHOWN]))
    exact = "whole numbers, exact" if instance.exact else "floating-point numbers"
    return [
        f"  {instance.vertices:,} vertices, {instance.edges:,} edges; costs are {exact}",
        f"  chosen   {shown}{' …' if len(choice) > MOST_SHOWN else ''}",
    ]


def reduction_lines(problem: PbqpProblem, names: Sequence[str] | None = None) -> list[str]:
    """Every reduction of the graph in order; matrices of the first ones that join two edges."""
    given = problem.pinned
    named = list(names or (f"vertex {vertex}" for vertex in range(given.vertices)))
    tree = reduction_tree(given, tables=given.vertices <= MOST_LISTED)
    kind = "series-parallel" if tree.series_parallel else "not series-parallel"
    left = f", {len(tree.core):,} with {len(tree.core_edges):,} edges are left" if tree.core else ""
    lines = [
        f"{given.vertices:,} vertices, {given.edges:,} edges: {kind}, {len(tree.steps):,} vertices are reduced{left}"
    ]
    shown = 0
    for number, step in enumerate(tree.steps[:MOST_LISTED]):
        lines.append(f"{number + 1:4}. {said(step, named)}")
        if step.rule != "RII" or step.table is None or shown == MOST_MATRICES:
            continue
        if max(len(step.table), len(step.table[0])) <= WIDEST:
            shown += 1
            lines += [f"      {row}" for row in _matrix_lines(step.table, given.infinity)]
    more = len(tree.steps) - MOST_LISTED
    return [*lines, f"and {more:,} more"] if more > 0 else lines


def said(step: ReductionStep, named: Sequence[str]) -> str:
    """A step in words."""
    vertex, near = named[step.vertex], [named[at] for at in step.neighbours]
    if not near:
        return f"{vertex}: alone (R0): its least cost is added"
    if len(near) == 1:
        return (
            f"{vertex}: beside {near[0]} alone (RI): the least of its costs and the edge's goes to {near[0]}"
        )
    return (
        f"{vertex}: between {near[0]} and {near[1]} (RII): an edge between these, the least over its choices"
    )


def _matrix_lines(matrix: Table, infinity: Cost) -> list[str]:
    cells = [["inf" if cell == infinity else f"{cell:,}" for cell in row] for row in matrix]
    width = max(len(cell) for row in cells for cell in row)
    return [" ".join(cell.rjust(width) for cell in row) for row in cells]
