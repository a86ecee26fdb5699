"""What proofs about PBQP instances speak of, and why they hold."""

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
    vertices, order, size = len(problem["vertices"]), evidence["order"], tree_size(evidence["tree"])
    left = vertices - len(order)
    lines = [
        claimed(proof["claim"], "choice of the vertices", "a sum of costs", "in all"),
        f"Problem: {counted(vertices, 'vertex', 'vertices')}, {counted(len(problem['edges']), 'edge')}.",
        f"Evidence: {counted(len(order), 'vertex is', 'vertices are')} eliminated"
        + (f", in the order {listed(order)}. " if order else ". ")
        + "Where a vertex goes, a table over its neighbours takes its place: the least that it and its edges cost for "
        "each of their choices. That changes no least sum.",
    ]
    if not left:
        return [*lines, "No vertex is left, and what remains is one number: the least sum of all."]
    lines.append(
        f"{counted(left, 'vertex is', 'vertices are')} left. On these a tree parts the choices: "
        f"{counted(size.branches, 'vertex branches', 'vertices branch')}, "
        f"{counted(size.leaves, 'leaf', 'leaves')}, the deepest below {counted(size.depth, 'branch', 'branches')}."
    )
    lines.append(
        f"Potentials ({counted(size.moves, 'move')}) shift costs between an edge and its ends, which changes no sum. "
        "At each leaf the least cost of every vertex and of every edge, added up, is no less than the claim: "
        "sum of minima <= minimum of sums."
    )
    return lines
