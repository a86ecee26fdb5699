"""Mapped loop nests as C: the explicitly tiled loops of [Dave2019], Fig. 4(b), with their buffers; and the array's
own program: DMA transfers, moves over the networks, and the code of every PE."""

from mapper.codegen.tiling.program import generate_c, generate_tables

__all__ = ["generate_c", "generate_tables"]
