"""Numbers as words of a few bits: whole multiples of a power of two, rounded once and saturated."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.int16]
MOST_BITS = 16


def words(values: npt.NDArray[Any], fraction: int, bits: int = MOST_BITS) -> Words:
    """``values`` in units of 2^-``fraction``: halves to even, saturated to ``bits`` (up to 16), what is not a number
    as 0."""
    # A power of two changes no mantissa, so that single precision is as exact as double.
    kind = values.dtype if values.dtype == np.float32 else np.float64
    with np.errstate(invalid="ignore", over="ignore"):
        scaled = np.multiply(values, 2.0**fraction, dtype=kind)
    np.rint(scaled, out=scaled)
    np.nan_to_num(scaled, copy=False, nan=0.0)
    half = 1 << (bits - 1)
    found: Words = np.clip(scaled, -half, half - 1, out=scaled).astype(np.int16)
    return found
