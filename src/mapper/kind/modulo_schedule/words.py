"""What proofs about schedules of kernels and about mappings of layers speak of, and why they hold."""

from __future__ import annotations

from mapper.kind.kind import Part
from mapper.kind.words import ProofWords

LAYER_WORDS = ProofWords(
    "every algorithm of the layer, every loop that may be innermost, every unroll vector of up to 8 per loop, and "
    "every schedule of the loops that follow",
    {"*": "the least sum over all unroll vectors of all boxes, by dynamic programming, is its value"},
)


def kernel_words(part: Part) -> ProofWords:
    """Where the interval of the part's schedule is MII, that alone proves it."""
    mii = (part.cost or {}).get("mii")
    reached = None
    if mii is not None and part.certificate.value == mii:
        reached = (
            f"its initiation interval is MII = max(ResMII, RecMII) = {mii}, below which this loop has no schedule "
            "on this machine"
        )
    return ProofWords(
        "every place and cycle of every operation with every route of its values, at every initiation interval",
        {"cp-sat": "CP-SAT has refuted every smaller initiation interval from MII on"},
        reached,
    )
