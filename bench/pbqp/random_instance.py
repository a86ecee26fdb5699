"""Random PBQP instances: series-parallel graphs and partial 3-trees, grids, dense blocks, layered graphs, cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mapper.workloads.pbqp.instance import PbqpInstance, flat_instance

LARGEST_COST = 1000
LARGEST_OPEN_COST = 100
"""Of the graphs that no elimination takes apart, and of cells."""


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


def grid(rows: int, columns: int, choices: int, seed: int) -> PbqpInstance:
    """Every vertex of a grid is joined to the next in its row and in its column."""
    at = np.arange(rows * columns).reshape(rows, columns)
    across = np.stack([at[:, :-1].reshape(-1), at[:, 1:].reshape(-1)], axis=1)
    down = np.stack([at[:-1].reshape(-1), at[1:].reshape(-1)], axis=1)
    return _open(rows * columns, choices, [*across.tolist(), *down.tolist()], np.random.default_rng(seed))


def dense_blocks(blocks: int, block: int, links: int, choices: int, seed: int) -> PbqpInstance:
    """Complete graphs of ``block`` vertices in a row, each joined to the next by so many ``links``."""
    generator = np.random.default_rng(seed)
    ends = []
    for first in range(0, blocks * block, block):
        ends += [(first + u, first + v) for u in range(block) for v in range(u + 1, block)]
    for first in range(0, (blocks - 1) * block, block):
        between = generator.choice(block * block, links, replace=False)
        ends += [(first + int(at) // block, first + block + int(at) % block) for at in between]
    return _open(blocks * block, choices, ends, generator)


def layered(vertices: int, window: int, least: int, choices: int, seed: int) -> PbqpInstance:
    """Every vertex is joined to ``least`` to three of the ``window`` before it."""
    generator = np.random.default_rng(seed)
    ends = []
    for vertex in range(1, vertices):
        before = np.arange(max(0, vertex - window), vertex)
        count = min(len(before), int(generator.integers(least, 4)))
        ends += [(int(u), vertex) for u in np.sort(generator.choice(before, count, replace=False))]
    return _open(vertices, choices, ends, generator)


def cells(vertices: int, blocks: int, choices: int, seed: int) -> PbqpInstance:
    """Cells in a chain as NASNet's: each of the ``blocks`` of a cell reads two of the outputs of the two cells before
    it and of the blocks before it, and the cell's output reads the blocks that none of its own read."""
    generator = np.random.default_rng(seed)
    ends, before, last, vertex = {(0, 1)}, 0, 1, 2
    while vertex < vertices:
        sources, unread = [before, last], list[int]()
        for _ in range(min(blocks, vertices - 1 - vertex)):
            read = {sources[int(at)] for at in generator.choice(len(sources), 2, replace=False)}
            ends |= {(source, vertex) for source in read}
            unread = [source for source in unread if source not in read] + [vertex]
            sources.append(vertex)
            vertex += 1
        ends |= {(source, vertex) for source in unread or [last]}
        before, last, vertex = last, vertex, vertex + 1
    return _open(vertices, choices, sorted(ends), generator)


def _open(
    vertices: int, choices: int, ends: Sequence[Sequence[int]], generator: np.random.Generator
) -> PbqpInstance:
    return random_costs(vertices, choices, np.array(ends, np.int64), generator, LARGEST_OPEN_COST)


def random_costs(
    vertices: int,
    choices: int,
    ends: np.ndarray,
    generator: np.random.Generator,
    largest: int = LARGEST_COST,
) -> PbqpInstance:
    """Random costs from 0 to ``largest`` on a given graph."""
    own = generator.integers(0, largest + 1, vertices * choices)
    paid = generator.integers(0, largest + 1, len(ends) * choices * choices)
    return flat_instance(
        np.full(vertices, choices, np.int64), own, ends, paid, f"random-{vertices}-{choices}"
    )
