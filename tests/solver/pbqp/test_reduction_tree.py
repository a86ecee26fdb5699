"""The reduction as a value: rules, neighbours, merged edges, tables, and what is left."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings

from mapper.solver.method import Effort
from mapper.solver.pbqp.reduction.elimination import Eliminated, reduced
from mapper.solver.pbqp.reduction.reduction_tree import reduction_tree
from mapper.workloads.pbqp.instance import PbqpInstance, instance
from tests.solver.pbqp.oracle import instances


def test_a_path_of_three_reduces_as_in_figure_6() -> None:
    path = instance([[0, 0]] * 3, [(0, 2, [[1, 5], [4, 2]]), (2, 1, [[3, 1], [0, 6]])])
    tree = reduction_tree(path, tables=True)
    assert tree.series_parallel
    assert [(step.vertex, step.rule, step.neighbours) for step in tree.steps] == [
        (0, "RI", (2,)),
        (1, "RI", (2,)),
        (2, "R0", ()),
    ]
    assert [step.table for step in tree.steps] == [((1, 2),), ((1, 0),), ((2,),)]


def test_a_vertex_of_degree_two_leaves_a_matrix_and_parallel_edges_become_one() -> None:
    matrix = [[1, 4], [2, 0]]
    triangle = instance([[0, 1]] * 3, [(0, 1, matrix), (0, 2, matrix), (1, 2, matrix)])
    tree = reduction_tree(triangle, tables=True)
    first, second, _ = tree.steps
    assert (first.vertex, first.rule, first.neighbours) == (0, "RII", (1, 2))
    assert first.table == ((2, 3), (3, 1))
    assert (second.rule, second.merged, second.below) == ("RI", 1, (0,))


def test_a_complete_graph_of_four_is_its_own_core() -> None:
    matrix = [[0, 1], [1, 0]]
    edges = [(u, v, matrix) for u in range(4) for v in range(u)]
    tree = reduction_tree(instance([[0, 1]] * 5, [*edges, (4, 0, matrix)]))
    assert not tree.series_parallel
    assert tree.core == (0, 1, 2, 3) and len(tree.core_edges) == 6
    assert [step.vertex for step in tree.steps] == [4]


def test_infinite_costs_stay_infinite_in_tables() -> None:
    tree = reduction_tree(instance([[0, 0], [0]], [(0, 1, [[math.inf], [math.inf]])]), tables=True)
    assert tree.steps[-1].table == ((1 << 61,),)


@settings(derandomize=True, deadline=None)
@given(instances())
def test_the_tables_add_up_to_what_the_compiled_reduction_finds(problem: PbqpInstance) -> None:
    tree = reduction_tree(problem, tables=True)
    found = reduced(problem, Effort())
    assert isinstance(found, Eliminated)
    ends = [step.table[0][0] for step in tree.steps if step.rule == "R0" and step.table is not None]
    total = problem.infinity if problem.infinity in ends else sum(ends)
    assert total == found.constant
    assert tree.core == tuple(found.stays.tolist())
    numbers = [below for step in tree.steps for below in step.below]
    assert len(numbers) == len(set(numbers))


def test_a_large_graph_reduces_as_a_value_too() -> None:
    count = 2000
    chain = instance([[0, 1]] * count, [(at, at + 1, [[0, 1], [1, 0]]) for at in range(count - 1)])
    tree = reduction_tree(chain)
    assert len(tree.steps) == count and np.all([step.table is None for step in tree.steps])
