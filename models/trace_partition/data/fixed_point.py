"""Numbers as the machine has them: Q8.8, 16 bits of which 8 are the fraction."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.models import word

Words = npt.NDArray[np.int16]
FRACTION_BITS = 8
ONE = 1 << FRACTION_BITS


def words(values: npt.NDArray[Any]) -> Words:
    """Numbers in Q8.8: halves to even, saturated, what is not a number as 0."""
    return word.words(values, FRACTION_BITS)
