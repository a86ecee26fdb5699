"""Mapped loop nests as C: the explicitly tiled loops of [Dave2019], Fig. 4(b), with their buffers."""

from mapper.codegen.tiling.program import generate_c

__all__ = ["generate_c"]
