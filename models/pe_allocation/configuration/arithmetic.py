"""How the numbers of a layer are aligned, rounded and limited, beside its rule."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Arithmetic:
    """Words of ``bits`` bits; results are kept from ``least`` to ``most``. ``lifts``: bits by which each operand of an
    element-wise layer is shifted left first (none given: no bits). ``scaled``: what the rule has found is multiplied
    by a factor for each map and something is added. ``tabled``: results go through a table of an entry for each word.
    ``inside``: an average divides by the pixels of its window that lie inside the image.
    """

    bits: int = 8
    least: int = -128
    most: int = 127
    lifts: tuple[int, ...] = ()
    scaled: bool = False
    tabled: bool = False
    inside: bool = False

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "lifts": list(self.lifts)}


PLAIN = Arithmetic()
"""Whole numbers of 8 bits, as they are."""
