"""What proofs about tilings speak of."""

from __future__ import annotations

from mapper.kind.words import ProofWords

WORDS = ProofWords(
    "all factors of every loop at the four levels (DRAM, scratch-pad, register file, space) that multiply to its "
    "bound, with every order of the loops at DRAM and at the scratch-pad, as far as tiles fit the memories and PEs"
)
