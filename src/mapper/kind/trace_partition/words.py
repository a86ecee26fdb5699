"""Proofs about partitions in words: the space they cover, and why they hold."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from mapper.kind.words import ProofWords, claimed, counted, exact, listed

MOST_LAYERS = 40
_JOINT = "CP-SAT decided all costed options jointly, and the lower bounds of the remaining ones are no better"
WORDS = ProofWords(
    "every tile, order, mode and split of every layer, and what stays on the chip between layers, decided together "
    "under the cycle model",
    {"auto": _JOINT, "cp-sat": _JOINT},
)


def proof_lines(proof: Mapping[str, Any], reason: str) -> list[str]:
    """A proof of a partition, which a checker accepted, in sentences."""
    problem, claim, evidence = proof["problem"], proof["claim"], proof["evidence"]
    layers, path, potentials = problem["layers"], evidence["path"], evidence["potentials"]
    unit, parts = problem["unit"], parts_of(problem)
    lines = [
        claimed(claim, "partition of the layers", problem["objective"], unit),
        f"Evidence: a chain of {counted(len(layers), 'layer')}. Each takes one of its residencies (what stays on the "
        f"chip), {sum(map(len, potentials)):,} in all, and neighbours agree on what stays between them.",
        "Each residency has a number, and no chain up to it costs less: the number is at most that of any agreeing "
        "residency of the layer before, plus the cost of each of the layer's own options (lemma Potentials).",
        f"The checker goes through all options of every layer: {reason.rsplit('; ', 1)[-1]} (lemmas Port, Lines, "
        "Steps, Room, Boxes and Run; the cost model, restated).",
    ]
    for at, (layer, own) in enumerate(zip(layers[:MOST_LAYERS], potentials, strict=False)):
        known = [one[-1] for one in own]
        least = exact(Fraction(max(0, min(known)), parts)) if known else "none"
        taken = f"; taken: {_said(path[at])}" if path is not None else ""
        lines.append(f"{layer['name']}: up to here at least {least} {unit}{taken}.")
    if len(layers) > MOST_LAYERS:
        lines.append(f"… and {len(layers) - MOST_LAYERS:,} more layers.")
    ends = sorted({Fraction(one[-1], parts) for one in potentials[-1]})
    if ends and path is not None:
        lines.append(
            f"The numbers at the end are {listed(map(exact, ends))}. No partition costs less than the least."
        )
    else:
        lines.append("No residency at the end has a number, so no chain reaches it.")
    return lines


def parts_of(problem: Mapping[str, Any]) -> int:
    """Potentials are counted in such parts of the unit."""
    return int(problem["machine"]["per_pj"]) if problem["objective"] == "energy" else 1


def _said(option: Mapping[str, Any]) -> str:
    """A layer's decisions in a few words."""
    sizes = " x ".join(str(option[name]) for name in ("rows", "columns", "in_channels", "out_channels"))
    stays = [name for name in ("input", "output") if option[f"{name}_resident"]]
    held = f", {' and '.join(stays)} stay" if stays else ""
    return f"{option['mode']}, tile {sizes}, units by {option['unit_split']}{held}"
