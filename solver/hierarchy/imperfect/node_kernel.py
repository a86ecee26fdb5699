"""The compiled inner loops over nodes: which of their cells are split, and what nodes that makes."""

from __future__ import annotations

from typing import Any

import numpy as np

from mapper.models.compiled import compiled

Array = Any
AT_ONCE = 3
"""Loops of a node whose cells are split at once."""


def _widest(cells: Array, spread: Array) -> Array:
    """The loops of each node [nodes, loops] whose tiles are widest apart [nodes, AT_ONCE], the first of equal ones
    first; -1 where fewer have several cuts."""
    nodes, loops = cells.shape
    found = np.full((nodes, AT_ONCE), -1, np.int64)
    for k in range(nodes):
        for place in range(AT_ONCE):
            most = 0.0
            for j in range(loops):
                own = spread[cells[k, j]]
                if own > most:
                    taken = False
                    for other in range(place):
                        taken = taken or found[k, other] == j
                    if not taken:
                        most = own
                        found[k, place] = j
    return found


def _children(cells: Array, wide: Array, parts: Array, halves: Array) -> tuple[Array, Array]:
    """The nodes with these loops' cells replaced by their parts [children, loops], and each one's parent; none of nodes
    with a cell that has too many parts (fewer than none)."""
    nodes, loops = cells.shape
    many = np.ones(nodes, np.int64)
    for k in range(nodes):
        for place in range(wide.shape[1]):
            j = wide[k, place]
            if j >= 0:
                many[k] *= max(0, parts[cells[k, j]])
    total = 0
    for k in range(nodes):
        total += many[k]
    found, parent = np.empty((total, loops), np.int64), np.empty(total, np.int64)
    at = 0
    for k in range(nodes):
        for number in range(many[k]):
            parent[at], rest = k, number
            for j in range(loops):
                found[at, j] = cells[k, j]
            for place in range(wide.shape[1] - 1, -1, -1):
                j = wide[k, place]
                if j >= 0:
                    cell = cells[k, j]
                    found[at, j] = halves[cell, rest % parts[cell]]
                    rest //= parts[cell]
            at += 1
    return found, parent


widest = compiled(_widest)
children = compiled(_children)
