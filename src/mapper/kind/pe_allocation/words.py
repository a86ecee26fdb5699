"""What proofs about allocations speak of."""

from __future__ import annotations

from mapper.kind.words import ProofWords

WORDS = ProofWords(
    "every number of PEs for every layer, under the model of rates and start times that model= names"
)
