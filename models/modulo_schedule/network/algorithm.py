"""One way to run a layer, as loop nests on the array and words copied in VLIW mode [Bae2018, IV]."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from mapper.models.modulo_schedule.network.nest import Nest

GEMM, IM2COL, IM2ROW, POOL = "gemm", "im2col+gemm", "im2row+optcgra", "pool"
ARRAY_IM2COL, ARRAY_IM2ROW = "array-im2col+gemm", "array-im2row+optcgra"
REGISTERS = "+registers"
"""Ends the names of algorithms that keep a block of sums in registers."""
MERGED_POOL, DIRECT, VLIW = "merge+pool", "direct", "vliw"


@dataclass(frozen=True)
class Algorithm:
    """One way to run a layer. ``nests`` run on the array in this order, the first of the largest work being
    ``main``; ``copied_words`` are moved and ``elements`` computed in VLIW mode; ``words`` are those of the
    operands in memory, by name."""

    name: str
    nests: tuple[Nest, ...]
    main: int = 0
    copied_words: int = 0
    elements: int = 0
    words: dict[str, int] = field(default_factory=dict, hash=False)

    @property
    def im2col(self) -> Literal["driver", "array"] | None:
        """Who lays a convolution's input out for its sums, im2row being one way of im2col; None where nobody has to."""
        name = self.name.removesuffix(REGISTERS)
        if name in (ARRAY_IM2COL, ARRAY_IM2ROW):
            return "array"
        return "driver" if name in (IM2COL, IM2ROW) else None

    @property
    def sliding(self) -> Nest | None:
        """The nest whose window slides in registers, if it has one."""
        main = self.nests[self.main] if self.nests else None
        return main if main is not None and main.window is not None else None
