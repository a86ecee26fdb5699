"""Trees of bounds: evidence for the least cost of an instance that no elimination takes apart.

A node moves costs between edges and their ends, which changes no sum, until the minima of all vertices and edges add
up to what is to be shown; then it is a leaf. Otherwise choices that this shows to be too dear go, and a vertex
branches. Infinite costs are large whole numbers here. As the checker adds the minima up itself, it does not matter how
the amounts were found; they are messages, passed along the vertices and back [as in `exact/bound.py`], which a parent
leaves to its children.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from mapper.solver.method import Effort
from mapper.solver.pbqp.reduction.elimination_plan import Array
from mapper.workloads.pbqp.instance import PbqpInstance

Tree = list[Any]
"""``[moves]`` or ``[moves, vertex, [[choices, child], ...]]``; a move is ``[u, v, amounts to u, amounts to v]``, u
the larger of the two."""
LARGEST_SUM = 1 << 58
INFINITE_SHARES, CHECKER_INFINITE = 1 << 24, 1 << 110
MOST_BYTES = 4 << 20
MOST_DEPTH = 200
FIRST_PASSES, PASSES = 60, 6


class NoTreeError(Exception):
    """No tree was found within the limits."""


@dataclass
class _Node:
    """Costs as moved so far; ``left``: which choices a vertex has; ``edges`` per pair (smaller, larger)."""

    own: list[Array]
    edges: dict[tuple[int, int], Array]
    left: list[Array]


def bound_tree(
    core: PbqpInstance, names: list[int], least: int | None, effort: Effort, most_nodes: float = math.inf
) -> Tree:
    """A tree that shows that no assignment of ``core`` costs below ``least`` (None: that none is finite); the vertices
    are called ``names``.

    Raises: NoTreeError if costs are too large for it, or effort, ``most_nodes`` or the limits end the search.
    """
    if least is None:
        # Only what is infinite counts, in shares of which the checker needs more than half of one.
        low, high, scale, target = (
            0,
            INFINITE_SHARES,
            CHECKER_INFINITE // INFINITE_SHARES,
            INFINITE_SHARES // 2 + 1,
        )
    else:
        finite = [int(np.abs(costs[costs != core.infinity]).max(initial=0)) for costs in _tables(core)]
        low, high, scale, target = 1, 2 * sum(finite) + 1 + abs(least), 1, least
    if high * (core.edges + core.vertices) > LARGEST_SUM:
        raise NoTreeError("costs are too large for a tree of bounds")
    own = [np.where(core.costs(v) == core.infinity, high, low * core.costs(v)) for v in range(core.vertices)]
    edges = {}
    for edge in range(core.edges):
        u, v = core.edge_end[edge].tolist()
        matrix = core.matrix(edge)
        edges[u, v] = np.where(matrix == core.infinity, high, low * matrix)
    search = _Search(names, target, scale, effort, most_nodes)
    return search.node(_Node(own, edges, [np.arange(len(costs)) for costs in own]), 0)


def _tables(core: PbqpInstance) -> list[Array]:
    return [core.costs(v) for v in range(core.vertices)] + [core.matrix(edge) for edge in range(core.edges)]


@dataclass
class _Search:
    names: list[int]
    least: int
    scale: int
    effort: Effort
    most_nodes: float
    nodes: int = 0
    bytes: int = 0

    def node(self, node: _Node, depth: int) -> Tree:
        """The tree below a node."""
        if self.effort.stopped() is not None:
            raise NoTreeError("the time was over before a tree of bounds was found")
        self.nodes += 1
        if self.nodes > self.most_nodes:
            raise NoTreeError("the tree of bounds has too many nodes")
        if depth > MOST_DEPTH:
            raise NoTreeError("the tree of bounds is too deep")
        bound = self._bound(node)
        if bound >= self.least:
            return self._made([[]])
        moved, moves = self._moved(node, PASSES if depth else FIRST_PASSES)
        after = self._bound(moved)
        if after <= bound:
            moved, moves, after = node, [], bound
        if after >= self.least:
            return self._made([moves])
        dear = [self._least(moved, v, after) >= self.least for v in range(len(moved.own))]
        vertex = self._branching(moved, dear, after)
        parts = []
        alive = []
        for choice, closed in zip(moved.left[vertex].tolist(), dear[vertex].tolist(), strict=True):
            one = _Node(moved.own, moved.edges, [*moved.left])
            one.left[vertex] = np.array([choice])
            if closed and self._bound(one) >= self.least:
                parts.append([[choice], [[]]])
            else:
                alive.append((choice, one))
        several = any(gone.any() for other, gone in enumerate(dear) if other != vertex)
        if len(alive) == len(moved.left[vertex]) or len(alive) <= 2 or not several:
            for choice, one in alive:
                parts.append([[choice], self._pruned(one, dear, vertex, depth + 1)])
        else:
            one = _Node(moved.own, moved.edges, [*moved.left])
            one.left[vertex] = np.array([choice for choice, _ in alive])
            parts.append([one.left[vertex].tolist(), self._pruned(one, dear, vertex, depth + 1)])
        return self._made([moves, self.names[vertex], parts])

    def _pruned(self, node: _Node, dear: list[Array], branched: int, depth: int) -> Tree:
        """The tree below a node after the choices that are too dear are gone, one vertex after another."""
        for vertex, gone in enumerate(dear):
            if vertex == branched or not gone.any() or gone.all():
                continue
            one = _Node(node.own, node.edges, [*node.left])
            one.left[vertex] = node.left[vertex][gone]
            rest = _Node(node.own, node.edges, [*node.left])
            rest.left[vertex] = node.left[vertex][~gone]
            if self._bound(one) >= self.least:
                below = [*dear]
                below[vertex] = np.zeros(len(rest.left[vertex]), np.bool_)
                child = self._pruned(rest, below, branched, depth + 1)
                parts = [[one.left[vertex].tolist(), [[]]], [rest.left[vertex].tolist(), child]]
                return self._made([[], self.names[vertex], parts])
        return self.node(node, depth)

    def _made(self, tree: Tree) -> Tree:
        # What children take is counted with them.
        shown = [tree[0], *tree[1:2], [part for part, _ in tree[2]]] if len(tree) > 1 else tree
        self.bytes += len(json.dumps(shown))
        if self.bytes > MOST_BYTES:
            raise NoTreeError(f"the tree of bounds takes more than {MOST_BYTES >> 20} MB")
        return tree

    def _bound(self, node: _Node) -> int:
        own = sum(int(costs[left].min()) for costs, left in zip(node.own, node.left, strict=True))
        return own + sum(
            int(costs[np.ix_(node.left[u], node.left[v])].min()) for (u, v), costs in node.edges.items()
        )

    def _least(self, node: _Node, vertex: int, bound: int) -> Array:
        """What a vertex's choices cost at least, by the minima."""
        left = node.left
        found = bound + node.own[vertex][left[vertex]] - node.own[vertex][left[vertex]].min()
        for (u, v), costs in node.edges.items():
            if vertex in (u, v):
                part = costs[np.ix_(left[u], left[v])]
                found = found + part.min(axis=1 if vertex == u else 0) - part.min()
        return np.asarray(found)

    def _branching(self, node: _Node, dear: list[Array], bound: int) -> int:
        """Where choices but the best add most, weighed with the edges that go."""
        weight = []
        for vertex, left in enumerate(node.left):
            degree = sum(vertex in pair for pair in node.edges)
            adds = np.minimum(self._least(node, vertex, bound), self.least) - bound
            weight.append((float(adds.mean()) + 1) * degree if len(left) > 1 else -1.0)
        best = int(np.argmax(weight))
        if weight[best] < 0:
            raise NoTreeError(f"an assignment costs less than {self.least}")
        return best

    def _moved(self, given: _Node, passes: int) -> tuple[_Node, list[Any]]:
        """The costs after some passes of messages, and the amounts."""
        count, left = len(given.own), given.left
        own = [costs[kept].copy() for costs, kept in zip(given.own, left, strict=True)]
        part = {
            pair: costs[np.ix_(left[pair[0]], left[pair[1]])].copy() for pair, costs in given.edges.items()
        }
        taken = {pair: (np.zeros_like(own[pair[0]]), np.zeros_like(own[pair[1]])) for pair in part}
        around: list[list[tuple[int, int]]] = [[] for _ in range(count)]
        for pair in part:
            for end in pair:
                around[end].append(pair)

        def give(pair: tuple[int, int], end: int, amount: Array) -> None:
            side = pair.index(end)
            own[end] += amount
            taken[pair][side][...] += amount
            part[pair] -= amount[:, None] if side == 0 else amount[None, :]

        best, state = None, None
        for turn in range(passes):
            forward = turn % 2 == 0
            for vertex in range(count) if forward else range(count - 1, -1, -1):
                later = []
                for pair in around[vertex]:
                    give(pair, vertex, part[pair].min(axis=1 if pair[0] == vertex else 0))
                    other = pair[0] + pair[1] - vertex
                    if (other > vertex) == forward:
                        later.append(pair)
                share = max(len(later), len(around[vertex]) - len(later))
                if later and turn + 1 < passes:
                    amount = (own[vertex] - own[vertex].min()) // share
                    for pair in later:
                        give(pair, vertex, -amount)
            bound = sum(int(costs.min()) for costs in (*own, *part.values()))
            if best is None or bound > best:
                best = bound
                state = {pair: (one.copy(), other.copy()) for pair, (one, other) in taken.items()}
            if bound >= self.least:
                break
        assert state is not None
        return self._applied(given, state)

    def _applied(
        self, given: _Node, taken: dict[tuple[int, int], tuple[Array, Array]]
    ) -> tuple[_Node, list[Any]]:
        node = _Node([costs.copy() for costs in given.own], dict(given.edges), given.left)
        moves = []
        for (u, v), amounts in taken.items():
            if not (amounts[0].any() or amounts[1].any()):
                continue
            wide = []
            for end, amount in zip((u, v), amounts, strict=True):
                all_of = np.zeros_like(node.own[end])
                all_of[node.left[end]] = amount
                node.own[end] += all_of
                wide.append(all_of)
            node.edges[u, v] = node.edges[u, v] - wide[0][:, None] - wide[1][None, :]
            given_to = [[int(one) * self.scale for one in amount] for amount in reversed(wide)]
            moves.append([self.names[v], self.names[u], *given_to])
        return node, moves
