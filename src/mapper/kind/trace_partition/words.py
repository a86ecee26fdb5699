"""What proofs about partitions speak of, and why they hold."""

from __future__ import annotations

from mapper.kind.words import ProofWords

_JOINT = "options that were not costed have lower bounds that are no better, and CP-SAT decided all the others jointly"
WORDS = ProofWords(
    "every tile, order, mode and split of every layer, and what stays on the chip between layers, all decided "
    "together under the model of cycles",
    {"auto": _JOINT, "cp-sat": _JOINT},
)
