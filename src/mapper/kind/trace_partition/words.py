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

CHAIN = "the chain shows"
"""The beginning of the checker's reason if the chain holds and only the costs of options remain unchecked."""


def is_told(status: str, reason: str) -> bool:
    return status == "certified" or reason.startswith(CHAIN)


def proof_lines(proof: Mapping[str, Any], reason: str) -> list[str]:
    """A proof of a partition, whose chain holds, in sentences."""
    problem, claim, evidence = proof["problem"], proof["claim"], proof["evidence"]
    layers, path, potentials = problem["layers"], evidence["path"], evidence["potentials"]
    parts, unit = problem["parts"], problem["unit"]
    lines = [
        claimed(claim, "partition of the layers", problem["objective"], unit),
        f"Evidence: a chain of {counted(len(layers), 'layer')}. Each takes one of its residencies (what stays on the "
        f"chip), {sum(len(layer['residencies']) for layer in layers):,} in all, and neighbours agree on what stays "
        "between them.",
        "Each residency has a number, and no chain up to it costs less: the number is at most that of any agreeing "
        "residency of the layer before, plus the layer's own least cost (lemma Potentials).",
    ]
    for at, (layer, own) in enumerate(zip(layers[:MOST_LAYERS], potentials, strict=False)):
        known = [one for one in own if one is not None]
        least = exact(Fraction(min(known), parts)) if known else "none"
        taken = f"; taken: {layer['residencies'][path[at]]}" if path is not None else ""
        lines.append(f"{layer['name']}: up to here at least {least} {unit}{taken}.")
    if len(layers) > MOST_LAYERS:
        lines.append(f"… and {len(layers) - MOST_LAYERS:,} more layers.")
    ends = [Fraction(one, parts) for one in potentials[-1] if one is not None]
    if ends:
        lines.append(
            f"The numbers at the end are {listed(map(exact, sorted(ends)))}. No partition costs less than the least."
        )
    else:
        lines.append("No residency at the end has a number, so no chain reaches it.")
    return lines
