"""What proofs about tilings speak of, and what they say."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from mapper.kind.words import ProofWords, claimed, counted, exact, listed

WORDS = ProofWords(
    "all factors of every loop at the four levels (DRAM, scratch-pad, register file, space) that multiply to its "
    "bound, with every order of the loops at DRAM and at the scratch-pad, as far as tiles fit the memories and PEs"
)

BOXES = {
    "array tiles within no SPM tile": "Capacity: neither they nor any multiple of theirs fit the scratch-pad, so that "
    "no mapping has them",
    "array tiles": "Kept, Delivered, Hidden and Overhead: whatever split, scratch-pad tile and orders follow, the "
    "transfers that are left to the operands and the passes that are left to the PEs cost at least the claim",
    "splits": "Kept, Hidden and Least: an array tile with its PEs, whose own transfers are exact, costs at least the "
    "claim in the cheapest scratch-pad tile",
    "pairs of tiles": "Kept, Delivered and Overhead: an array tile in a scratch-pad tile, whose DMA is exact, costs at "
    "least the claim, however the array tile is split",
    "splits in SPM tiles": "Kept, Hidden and Overhead: PEs, array tile and scratch-pad tile together cost at least the "
    "claim, in whatever order the loops run",
    "mappings": "nothing but the cost model: each was priced by itself, and none costs less than the claim",
}
"""Which inequality closes a box, by what the checker calls it: from large boxes to single mappings."""


def closed(reason: str) -> dict[str, int]:
    """How many boxes of each sort the checker closed, as it says; large boxes first."""
    counts = reason.partition("closed: ")[2].split(", ")
    found = {name: int(count) for count, _, name in (one.partition(" ") for one in counts) if count.isdigit()}
    return {name: found[name] for name in BOXES if name in found}


def proof_lines(proof: Mapping[str, Any], reason: str) -> list[str]:
    """An accepted proof of a tiling in sentences."""
    problem, claim = proof["problem"], proof["claim"]
    _, measure, _, unit = problem["objective"].split(" ")
    loops, machine = problem["loops"], problem["machine"]
    counts = closed(reason)
    lines = [
        claimed(claim, "tiling", f"{'an' if measure in ('EDP', 'energy') else 'a'} {measure}", unit),
        f"Problem: {exact(_product(loops.values()))} iterations ("
        + listed((f"{name}={bound:,}" for name, bound in loops.items()), " ")
        + f") on {machine['rows']:,} x {machine['columns']:,} PEs.",
    ]
    if claim["status"] != "infeasible":
        lines.append(
            "The checker prices the document's own tiling by itself and finds the value that is claimed."
        )
    lines.append(
        f"Evidence: every tiling that fits is in one of {counted(sum(counts.values()), 'box', 'boxes')}, and each "
        "box is closed by an inequality:"
    )
    for name, count in counts.items():
        if count:
            lines.append(f"{counted(count, *_forms(name))}: {BOXES[name]}.")
    lines.append(
        "A box that no inequality closes is opened: array tile, then its split over PEs, then the scratch-pad tile, "
        "then all orders of the loops, one by one."
    )
    return lines


def _forms(name: str) -> tuple[str, str]:
    first, _, rest = name.partition("s ")
    if not rest:
        return name.removesuffix("s"), name
    return (f"{first} {rest}", name) if name != "array tiles" else ("array tile", name)


def _product(bounds: Iterable[int]) -> int:
    return math.prod(bounds)
