"""What proofs about packings speak of."""

from __future__ import annotations

from mapper.kind.words import ProofWords

WORDS = ProofWords(
    "every choice of jobs, and of a worker for each",
    {"cp-sat": "CP-SAT has excluded every packing of more worth"},
)
