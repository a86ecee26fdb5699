"""What proofs about partitions speak of, and why they hold."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from mapper.kind.words import ProofWords, claimed, counted, exact, listed

MOST_LAYERS = 40
_JOINT = "options that were not costed have lower bounds that are no better, and CP-SAT decided all the others jointly"
WORDS = ProofWords(
    "every tile, order, mode and split of every layer, and what stays on the chip between layers, all decided "
    "together under the model of cycles",
    {"auto": _JOINT, "cp-sat": _JOINT},
)

CHAIN = "the chain shows"
"""How the checker begins where it followed a chain to its end, and only misses what options cost."""


def is_told(status: str, reason: str) -> bool:
    return status == "certified" or reason.startswith(CHAIN)


def proof_lines(proof: Mapping[str, Any], reason: str) -> list[str]:
    """A proof of a partition in sentences, whose chain holds."""
    problem, claim, evidence = proof["problem"], proof["claim"], proof["evidence"]
    layers, path, potentials = problem["layers"], evidence["path"], evidence["potentials"]
    parts, unit = problem["parts"], problem["unit"]
    lines = [
        claimed(claim, "partition of the layers", problem["objective"], unit),
        f"Evidence: a chain of {counted(len(layers), 'layer')}. Each takes one of its residencies (what stays on the "
        f"chip), {sum(len(layer['residencies']) for layer in layers):,} in all, and neighbours agree on what stays "
        "between them.",
        "A number stands at each residency: no chain up to it costs less, since it is at most the number of every "
        "residency before that agrees, plus the layer's own least cost (lemma Potentials).",
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
            f"At the end the numbers are {listed(map(exact, sorted(ends)))}: no partition costs less than the least."
        )
    else:
        lines.append("At the end no residency has a number: no chain reaches it.")
    return lines
