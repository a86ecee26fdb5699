"""Proofs about mappings onto hierarchies in words: the space they cover, and why they hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from mapper.kind.words import ProofWords, claimed, counted, exact, listed

ORDERS = (
    "with every order of the loops in time and every choice of tensors to keep that the machine and the pins leave "
    "open, provided that tiles fit the levels and loops in space the fan-outs"
)
WORDS = ProofWords(
    f"all factors of every loop, in time at each level and in space below it, that multiply to its bound, {ORDERS}",
    {
        "cp-sat": "the solver closed a program whose costs are never above the model's, but for mappings that were "
        "costed one by one",
        "brute-force": "every mapping was costed by the model",
        "branch-and-bound": "every choice of tensors and of loops in space was taken up, and each tile of each "
        "level was either costed or has a bound on what remains that reaches the value",
    },
)

PADDED_WORDS = ProofWords(
    "all factors of every loop, in time at each level and in space below it, that multiply to its bound, or to any "
    f"larger one below twice it, {ORDERS}",
    {
        **WORDS.reasons,
        "branch-and-bound": "every choice of bounds, of tensors and of loops in space has a bound on its cost that "
        "reaches the value, was shown to be no better than smaller bounds, or was taken up, and each tile of each "
        "level was then either costed or has a bound on what remains that reaches the value",
    },
)

IMPERFECT_WORDS = ProofWords(
    "all ways to cut every loop by trips in time at each level and in space below it, which need not divide its "
    f"bound, so that last passes are smaller, {ORDERS}",
    {
        **WORDS.reasons,
        "branch-and-bound": "every choice of tensors, of trips in space and of cuts of each loop either lies in a cell "
        "whose bound reaches the value, or was costed in every order that may be the best",
    },
)

CLOSED = {
    "arrangements by their operations and words": "what operations and the fewest words cost reaches the claimed "
    "value, whatever the tiles are (lemma Run)",
    "arrangements by rooms": "no tiles that the trips allow fit all levels",
    "arrangements by floors": "the least that tiles of each level cost, in the best order for each, adds up to the "
    "claimed value (lemmas Kept and Least)",
    "arrangements by tiles": "opened level by level from outside; every tile, with every order that counts, reaches "
    "the claimed value with what levels inside cost at least (lemmas Run, Slide, Coincide, Orders and Least)",
    "tiles": "the tiles with orders of which that was computed",
    "arrangements by trips": "no trips that are allowed cut some loop",
    "arrangements by cuts": "sets of cuts of each loop are halved, until what none of them has less of reaches the "
    "claimed value, or no tiles fit (lemmas Digits, Once, Again, Innermost, Halo and Meet)",
    "cells of cuts": "the choices of cuts of which that was computed",
    "cuts order by order": "those that were costed in every order, none of which is better",
}
"""Why an arrangement is closed, by what the checker calls it."""


def proof_lines(proof: Mapping[str, Any], reason: str) -> list[str]:
    """An accepted proof of a mapping onto a hierarchy in sentences."""
    problem, claim = proof["problem"], proof["claim"]
    _, measure, _, unit = problem["objective"].split(" ")
    levels = listed(level["name"] for level in problem["levels"])
    iterations = exact(math.prod(problem["loops"].values()))
    lines = [
        claimed(claim, "mapping", f"{'a' if measure == 'latency' else 'an'} {measure}", unit),
        f"Problem: {iterations} iterations ("
        + listed((f"{name}={bound:,}" for name, bound in problem["loops"].items()), " ")
        + f") on a hierarchy of {counted(len(problem['levels']), 'level')} ({levels}).",
    ]
    for most in problem["most_cycles"]:
        lines.append(f"Only mappings that take {most:,} cycles or fewer count.")
    if claim["status"] == "infeasible":
        return [*lines, f"Evidence: {reason.partition(': ')[2]}."]
    counts = reason.partition("closed: ")[2].split(", ")
    found = {name: int(count) for count, _, name in (one.partition(" ") for one in counts) if count.isdigit()}
    lines.append("The checker costs the document's mapping with its own model and finds the claimed value.")
    arrangements = sum(count for name, count in found.items() if name.startswith("arrangements"))
    lines.append(
        f"Evidence: what levels keep and which loops run in space leave {counted(arrangements, 'arrangement')}, each "
        "of which is closed:"
    )
    lines += [f"{count:,} {name}: {CLOSED[name]}." for name, count in found.items() if name in CLOSED]
    lines.append("Values are taken for equal if they differ by no more than one part in 1e9 (lemma Equal).")
    return lines
