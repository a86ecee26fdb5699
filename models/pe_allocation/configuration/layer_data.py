"""The constants of a layer's programs."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


def _none() -> Integers:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class LayerData:
    """``weights`` [m][n][k1][k2], empty of a layer without; ``bias`` per filter, in units of the sums; ``scale`` and
    ``offset`` per map, where results are scaled; ``table``: what becomes of each word, from the least on."""

    weights: Integers
    bias: Integers
    scale: Integers
    offset: Integers
    table: Integers = field(default_factory=_none)
