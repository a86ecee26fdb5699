"""Proofs about mappings onto hierarchies in words: the space they cover, and why they hold."""

from __future__ import annotations

from mapper.kind.words import ProofWords

WORDS = ProofWords(
    "all factors of every loop, in time at each level and in space below it, that multiply to its bound, with every "
    "order of the loops in time and every choice of tensors to keep that the machine and the pins leave open, provided "
    "that tiles fit the levels and loops in space the fan-outs",
    {
        "brute-force": "every mapping was costed by the model",
        "branch-and-bound": "every choice of tensors and of loops in space was taken up, and each tile of each "
        "level was either costed or has a bound on what remains that reaches the value",
    },
)
