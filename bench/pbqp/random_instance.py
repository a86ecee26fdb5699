"""Random PBQP instances of known width: series-parallel graphs and partial 3-trees with random costs."""

from __future__ import annotations

import numpy as np

from mapper.workloads.pbqp.instance import PbqpInstance, flat_instance

LARGEST_COST = 1000


def series_parallel(vertices: int, choices: int, seed: int) -> PbqpInstance:
    """Every further vertex is joined to both ends of an edge there is: the densest series-parallel graph."""
    return k_tree(vertices, choices, 2, 1.0, seed)


def k_tree(vertices: int, choices: int, width: int, kept: float, seed: int) -> PbqpInstance:
    """A random k-tree of ``width`` in which every edge is kept with a chance of ``kept``, vertices shuffled; costs are
    integers from 0 to ``LARGEST_COST``."""
    generator = np.random.default_rng(seed)
    cliques = np.empty(((vertices - width) * width + 1, width), np.int64)
    cliques[0] = range(width)
    ends = [(u, v) for v in range(width) for u in range(v)]
    picks = generator.random(vertices)
    count = 1
    for vertex in range(width, vertices):
        clique = cliques[int(picks[vertex] * count)].copy()
        ends += [(int(member), vertex) for member in clique]
        for at in range(width):
            cliques[count] = clique
            cliques[count, at] = vertex
            count += 1
    chosen = np.array(ends, np.int64)
    chosen = generator.permutation(chosen[generator.random(len(chosen)) < kept])
    return random_costs(vertices, choices, generator.permutation(vertices)[chosen], generator)


def random_costs(
    vertices: int, choices: int, ends: np.ndarray, generator: np.random.Generator
) -> PbqpInstance:
    """Random costs on a given graph."""
    own = generator.integers(0, LARGEST_COST + 1, vertices * choices)
    paid = generator.integers(0, LARGEST_COST + 1, len(ends) * choices * choices)
    return flat_instance(
        np.full(vertices, choices, np.int64), own, ends, paid, f"random-{vertices}-{choices}"
    )
