"""What proofs about selections speak of, and why they hold."""

from __future__ import annotations

from mapper.kind.words import ProofWords

_SHAPES = (
    "a lower bound of every shape is known, and the cost graphs of all shapes whose bound is below the value were "
    "solved exactly by elimination"
)
WORDS = ProofWords(
    "every shape of the array within its PEs, with every algorithm and dataflow of every layer and every format of "
    "the tensors between them",
    {"auto": _SHAPES, "joint": _SHAPES},
)
