"""Random PBQP instances of every shape, and their answer by trying every choice."""

from __future__ import annotations

import itertools
import math

from hypothesis import strategies as st

from mapper.workloads.pbqp_instance import Cost, PbqpInstance, instance


def brute_force(problem: PbqpInstance) -> Cost | None:
    """The least value of all choices; None if all are infinite."""
    values = (problem.value(choice) for choice in itertools.product(*map(range, problem.choices.tolist())))
    return min((value for value in values if value is not None), default=None)


@st.composite
def instances(
    draw: st.DrawFn, most_vertices: int = 6, most_choices: int = 3, largest: int = 20
) -> PbqpInstance:
    """Small instances: any graph, parallel edges, self-loops, several components, infinite and negative costs."""
    sizes = draw(st.lists(st.integers(1, most_choices), min_size=1, max_size=most_vertices))
    cost: st.SearchStrategy[Cost] = st.one_of(
        st.integers(-largest, largest), st.integers(0, largest), st.just(math.inf)
    )
    vertex = st.integers(0, len(sizes) - 1)
    pairs = draw(st.lists(st.tuples(vertex, vertex), max_size=2 * len(sizes) + 2))
    own = [draw(st.lists(cost, min_size=size, max_size=size)) for size in sizes]
    edges = []
    for u, v in pairs:
        row = st.lists(cost, min_size=sizes[v], max_size=sizes[v])
        edges.append((u, v, draw(st.lists(row, min_size=sizes[u], max_size=sizes[u]))))
    return instance(own, edges)
