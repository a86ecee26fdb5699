"""Proofs about PBQP instances in words: the space they cover, and why they hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mapper.kind.words import ProofWords, claimed, counted, listed

WORDS = ProofWords(
    "every choice for every vertex",
    {"auto": "reductions and elimination, or branch and bound, have excluded every cheaper assignment"},
)


@dataclass(frozen=True)
class TreeSize:
    """Of a tree of potentials: nodes where a vertex branches, leaves, amounts moved from pairs to their ends, and on
    how many branches its deepest leaf is."""

    branches: int
    leaves: int
    moves: int
    depth: int


def tree_size(tree: Any) -> TreeSize:
    """The size of a proof's tree."""
    branches = leaves = moves = deepest = 0
    waiting = [(tree, 0)]
    while waiting:
        (moved, *branch), depth = waiting.pop()
        moves, deepest = moves + len(moved), max(deepest, depth)
        branches, leaves = branches + bool(branch), leaves + (not branch)
        waiting += [(child, depth + 1) for _, child in (branch[1] if branch else ())]
    return TreeSize(branches, leaves, moves, deepest)


def proof_lines(proof: Mapping[str, Any], reason: str) -> list[str]:
    """An accepted proof of an instance in sentences."""
    problem, evidence = proof["problem"], proof["evidence"]
    vertices, order = len(problem["vertices"]), evidence["order"]
    left = vertices - len(order)
    lines = [
        claimed(proof["claim"], "choice of the vertices", "a sum of costs", "in all"),
        f"Problem: {counted(vertices, 'vertex', 'vertices')}, {counted(len(problem['edges']), 'edge')}.",
        f"Evidence: {counted(len(order), 'vertex is', 'vertices are')} eliminated"
        + (f", in the order {listed(order)}. " if order else ". ")
        + "A table over its neighbours replaces each eliminated vertex. It holds, for every combination of their "
        "choices, the least cost of the vertex and its edges. The least sum stays the same.",
    ]
    if not left:
        return [*lines, "No vertex is left. One number remains, which is the least sum."]
    told = _parts(evidence["parts"]) if evidence["rule"] == "parts" else _tree(evidence["tree"])
    return [*lines, f"{counted(left, 'vertex is', 'vertices are')} left. {told[0]}", told[1]]


def _tree(tree: Any) -> tuple[str, str]:
    """What a tree over the rest shows."""
    size = tree_size(tree)
    cases = (
        "A tree divides their choices into cases: "
        f"{counted(size.branches, 'vertex branches', 'vertices branch')}, "
        f"{counted(size.leaves, 'leaf', 'leaves')}, the deepest below {counted(size.depth, 'branch', 'branches')}."
    )
    sums = (
        f"Potentials ({counted(size.moves, 'move')}) shift costs between an edge and its ends, which changes no sum. "
        "At each leaf, the least costs of all vertices and edges add up to no less than the claim. No choice costs "
        "less, since a sum of minima is at most the minimum of the sums."
    )
    return cases, sums


def _parts(given: Any) -> tuple[str, str]:
    """What parts of the rest show."""
    moves, shares, parts = given
    sums = (
        f"{counted(shares, 'times', 'times')} their costs are the sum of those of {counted(len(parts), 'part')}, after "
        f"{counted(len(moves), 'move')} of costs between an edge and its ends, which changes no sum. Each part has all "
        "of these vertices, and so few of the edges that it is eliminated with small tables."
    )
    least = (
        "The least sums of the parts add up to no less than as many times the claim. No choice costs less, since a sum "
        "of minima is at most the minimum of the sums."
    )
    return sums, least
