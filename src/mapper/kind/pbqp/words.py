"""What proofs about PBQP instances speak of, and why they hold."""

from __future__ import annotations

from mapper.kind.words import ProofWords

WORDS = ProofWords(
    "every choice for every vertex",
    {"auto": "reductions and elimination, or branch and bound, have excluded every cheaper assignment"},
)
