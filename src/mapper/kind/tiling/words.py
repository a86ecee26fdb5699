"""Proofs about tilings in words: the space they cover, and why they hold."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from mapper.kind.words import ProofWords, claimed, counted, exact, listed

WORDS = ProofWords(
    "all factors of every loop at the four levels (DRAM, scratch-pad, register file, space) that multiply to its "
    "bound, with every order of the loops at DRAM and at the scratch-pad, provided that tiles fit the memories and PEs"
)

PADDED_WORDS = ProofWords(
    "all factors of every loop at the four levels (DRAM, scratch-pad, register file, space) that multiply to its "
    "bound, or to any larger one below twice it, with every order of the loops at DRAM and at the scratch-pad, "
    "provided that tiles fit the memories and PEs"
)

BOXES = {
    "array tiles within no SPM tile": "Capacity: neither they nor any multiples of them fit the scratch-pad, so no "
    "mapping contains them",
    "array tiles": "Kept, Delivered, Hidden, Behind and Overhead: whatever split, scratch-pad tile and orders follow, "
    "the transfers and passes that remain cost at least the claimed value",
    "SPM tiles": "Kept and Overhead: the DMA of the scratch-pad tile, and the least of any array tile that is left, "
    "cost at least the claimed value",
    "splits": "Kept, Hidden and Least: the array tile's own transfers are exact for its PEs; even in the cheapest "
    "scratch-pad tile it costs at least the claimed value",
    "pairs of tiles": "Kept, Delivered and Overhead: the DMA of the scratch-pad tile is exact; the pair costs at least "
    "the claimed value, however the array tile is split",
    "splits in SPM tiles": "Kept, Hidden and Overhead: PEs, array tile and scratch-pad tile together cost at least the "
    "claimed value in any order of the loops",
    "mappings": "nothing but the cost model: each one was costed, and none costs less than the claimed value",
}
"""Which inequality closes a box, by what the checker calls it: from large boxes to single mappings."""


def closed(reason: str) -> dict[str, int]:
    """How many boxes of each sort the checker says it closed; large boxes first."""
    counts = reason.partition("closed: ")[2].split(", ")
    found = {name: int(count) for count, _, name in (one.partition(" ") for one in counts) if count.isdigit()}
    return {name: found[name] for name in BOXES if name in found}


def proof_lines(proof: Mapping[str, Any], reason: str) -> list[str]:
    """An accepted proof of a tiling in sentences."""
    problem, claim = proof["problem"], proof["claim"]
    _, measure, _, unit = problem["objective"].split(" ")
    loops, machine = problem["loops"], problem["machine"]
    counts = closed(reason)
    grown = problem.get("growing", {})
    lines = [
        claimed(claim, "tiling", f"{'an' if measure in ('EDP', 'energy') else 'a'} {measure}", unit),
        f"Problem: {exact(_product(loops.values()))} iterations ("
        + listed((f"{name}={bound:,}" for name, bound in loops.items()), " ")
        + f") on {machine['rows']:,} x {machine['columns']:,} PEs"
        + (", with room for loops along rows and along columns." if problem.get("axes") else "."),
    ]
    if grown:
        lines.append(
            f"The bounds of {listed(grown)} may grow to any below twice their own. Lemma Covers: a tiling of "
            "which a factor can be lowered by one, with the bounds still covered, costs no less than what is left "
            "then, but for sums whose way out hides less; so boxes hold the tilings of which no factor can be lowered, "
            "and what is priced beyond them is larger by so much that they could hide more."
        )
    if "most_cycles" in problem:
        lines.append(
            f"Only tilings that take {problem['most_cycles']:,} cycles or fewer count; a box is ruled out too if every "
            "tiling in it takes longer."
        )
    if claim["status"] != "infeasible":
        lines.append(
            "The checker costs the document's tiling with its own model and finds the claimed value."
        )
    lines.append(
        f"Evidence: every tiling that {'counts' if grown else 'fits'} is in one of "
        f"{counted(sum(counts.values()), 'box', 'boxes')}, and an "
        "inequality rules out each box:"
    )
    for name, count in counts.items():
        if count:
            lines.append(f"{counted(count, *_forms(name))}: {BOXES[name]}.")
    lines.append(
        "A box that no inequality rules out is divided: by array tile, then by its split over PEs, then by scratch-pad "
        "tile, and finally into the single orders of the loops."
    )
    return lines


def _forms(name: str) -> tuple[str, str]:
    first, _, rest = name.partition("s ")
    if not rest:
        return name.removesuffix("s"), name
    return (f"{first} {rest}", name) if name != "array tiles" else ("array tile", name)


def _product(bounds: Iterable[int]) -> int:
    return math.prod(bounds)
