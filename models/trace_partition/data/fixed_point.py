"""Numbers as the machine has them: Q8.8, 16 bits of which 8 are the fraction."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.int16]
FRACTION_BITS = 8
ONE = 1 << FRACTION_BITS


def words(values: npt.NDArray[Any]) -> Words:
    """Numbers in Q8.8: halves to even, saturated, what is not a number as 0."""
    # A power of two changes no mantissa, so that single precision is as exact as double.
    kind = values.dtype if values.dtype == np.float32 else np.float64
    with np.errstate(invalid="ignore", over="ignore"):
        scaled = np.multiply(values, ONE, dtype=kind)
    np.rint(scaled, out=scaled)
    np.nan_to_num(scaled, copy=False, nan=0.0)
    limits = np.iinfo(np.int16)
    found: Words = np.clip(scaled, limits.min, limits.max, out=scaled).astype(np.int16)
    return found
